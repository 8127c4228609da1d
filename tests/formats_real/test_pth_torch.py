"""Files that torch itself wrote, read without it, element by element."""

from __future__ import annotations

import mmap
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from trueline.formats.pth import read_pth
from trueline.formats.stored import Stored
from trueline.model.trouble import BadFile

WAYS: dict[str, dict[str, Any]] = {
    "zip": {},
    "legacy": {"_use_new_zipfile_serialization": False},
    **{f"protocol {number}": {"pickle_protocol": number} for number in (3, 4, 5)},
}
WHOLE = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
TYPES = [
    *WHOLE,
    *(torch.uint16, torch.uint32, torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64),
    *(torch.complex64, torch.complex128, torch.float8_e4m3fn, torch.float8_e5m2),
    *(torch.float8_e4m3fnuz, torch.float8_e5m2fnuz, torch.float8_e8m0fnu),
]


def saved(path: Path, value: Any, **how: Any) -> Path:
    torch.save(value, path, **how)
    return path


def bits(tensor: torch.Tensor) -> bytes:
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def same(stored: Stored, tensor: torch.Tensor) -> None:
    stored.check()
    assert stored.shape == tuple(tensor.shape)
    assert stored.dtype.name == str(tensor.dtype).removeprefix("torch.")
    array = stored.array()
    assert array.astype(array.dtype.newbyteorder("<")).tobytes() == bits(tensor)


@pytest.mark.parametrize("way", WAYS)
def test_every_type_comes_back_bit_by_bit(tmp_path: Path, way: str) -> None:
    tensors = {str(kind): torch.arange(-3, 4).to(torch.float32).to(kind) for kind in TYPES}
    read = read_pth(saved(tmp_path / "x.pth", tensors, **WAYS[way]))
    assert list(read.model) == list(tensors)
    for name, tensor in tensors.items():
        same(read.model[name], tensor)


@pytest.mark.parametrize("way", ["zip", "legacy"])
def test_views_and_shared_storages(tmp_path: Path, way: str) -> None:
    base = torch.arange(24.0).reshape(2, 3, 4)
    tensors = {
        "base": base,
        "transposed": base.permute(2, 0, 1),
        "part": base[1, :, 1:3],
        "every other": base[..., ::2],
        "row": base[1, 2],
        "number": base[1, 2, 3],
        "tied": base,
        "other": base.clone(),
        "repeated": torch.ones(1, 3).expand(4, 3),
        "empty": torch.zeros(0, 5),
        "empty view": base[:, 3:],
        "channels last": torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
    }
    model = read_pth(saved(tmp_path / "x.pth", tensors, **WAYS[way])).model
    for name, tensor in tensors.items():
        same(model[name], tensor)
    assert {name: one.shared_with for name, one in model.items() if one.shared_with} == {"tied": "base"}
    assert not model["base"].array().flags.owndata


class Network(torch.nn.Module):
    """A network with tied weights and all kinds of state."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(7, 8)
        self.norm = torch.nn.BatchNorm1d(8)
        self.head = torch.nn.Linear(8, 7, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.embed(x)))


@pytest.mark.parametrize("way", WAYS)
def test_a_training_checkpoint(tmp_path: Path, way: str) -> None:
    network = Network()
    optimizer = torch.optim.AdamW(network.parameters())
    network(torch.arange(7)).sum().backward()
    optimizer.step()
    checkpoint = {
        "epoch": 3,
        "state_dict": network.state_dict(),
        "optimizer": optimizer.state_dict(),
        "best": np.float64(0.75),
        "numpy": np.random.get_state(),
        "rng": torch.get_rng_state(),
        "device": torch.device("cuda", 1),
        "dtype": torch.bfloat16,
        "size": torch.Size([2, 3]),
        "classes": {"a", "b"},
    }
    read = read_pth(saved(tmp_path / "x.pth", checkpoint, **WAYS[way]))
    assert read.nested == "state_dict"
    assert list(read.model) == list(network.state_dict())
    for name, tensor in network.state_dict().items():
        same(read.model[name], tensor)
    assert read.model["head.weight"].shared_with == "embed.weight"
    moment = optimizer.state_dict()["state"][1]["exp_avg"]
    same(read.sections["optimizer"]["state.1.exp_avg"], moment)
    assert read.others["epoch"] == 3
    assert read.others["best"] == 0.75
    assert read.others["optimizer.param_groups.0.betas"] == (0.9, 0.999)
    assert read.others["device"] == "cuda:1"
    assert read.others["size"] == (2, 3)
    assert set(read.others["classes"]) == {"a", "b"}


def test_parameters_and_tensors_with_attributes(tmp_path: Path) -> None:
    parameter = torch.nn.Parameter(torch.ones(3))
    marked = torch.nn.Parameter(torch.full((2,), 5.0))
    marked.note = "mine"  # type: ignore[attr-defined]
    plain = torch.arange(4)
    plain.note = "mine"  # type: ignore[attr-defined]
    tensors = {"a": parameter, "b": marked, "c": plain, "d": torch.nn.Buffer(torch.ones(2))}
    model = read_pth(saved(tmp_path / "x.pth", tensors)).model
    for name, tensor in tensors.items():
        same(model[name], tensor)


def rezipped(path: Path, *, big: bool = False, method: int = zipfile.ZIP_STORED) -> Path:
    """The same archive, packed by hand; with storages of float32 turned round where asked."""
    other = path.with_name(f"again-{path.name}")
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(other, "w", method) as packed:
        for name in archive.namelist():
            data = archive.read(name)
            if big and "/data/" in name:
                data = np.frombuffer(data, "<f4").astype(">f4").tobytes()
            packed.writestr(name, b"big" if big and name.endswith("/byteorder") else data)
    return other


def test_packed_by_hand_compressed_and_big_endian(tmp_path: Path) -> None:
    tensors = {"a": torch.randn(3, 4), "b": torch.randn(5, 6).t(), "c": torch.tensor(2.5), "d": torch.zeros(0)}
    path = saved(tmp_path / "x.pth", tensors)
    for other in (rezipped(path), rezipped(path, method=zipfile.ZIP_DEFLATED), rezipped(path, big=True)):
        for name, one in read_pth(other).model.items():
            same(one, tensors[name])
    assert read_pth(rezipped(path, method=zipfile.ZIP_DEFLATED)).model["a"].member


def test_more_than_four_gigabytes(tmp_path: Path) -> None:
    """The offsets no longer fit into 32 bits; the file is mostly a hole, so it costs no disk."""
    path = tmp_path / "big.pth"
    large = torch.tensor([], dtype=torch.uint8).set_(torch.UntypedStorage(5 << 30))
    with torch.serialization.skip_data():
        torch.save({"large": large, "last": torch.zeros(3)}, path)
    # skip_data leaves the elements out: these are put where the last storage lies, as torch itself finds it.
    with torch.serialization.set_default_mmap_options(mmap.MAP_SHARED):
        torch.load(path, mmap=True)["last"].copy_(torch.tensor([1.0, 2.0, 3.0]))
    read = read_pth(path).model
    assert path.stat().st_blocks * 512 < 100 << 20
    assert read["large"].shape == (5 << 30,)
    assert read["large"].array()[-1] == 0
    assert read["last"].segments[0][0] > 5 << 30
    assert read["last"].array().tolist() == [1, 2, 3]


REFUSED = {
    "torch.nn.modules.linear.Linear": lambda: torch.nn.Linear(2, 2),
    "state_dict()": lambda: {"model": Network(), "epoch": 1},
    "_rebuild_sparse_tensor": lambda: {"a": torch.ones(2, 2).to_sparse()},
    "_rebuild_qtensor": lambda: {"a": torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)},
    "_rebuild_meta_tensor_no_storage": lambda: {"a": torch.ones(2, device="meta")},
    "torch.conj": lambda: {"a": torch.ones(2, dtype=torch.complex64).conj()},
    "torch.complex32": lambda: {"a": torch.ones(2).to(torch.complex32)},
    "torch.nested": lambda: {"a": torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])},
    "argparse.Namespace": lambda: {"args": __import__("argparse").Namespace(lr=0.1), "model": {"w": torch.ones(2)}},
}


@pytest.mark.parametrize("way", ["zip", "legacy"])
@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.filterwarnings("ignore")
def test_refused_by_name(tmp_path: Path, name: str, way: str) -> None:
    path = saved(tmp_path / "x.pth", REFUSED[name](), **WAYS[way])
    with pytest.raises(BadFile) as caught:
        read_pth(path)
    assert name.removesuffix("nested") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_torch_script_is_refused_by_what_it_is(tmp_path: Path) -> None:
    torch.jit.script(torch.nn.Linear(2, 2)).save(str(tmp_path / "x.pt"))
    with pytest.raises(BadFile, match="TorchScript"):
        read_pth(tmp_path / "x.pt")


@pytest.mark.parametrize("way", ["zip", "legacy"])
def test_a_file_cut_anywhere_is_one_clear_line(tmp_path: Path, way: str) -> None:
    path = saved(tmp_path / "x.pth", Network().state_dict(), **WAYS[way])
    data = path.read_bytes()
    for length in range(0, len(data), 53):
        path.write_bytes(data[:length])
        with pytest.raises(BadFile) as caught:
            read_pth(path)
        assert "\n" not in str(caught.value)
