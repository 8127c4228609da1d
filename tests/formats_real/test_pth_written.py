"""Files written without torch, loaded by torch itself, bit for bit."""

from __future__ import annotations

import math
import os
import pickletools
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from trueline.formats import zip_writer
from trueline.formats.making import making
from trueline.formats.npz import read_npz
from trueline.formats.outgoing import Outgoing
from trueline.formats.pth import read_pth
from trueline.formats.pth.values import DTYPES
from trueline.formats.pth.writer import write_pth
from trueline.formats.stored import Stored

SHAPES: list[tuple[int, ...]] = [(), (1,), (0,), (3, 0, 2), (2, 3, 4), (1,) * 7]
MAPPED = pytest.mark.parametrize("mapped", [False, True], ids=["read", "mapped"])


def outgoing(name: str, array: Any, **more: Any) -> Outgoing:
    array = np.asarray(array)
    return Outgoing(name, array.shape, array.dtype, array, **more)


def written(path: Path, tree: Mapping[Any, Any]) -> Path:
    with making(path) as made:
        write_pth(made.sink(path), tree)
    return path


def loaded(path: Path, *, mapped: bool = False) -> Any:
    return torch.load(path, weights_only=True, mmap=mapped)


def bits(tensor: torch.Tensor) -> bytes:
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def same(tensor: torch.Tensor, array: np.ndarray[Any, Any]) -> None:
    assert tuple(tensor.shape) == array.shape
    assert str(tensor.dtype) == f"torch.{array.dtype.name}"
    assert tensor.is_contiguous()
    assert not tensor.requires_grad
    assert bits(tensor) == np.ascontiguousarray(array).tobytes()


@MAPPED
def test_every_type_and_shape(tmp_path: Path, mapped: bool) -> None:
    made = np.random.default_rng(0)
    arrays = {}
    for name, dtype in DTYPES.items():
        for shape in SHAPES:
            raw = made.integers(0, 2 if name == "bool" else 256, math.prod(shape) * dtype.itemsize, np.uint8)
            arrays[f"{name} {shape}"] = raw.view(dtype).reshape(shape)
    path = written(tmp_path / "w.pth", {name: outgoing(name, one) for name, one in arrays.items()})
    found = loaded(path, mapped=mapped)
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        same(found[name], array)


@MAPPED
def test_a_checkpoint_with_all_that_is_beside_the_model(tmp_path: Path, mapped: bool) -> None:
    weight = np.random.default_rng(0).random((3, 4), np.float32)
    numbers = [0, 255, 256, 65535, 65536, -1, -(2**31), 2**31, -(2**63), 2**64, -(2**2038)]
    tree = {
        "state_dict": {"层.weight": outgoing("层.weight", weight)},
        "optimizer": {
            "state": {0: {"step": outgoing("step", np.float32(3)), "exp_avg": outgoing("exp_avg", weight)}, 7: {}},
            "param_groups": [{"lr": 1e-3, "betas": (0.9, 0.999), "eps": None, "amsgrad": False, "params": [0, 7]}],
        },
        "tensors": [outgoing("0", weight), (outgoing("1", weight[0]),)],
        "numbers": numbers,
        "floats": [math.inf, -math.inf, math.nan, -0.0, 5e-324],
        "text": "é\n\U0001f600\ud800" * 100,
        "tuples": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)],
        "": {},
    }
    found = loaded(written(tmp_path / "w.pth", tree), mapped=mapped)
    assert list(found) == list(tree)
    same(found["state_dict"]["层.weight"], weight)
    same(found["optimizer"]["state"][0]["step"], np.asarray(np.float32(3)))
    assert found["optimizer"]["state"][7] == {}
    assert found["optimizer"]["param_groups"] == tree["optimizer"]["param_groups"]  # type: ignore[call-overload]
    same(found["tensors"][1][0], weight[0])
    for name in ("numbers", "text", "tuples", ""):
        assert found[name] == tree[name]
    assert list(map(repr, found["floats"])) == ["inf", "-inf", "nan", "-0.0", "5e-324"]


def test_a_model_and_its_optimizer_go_on_from_it(tmp_path: Path) -> None:
    one, other = training(), training()
    step(*one)
    tree = {"model": one[0].state_dict(), "optimizer": one[1].state_dict()}
    found = loaded(written(tmp_path / "w.pth", with_arrays(tree)))
    other[0].load_state_dict(found["model"])
    other[1].load_state_dict(found["optimizer"])
    step(*one)
    step(*other)
    for name, tensor in one[0].state_dict().items():
        assert bits(other[0].state_dict()[name]) == bits(tensor)


def training() -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.PReLU())
    return net, torch.optim.AdamW(net.parameters(), lr=0.01)


def step(net: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    net(torch.linspace(-1, 1, 192).reshape(1, 3, 8, 8)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()


def with_arrays(value: Any) -> Any:
    """The same tree with arrays in the place of tensors."""
    if isinstance(value, torch.Tensor):
        return outgoing("", value.numpy())
    if isinstance(value, dict):
        return {key: with_arrays(inside) for key, inside in value.items()}
    return [with_arrays(inside) for inside in value] if isinstance(value, list) else value


@MAPPED
def test_shared_arrays_are_one_memory(tmp_path: Path, mapped: bool) -> None:
    array = np.random.default_rng(0).random((8, 6))
    half = array.astype(np.uint16)
    tree = {
        "early": outgoing("early", array, shared_with="embed"),
        "embed": outgoing("embed", array),
        "flat": outgoing("flat", array.reshape(-1), shared_with="embed"),
        "apart": outgoing("apart", array),
        "whole": outgoing("whole", half),
        "whole too": outgoing("whole too", half, shared_with="whole"),
    }
    found = loaded(written(tmp_path / "w.pth", {"model": tree}), mapped=mapped)["model"]
    assert found["early"].data_ptr() == found["embed"].data_ptr() == found["flat"].data_ptr()
    assert found["whole"].data_ptr() == found["whole too"].data_ptr()
    assert found["apart"].data_ptr() != found["embed"].data_ptr()
    for name, one in tree.items():
        same(found[name], one.source)  # type: ignore[arg-type]


@MAPPED
def test_views_of_torch_itself_and_odd_layouts(tmp_path: Path, mapped: bool) -> None:
    base = torch.arange(120.0).reshape(2, 3, 4, 5)
    tensors = {
        "permuted": base.permute(3, 1, 0, 2),
        "part": base[1, :, 1:3, ::2],
        "channels last": base.to(memory_format=torch.channels_last),
        "expanded": torch.ones(1, 3).expand(4, 3),
        "parameter": torch.nn.Parameter(base[0]),
        "bf16": base.bfloat16().transpose(0, 3),
    }
    torch.save(tensors, tmp_path / "own.pth")
    arrays = {
        "fortran": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        "big": np.arange(12, dtype=">i4").reshape(3, 4),
        "big number": np.array(2.5, ">f8"),
    }
    np.savez_compressed(tmp_path / "packed.npz", **arrays)
    held = {**read_pth(tmp_path / "own.pth").model, **read_npz(tmp_path / "packed.npz").model}
    found = loaded(written(tmp_path / "w.pth", {name: Outgoing.of(one) for name, one in held.items()}), mapped=mapped)
    for name, tensor in tensors.items():
        assert found[name].dtype == tensor.dtype
        assert found[name].shape == tensor.shape
        assert bits(found[name]) == bits(tensor)
    for name, array in arrays.items():
        same(found[name], array.astype(array.dtype.newbyteorder("<")))


@pytest.mark.parametrize("name", ["权重.pth", "my net (2).pt", "a.b.bin", ".hidden"])
def test_names_of_files(tmp_path: Path, name: str) -> None:
    assert loaded(written(tmp_path / name, {"a": outgoing("a", np.arange(3))}))["a"].tolist() == [0, 1, 2]


@MAPPED
@pytest.mark.parametrize("limit", ["_LARGE", "_MANY"])
def test_wide_archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, mapped: bool) -> None:
    # As if every number were one of an archive of many gigabytes.
    monkeypatch.setattr(zip_writer, limit, 0)
    arrays = {"a": np.arange(10), "b": np.zeros(0), "c": np.ones((3, 3), np.float32)}
    found = loaded(
        written(tmp_path / "w.pth", {name: outgoing(name, one) for name, one in arrays.items()}), mapped=mapped
    )
    for name, array in arrays.items():
        same(found[name], array)


def test_offsets_may_be_calculated(tmp_path: Path) -> None:
    # A setting of torch that trusts the archive to lie as its own writer would have laid it.
    path = written(tmp_path / "w.pth", {str(size): outgoing(str(size), np.arange(size)) for size in range(20)})
    torch.utils.serialization.config.load.calculate_storage_offsets = True
    try:
        found = loaded(path, mapped=True)
    finally:
        torch.utils.serialization.config.load.calculate_storage_offsets = False
    for name, tensor in found.items():
        assert tensor.tolist() == list(range(int(name)))


def test_the_pickle_is_the_one_torch_writes(tmp_path: Path) -> None:
    tensors = {"a": torch.arange(6.0).reshape(2, 3), "n": torch.tensor(5), "u": torch.ones(4, dtype=torch.uint32)}
    torch.save({"state_dict": tensors, "epoch": 3, "scale": 0.5}, tmp_path / "own.pth")
    tree = {name: outgoing(name, tensor.numpy()) for name, tensor in tensors.items()}
    written(tmp_path / "w.pth", {"state_dict": tree, "epoch": 3, "scale": 0.5})
    assert codes(tmp_path / "w.pth") == codes(tmp_path / "own.pth")


def codes(path: Path) -> list[tuple[str, Any]]:
    """What a pickle says: its opcodes, with what was kept for later put back in its place."""
    with zipfile.ZipFile(path) as archive:
        (name,) = [one for one in archive.namelist() if one.endswith("/data.pkl")]
        data = archive.read(name)
    said: list[tuple[str, Any]] = []
    kept: dict[Any, tuple[str, Any]] = {}
    for code, arg, _ in pickletools.genops(data):
        if code.name == "BINPUT":
            kept[arg] = said[-1]
        else:
            said.append(kept[arg] if code.name == "BINGET" else (code.name, arg))
    return said


def test_two_gigabytes_in_one_tensor(tmp_path: Path) -> None:
    # The same pages again and again: those of a hole of this size take the system longer than writing them.
    part, times = 64 << 20, 33
    source, path = tmp_path / "source", tmp_path / "w.pth"
    source.touch()
    os.truncate(source, part)
    with source.open("r+b") as file:
        file.seek(part - 4)
        file.write(b"last")
    large = Stored("large", (part * times,), np.dtype(np.uint8), source, ((0, part),) * times)
    assert large.nbytes > 2 << 30
    try:
        written(path, {"large": Outgoing.of(large), "small": outgoing("small", np.arange(3))})
        found = loaded(path, mapped=True)
        parts = found["large"].reshape(times, part)
        assert [bits(one[-4:]) for one in parts] == [b"last"] * times
        assert not parts[:, :: 1 << 20].any()
        assert found["small"].tolist() == [0, 1, 2]
    finally:
        path.unlink(missing_ok=True)
        source.unlink()
