"""What each tool has saved, converted into every format and loaded by that format's own tool, bit for bit."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import mindspore as ms
import ml_dtypes
import numpy as np
import pytest
import torch
from cli.calling import call
from mindspore import nn
from mindspore.common import np_dtype
from safetensors import safe_open
from safetensors.torch import save_file

PTH, CKPT, SINGLE, NPZ, SHARDS = ".pth", ".ckpt", ".safetensors", ".npz", ".safetensors.index.json"
FORMATS = (PTH, CKPT, SINGLE, NPZ, SHARDS)
INTO_EACH = pytest.mark.parametrize("ending", FORMATS)

State = dict[str, torch.Tensor]
Bits = tuple[str, tuple[int, ...], bytes]
TYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int8, torch.int16, torch.int32)
TYPES += (torch.int64, torch.uint8, torch.bool)


def _drawn(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    """Any bits, but for those of a bool."""
    size = int(np.prod(shape)) * dtype.itemsize
    raw = torch.randint(0, 2 if dtype == torch.bool else 256, (size,), dtype=torch.uint8)
    return raw.view(dtype).reshape(shape)


def every_type() -> State:
    torch.manual_seed(0)
    named = {str(dtype).removeprefix("torch."): dtype for dtype in TYPES}
    found = {f"{name}.weight": _drawn(dtype, 2, 3, 1) for name, dtype in named.items()}
    return found | {f"{name}.number": _drawn(dtype) for name, dtype in named.items()}


def _bits(tensor: torch.Tensor) -> Bits:
    data = tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    return str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape), data


def told(state: Mapping[str, torch.Tensor]) -> dict[str, Bits]:
    return {name: _bits(one) for name, one in state.items()}


def _array(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def _parameter(tensor: torch.Tensor) -> ms.Tensor:
    # MindSpore takes no bfloat16 but its own.
    own = np_dtype.bfloat16 if tensor.dtype == torch.bfloat16 else None
    return ms.Tensor(_array(tensor).view(own) if own is not None else tensor.numpy())


def save_pth(path: Path, state: State) -> None:
    torch.save(state, path)


def save_ckpt(path: Path, state: State) -> None:
    ms.save_checkpoint([{"name": name, "data": _parameter(one)} for name, one in state.items()], str(path))


def save_safetensors(path: Path, state: State) -> None:
    save_file(state, path, {"format": "pt"})


def save_npz(path: Path, state: State) -> None:
    np.savez(path, **{name: _array(one) for name, one in state.items()})


def save_shards(path: Path, state: State) -> None:
    places = {name: f"part-{number % 3}.safetensors" for number, name in enumerate(state)}
    for shard in set(places.values()):
        save_file({name: one for name, one in state.items() if places[name] == shard}, path.with_name(shard))
    path.write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": places}))


def load_pth(path: Path) -> dict[str, Bits]:
    return told(torch.load(path, weights_only=True))


class Holder(nn.Cell):
    """Parameters of any name, type and shape."""

    def __init__(self, like: Mapping[str, Any]) -> None:
        super().__init__()
        self.held = ms.ParameterTuple([ms.Parameter(ms.ops.zeros_like(one), name=name) for name, one in like.items()])


def load_ckpt(path: Path) -> dict[str, Bits]:
    loaded = ms.load_checkpoint(str(path))
    cell = Holder(loaded)
    assert ms.load_param_into_net(cell, loaded, strict_load=True) == ([], [])
    return {
        one.name: (str(one.dtype).lower().removesuffix("_"), tuple(one.shape), one.asnumpy().tobytes())
        for one in cell.get_parameters()
    }


def _opened(path: Path) -> Iterator[tuple[str, torch.Tensor]]:
    with safe_open(path, "pt") as file:
        for name in file.keys():  # noqa: SIM118 (it is no dictionary)
            yield name, file.get_tensor(name)


def load_safetensors(path: Path) -> dict[str, Bits]:
    return told(dict(_opened(path)))


def load_npz(path: Path) -> dict[str, Bits]:
    with np.load(path, allow_pickle=False) as file:
        found = {name: file[name] for name in file.files}
    # NumPy has no name for bfloat16 and gives its bytes.
    found = {name: one.view(ml_dtypes.bfloat16) if one.dtype.kind == "V" else one for name, one in found.items()}
    return {name: (one.dtype.name, one.shape, one.tobytes()) for name, one in found.items()}


def load_shards(path: Path) -> dict[str, Bits]:
    places = json.loads(path.read_text())["weight_map"]
    found = {name: (shard, _bits(one)) for shard in set(places.values()) for name, one in _opened(path.parent / shard)}
    assert {name: shard for name, (shard, _) in found.items()} == places
    return {name: bits for name, (_, bits) in found.items()}


SAVE: Mapping[str, Callable[[Path, State], None]] = dict(
    zip(FORMATS, (save_pth, save_ckpt, save_safetensors, save_npz, save_shards), strict=True)
)
LOAD: Mapping[str, Callable[[Path], dict[str, Bits]]] = dict(
    zip(FORMATS, (load_pth, load_ckpt, load_safetensors, load_npz, load_shards), strict=True)
)


def convert(source: Path, target: Path, *options: str) -> dict[str, Any]:
    # The smallest shards there are, where there are any.
    size = ["--shard", "40"] if target.name.endswith(SHARDS) else []
    ended = call("convert", source, target, *options, *size, "--json")
    assert ended.exit_code == 0, ended.output
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


@pytest.mark.parametrize(("begin", "ending"), list(product(FORMATS, FORMATS)))
def test_every_type_of_every_tool_into_every_format(tmp_path: Path, begin: str, ending: str) -> None:
    state = every_type()
    SAVE[begin](tmp_path / f"in{begin}", state)
    found = convert(tmp_path / f"in{begin}", tmp_path / f"out{ending}", "--names", "same")
    assert found["dropped"] == found["missing"] == found["unexpected"] == []
    assert LOAD[ending](tmp_path / f"out{ending}") == told(state)
    assert not list(tmp_path.glob(".*"))


@INTO_EACH
def test_views_of_torch_arrive_as_they_look(tmp_path: Path, ending: str) -> None:
    base = torch.arange(120.0).reshape(2, 3, 4, 5)
    state = {
        "turned": base[0, 0].t(),
        "permuted": base.permute(3, 1, 0, 2),
        "last": base.to(memory_format=torch.channels_last),
        "slice": base[1, :, 1:3, ::2],
        "row": base.bfloat16()[1, 2, 3],
        "expanded": torch.ones(1, 3, dtype=torch.int16).expand(4, 3),
        "number": base[1, 2, 3, 4],
        "parameter": torch.nn.Parameter(base.half().transpose(0, 3)),
    }
    torch.save(state, tmp_path / "in.pth")
    convert(tmp_path / "in.pth", tmp_path / f"out{ending}", "--names", "same")
    assert LOAD[ending](tmp_path / f"out{ending}") == told(state)


@INTO_EACH
def test_shared_storages(tmp_path: Path, ending: str) -> None:
    net = torch.nn.ModuleDict({"table": torch.nn.Embedding(7, 4), "head": torch.nn.Linear(4, 7)})
    net["head"].weight = net["table"].weight
    state = net.state_dict()
    torch.save(state, tmp_path / "in.pth")
    convert(tmp_path / "in.pth", tmp_path / f"out{ending}", "--names", "same")
    assert LOAD[ending](tmp_path / f"out{ending}") == told(state)
    if ending == PTH:
        loaded = torch.load(tmp_path / "out.pth", weights_only=True)
        assert loaded["table.weight"].data_ptr() == loaded["head.weight"].data_ptr()
        assert loaded["head.bias"].data_ptr() != loaded["head.weight"].data_ptr()


@INTO_EACH
@pytest.mark.parametrize("style", ["state_dict", "model", "module.", "model + module."])
def test_nested_checkpoints(tmp_path: Path, ending: str, style: str) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2))
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    state = net.state_dict()
    saved: dict[str, Any] = {f"module.{name}": one for name, one in state.items()} if "module." in style else state
    key = style.partition(" ")[0]
    if key != "module.":
        saved = {key: saved, "optimizer": optimizer.state_dict(), "epoch": 3}
    torch.save(saved, tmp_path / "in.pth")
    found = convert(tmp_path / "in.pth", tmp_path / f"out{ending}", "--names", "same")
    assert LOAD[ending](tmp_path / f"out{ending}") == told(state)
    assert found["stripped"] == ("module." if "module." in style else "")
    assert {one["name"] for one in found["dropped"]} == ({"optimizer", "epoch"} if key != "module." else set())


REFUSED = [
    (CKPT, torch.complex64),
    (CKPT, torch.complex128),
    (CKPT, torch.float8_e5m2),
    (SINGLE, torch.complex128),
    (SHARDS, torch.complex128),
    (NPZ, torch.float8_e4m3fn),
]


@pytest.mark.parametrize(("ending", "dtype"), REFUSED)
def test_what_a_target_cannot_hold_is_refused_by_name(tmp_path: Path, ending: str, dtype: torch.dtype) -> None:
    torch.save({"plain.weight": torch.ones(3), "odd.weight": _drawn(dtype, 2, 3)}, tmp_path / "in.pth")
    ended = call("convert", tmp_path / "in.pth", tmp_path / f"out{ending}", "--names", "same")
    assert ended.exit_code == 2
    assert "odd.weight" in ended.stderr
    assert os.listdir(tmp_path) == ["in.pth"]  # noqa: PTH208 (hidden files too)


@INTO_EACH
def test_what_is_empty_arrives_or_is_said_to_be_left(tmp_path: Path, ending: str) -> None:
    state = {"none": torch.ones(0, 3), "some": torch.ones(2, 3)}
    torch.save(state, tmp_path / "in.pth")
    found = convert(tmp_path / "in.pth", tmp_path / f"out{ending}", "--names", "same")
    lost = {"none"} if ending == CKPT else set()
    assert {one["name"] for one in found["dropped"]} == lost
    assert LOAD[ending](tmp_path / f"out{ending}") == told({name: state[name] for name in state.keys() - lost})


def _in_torch() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, bias=False), torch.nn.BatchNorm2d(4), torch.nn.PReLU(4))


def _in_mindspore() -> nn.Cell:
    return nn.SequentialCell(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.PReLU(4))


MINE_TO_THEIRS = {"1.weight": "1.gamma", "1.bias": "1.beta", "1.running_mean": "1.moving_mean"}
MINE_TO_THEIRS |= {"1.running_var": "1.moving_variance", "2.weight": "2.w"}


def _moved() -> State:
    torch.manual_seed(1)
    state = _in_torch().state_dict()
    return {name: torch.rand_like(one) for name, one in state.items() if one.is_floating_point()}


@pytest.mark.parametrize("begin", FORMATS)
@pytest.mark.parametrize(
    ("ending", "names"), [(PTH, "torch"), (SINGLE, "torch"), (CKPT, "mindspore"), (SINGLE, "mindspore")]
)
def test_a_network_takes_them_under_its_own_names(tmp_path: Path, begin: str, ending: str, names: str) -> None:
    state = _moved()
    theirs = {MINE_TO_THEIRS.get(name, name): one for name, one in state.items()}
    SAVE[begin](tmp_path / f"in{begin}", theirs if begin == CKPT else state)
    path = tmp_path / f"out{ending}"
    assert convert(tmp_path / f"in{begin}", path, "--names", names)["dropped"] == []
    if names == "torch":
        net = _in_torch()
        loaded = torch.load(path, weights_only=True) if ending == PTH else dict(_opened(path))
        net.load_state_dict(loaded)
        assert told(_without_counts(net.state_dict())) == told(state)
    else:
        cell = _in_mindspore()
        parameters = ms.load_checkpoint(str(path), format=ending[1:])
        assert ms.load_param_into_net(cell, parameters, strict_load=True) == ([], [])
        found = {one.name: one.asnumpy() for one in cell.get_parameters()}
        assert found.keys() == theirs.keys()
        assert all(np.array_equal(found[name], one.numpy()) for name, one in theirs.items())


def _without_counts(state: Mapping[str, torch.Tensor]) -> State:
    return {name: one for name, one in state.items() if not name.endswith("num_batches_tracked")}
