"""safetensors files written here, loaded by torch and MindSpore themselves."""

from __future__ import annotations

import json
import os
from pathlib import Path

import mindspore
import ml_dtypes
import numpy as np
import pytest
import torch
from formats.arrays_to_write import outgoing
from safetensors import safe_open
from safetensors.torch import load_file

from trueline.formats.making import making
from trueline.formats.npz import read_npz
from trueline.formats.outgoing import Outgoing
from trueline.formats.safetensors.types import INDEX, NAMES
from trueline.formats.safetensors.writer import write_safetensors, write_shards
from trueline.formats.stored import Stored

# MindSpore's reader of the format knows neither complex numbers nor those of one byte.
FOR_MINDSPORE = [dtype for dtype in NAMES if dtype.kind != "c" and not dtype.name.startswith("float8")]


def _write(path: Path, given: list[Outgoing], framework: str) -> Path:
    with making(path) as made:
        write_safetensors(made.sink(path), given, {"format": framework})
    return path


def _array(dtype: np.dtype[np.generic], *shape: int) -> np.ndarray:
    raw = np.random.default_rng(0).integers(0, 256, int(np.prod(shape)) * dtype.itemsize, np.uint8)
    return (raw % 2 if dtype.kind == "b" else raw).view(dtype).reshape(shape)


def _of_types(dtypes: list[np.dtype[np.generic]]) -> list[Outgoing]:
    given = []
    for dtype in dtypes:
        given += [outgoing(f"{dtype.name}.{len(shape)}d", _array(dtype, *shape)) for shape in ((), (5,), (2, 3))]
        given.append(outgoing(f"{dtype.name}.empty", _array(dtype, 0, 3)))
        given.append(outgoing(f"{dtype.name}.strided", _array(dtype, 4, 6)[::2, ::-3]))
    # Narrow ones between wide ones, as no file has them by chance.
    return given[::2] + given[1::2]


def _torch_bytes(tensor: torch.Tensor) -> bytes:
    return bytes(tensor.contiguous().reshape(-1).view(torch.uint8).numpy())


def test_torch_loads_every_type_bit_for_bit(tmp_path: Path) -> None:
    given = _of_types(list(NAMES))
    loaded = load_file(_write(tmp_path / "w.safetensors", given, "pt"))
    assert set(loaded) == {one.name for one in given}
    for one in given:
        tensor = loaded[one.name]
        assert str(tensor.dtype) == f"torch.{one.dtype.name}"
        assert tuple(tensor.shape) == one.shape
        assert _torch_bytes(tensor) == np.asarray(one.source).tobytes()
        assert tensor.data_ptr() % tensor.element_size() == 0 or not tensor.numel()


def _mindspore_bytes(parameter: mindspore.Parameter) -> bytes:
    return parameter.asnumpy().tobytes()


def test_mindspore_loads_every_type_bit_for_bit(tmp_path: Path) -> None:
    given = _of_types(FOR_MINDSPORE)
    loaded = mindspore.load_checkpoint(str(_write(tmp_path / "w.safetensors", given, "ms")), format="safetensors")
    assert set(loaded) == {one.name for one in given}
    for one in given:
        parameter = loaded[one.name]
        assert str(parameter.dtype).lower() == one.dtype.name
        assert parameter.shape == one.shape
        assert _mindspore_bytes(parameter) == np.asarray(one.source).tobytes()


def test_mindspore_takes_them_into_a_network(tmp_path: Path) -> None:
    net = mindspore.nn.SequentialCell(mindspore.nn.Dense(3, 4), mindspore.nn.BatchNorm1d(4))
    wanted = {one.name: np.full(one.shape, 0.1 + at, np.float32) for at, one in enumerate(net.get_parameters())}
    given = [outgoing(name, array) for name, array in wanted.items()]
    path = _write(tmp_path / "w.safetensors", given, "ms")
    left, unused = mindspore.load_param_into_net(net, mindspore.load_checkpoint(str(path), format="safetensors"))
    assert left == [] and unused == []
    for one in net.get_parameters():
        assert np.array_equal(one.asnumpy(), wanted[one.name])


def test_what_comes_from_other_files_arrives_as_it_was(tmp_path: Path) -> None:
    arrays = {
        "big": np.arange(6, dtype=">f4").reshape(2, 3),
        "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "half": np.arange(6).astype(ml_dtypes.bfloat16).reshape(2, 3),
    }
    np.savez_compressed(tmp_path / "w.npz", **arrays)
    given = [Outgoing.of(one) for one in read_npz(tmp_path / "w.npz").model.values()]
    path = _write(tmp_path / "w.safetensors", given, "pt")
    for name, tensor in load_file(path).items():
        assert tensor.double().tolist() == arrays[name].astype(np.float64).tolist()
    for name, parameter in mindspore.load_checkpoint(str(path), format="safetensors").items():
        assert parameter.asnumpy().astype(np.float64).tolist() == arrays[name].astype(np.float64).tolist()


def test_shards_fill_a_module_as_loaders_fill_it(tmp_path: Path) -> None:
    module = torch.nn.Sequential(torch.nn.Linear(30, 40), torch.nn.BatchNorm1d(40), torch.nn.Linear(40, 10))
    state = module.state_dict()
    path = tmp_path / f"model{INDEX}"
    with making(path) as made:
        given = [outgoing(name, one.numpy()) for name, one in state.items()]
        write_shards(made, path, given, 2000, {"format": "pt"})
    index = json.loads(path.read_text())
    assert index["metadata"]["total_size"] == sum(one.numel() * one.element_size() for one in state.values())
    empty = torch.nn.Sequential(torch.nn.Linear(30, 40), torch.nn.BatchNorm1d(40), torch.nn.Linear(40, 10))
    unexpected = set()
    for shard in set(index["weight_map"].values()):
        with safe_open(tmp_path / shard, "pt") as file:
            assert file.metadata() == {"format": "pt"}
        unexpected |= set(empty.load_state_dict(load_file(tmp_path / shard), strict=False).unexpected_keys)
    assert unexpected == set()
    assert all(torch.equal(one, state[name]) for name, one in empty.state_dict().items())


def test_more_than_two_gigabytes_in_one_tensor(tmp_path: Path) -> None:
    # The same pages again and again: those of a hole of this size take the system longer than everything else here.
    part, times = 64 << 20, 33
    rows = part * times // 8
    source, path = tmp_path / "sparse", tmp_path / "w.safetensors"
    try:
        source.write_bytes(np.float32(1.5).tobytes())
        os.truncate(source, part)
        with source.open("r+b") as file:
            file.seek(part - 4)
            file.write(np.float32(-2.5).tobytes())
        large = Stored("large", (rows, 2), np.dtype("<f4"), source, ((0, part),) * times)
        assert large.nbytes > 2 << 30
        _write(path, [Outgoing.of(large), outgoing("last", np.arange(3, dtype=np.float32))], "pt")
        with safe_open(path, "pt") as file:
            found = file.get_slice("large")
            assert found.get_shape() == [rows, 2]
            assert found[:1].tolist() == [[1.5, 0]]
            assert found[rows - 1 :].tolist() == [[0, -2.5]]
            assert file.get_tensor("last").tolist() == [0, 1, 2]
    finally:
        source.unlink(missing_ok=True)
        path.unlink(missing_ok=True)


@pytest.mark.parametrize("dtype", [one for one in NAMES if one not in FOR_MINDSPORE])
def test_mindspore_still_refuses_these_aloud(tmp_path: Path, dtype: np.dtype[np.generic]) -> None:
    path = _write(tmp_path / "w.safetensors", [outgoing("a", _array(dtype, 2))], "ms")
    with pytest.raises(KeyError, match=NAMES[dtype]):
        mindspore.load_checkpoint(str(path), format="safetensors")
