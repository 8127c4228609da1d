"""Weight files: listed with their numbers, compared with themselves, converted on paper."""

from __future__ import annotations

import json
import pickle
import struct
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

import numpy as np
from fuzz.case import Mutators, Target
from fuzz.mutators.archives import directory, members_by
from fuzz.mutators.framed import CKPT, NPY, SAFETENSORS
from fuzz.mutators.pickles import PICKLE, opcodes
from fuzz.mutators.raw import RAW, raw
from fuzz.mutators.text import JSON, by_ending
from fuzz.targets.verbs import each

_INNER = by_ending({".pkl": PICKLE, ".npy": NPY}, RAW)
PTH: Mutators = {members_by(_INNER): 6, directory: 1, raw: 1.5}
NPZ: Mutators = {members_by(_INNER): 6, directory: 1.5, raw: 1.5}


def _arrays() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        "conv1.weight": rng.normal(size=(4, 3, 3, 3)).astype(np.float32),
        "conv1.bias": np.zeros(4, np.float32),
        "bn1.weight": np.ones(4, np.float16),
        "bn1.running_mean": np.array([1, np.nan, np.inf, 0], np.float32),
        "bn1.num_batches_tracked": np.array(3),
        "fc.weight": rng.normal(size=(5, 4)),
        "mask": np.array([True, False]),
        "ids": np.arange(6, dtype=np.int32).reshape(2, 3),
        "none": np.zeros((0, 3), np.float32),
    }


def _only(folder: Path) -> Path:
    """The file that a user would name: the index of shards, else the only one, else the folder."""
    names = sorted(one.name for one in folder.iterdir())
    index = [one for one in names if one.endswith(".index.json")]
    return folder / (index or names)[0] if names and (index or len(names) == 1) else folder


def read_weights(folder: Path, whole: bool) -> None:
    """What params, compare and convert do."""
    from trueline.cli.models import open_weights_at
    from trueline.migrate.params import list_file, with_numbers
    from trueline.migrate.params_report import result

    path = _only(folder)
    if whole:
        each(
            ("params", str(path)),
            ("params", str(path), "--json"),
            ("compare", str(path), str(path), "--json"),
            *(
                ("convert", str(path), str(folder / f"out.{one}"), "--dry-run", "--json")
                for one in ("pth", "ckpt", "npz")
            ),
        )
        return
    weights = open_weights_at(path)
    listing = with_numbers(list_file(weights, str(path)), None)
    result(listing).dump()
    for arrays in list(weights.sections.values())[1:3]:
        for stored in list(arrays.values())[:5]:
            stored.array()


def save(path: Path, arrays: dict[str, np.ndarray], shard_bytes: int | None = None, **more: object) -> None:
    """By the product's own writer."""
    from trueline.formats.outgoing import Outgoing
    from trueline.formats.saving import Saved, format_of
    from trueline.formats.saving import save as write

    path.parent.mkdir(parents=True, exist_ok=True)
    going = [Outgoing(name, one.shape, one.dtype, one) for name, one in arrays.items()]
    write(path, format_of(path), Saved(going, **more), shard_bytes=shard_bytes)  # type: ignore[arg-type]


def _pth(folder: Path) -> None:
    from trueline.formats.outgoing import Outgoing

    arrays = _arrays()
    save(folder / "1" / "net.pth", arrays)
    inner = {name: Outgoing(name, one.shape, one.dtype, one) for name, one in arrays.items()}
    tree = {
        "state_dict": inner,
        "epoch": 3,
        "best": 0.5,
        "args": {"lr": 0.1, "names": ["a", "b"], "shape": (1, 2)},
        "optimizer": {
            "state": {0: {"step": 3, "exp_avg": inner["conv1.weight"]}},
            "param_groups": [{"lr": 0.1, "params": [0]}],
        },
    }
    save(folder / "2" / "checkpoint.pt", arrays, tree=tree)


def _pth_legacy(folder: Path) -> None:
    """Torch's old form, whose pickles this project does not write: by hand."""
    (folder / "1").mkdir()
    (folder / "1" / "old.pth").write_bytes(_legacy({"a.weight": (2, 3), "a.bias": (3,)}))


def _legacy(shapes: dict[str, tuple[int, ...]]) -> bytes:
    def text(value: str) -> bytes:
        return b"X" + struct.pack("<I", len(value)) + value.encode()

    out = bytearray(b"\x80\x02ccollections\nOrderedDict\n)R(")
    data = bytearray()
    for number, (name, shape) in enumerate(shapes.items()):
        count = int(np.prod(shape))
        out += text(name) + b"ctorch._utils\n_rebuild_tensor_v2\n(("
        out += text("storage") + b"ctorch\nFloatStorage\n" + text(str(number)) + text("cpu") + b"K" + bytes([count])
        out += b"NtQK\0(" + b"".join(b"K" + bytes([one]) for one in shape) + b"t("
        strides = [int(np.prod(shape[at + 1 :])) for at in range(len(shape))]
        out += b"".join(b"K" + bytes([one]) for one in strides) + b"t\x89ccollections\nOrderedDict\n)RtR"
        data += struct.pack("<q", count) + np.arange(count, dtype=np.float32).tobytes()
    out += b"u."
    head = pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2)
    head += pickle.dumps(
        {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}, 2
    )
    return bytes(head + out + pickle.dumps([str(one) for one in range(len(shapes))], 2) + data)


def _pth_shards(folder: Path) -> None:
    arrays = _arrays()
    names = list(arrays)
    place = folder / "1"
    files = [f"pytorch_model-0000{n}-of-00002.bin" for n in (1, 2)]
    save(place / files[0], {name: arrays[name] for name in names[:4]})
    save(place / files[1], {name: arrays[name] for name in names[4:]})
    places = {name: files[number >= 4] for number, name in enumerate(names)}
    index = {"metadata": {"total_size": 1000}, "weight_map": places}
    (place / "pytorch_model.bin.index.json").write_text(json.dumps(index))


def _ckpt(folder: Path) -> None:
    arrays = {name: one for name, one in _arrays().items() if one.size}
    save(folder / "1" / "net.ckpt", arrays)
    more = {
        "moments.conv1.weight": arrays["conv1.weight"],
        "global_step": np.array([3], np.int32),
        "learning_rate": np.array(0.1),
    }
    save(folder / "2" / "net.ckpt", arrays | more, others={"epoch_num": 3, "note": "text", "best": 0.5})


def _safetensors(folder: Path) -> None:
    save(folder / "1" / "net.safetensors", _arrays(), metadata={"format": "pt", "note": "é"})


def _safetensors_shards(folder: Path) -> None:
    save(folder / "1" / "model.safetensors.index.json", _arrays(), shard_bytes=300)


def _npz(folder: Path) -> None:
    arrays = {name.replace(".", "/"): one for name, one in _arrays().items()}
    (folder / "1").mkdir()
    np.savez(folder / "1" / "a.npz", **arrays)
    (folder / "2").mkdir()
    np.savez_compressed(folder / "2" / "a.npz", **arrays)
    save(folder / "3" / "a.npz", _arrays())


def read_arrays(folder: Path, whole: bool) -> None:
    """What compare does with a folder of arrays, and data describe with one of them."""
    from trueline.formats.kinds import Kind, look
    from trueline.formats.opening import open_arrays
    from trueline.kernel import UnsupportedDtype, summarise

    if whole:
        each(
            ("compare", str(folder), str(folder), "--json"),
            ("data describe", str(_only(folder)), "--json"),
        )
        return
    found = look(folder)
    if found.kind is not Kind.ARRAYS:
        return
    for stored in open_arrays(found).values():
        with suppress(UnsupportedDtype):
            summarise(stored.elements())


def _npy(folder: Path) -> None:
    arrays = _arrays()
    arrays["fortran"] = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    arrays["big"] = np.arange(4, dtype=">i2")
    for number, array in enumerate(arrays.values()):
        (folder / str(number)).mkdir()
        np.save(folder / str(number) / "a.npy", array)
    (folder / "records").mkdir()
    np.save(folder / "records" / "a.npy", np.zeros(3, [("a", "<i4"), ("b", "<f4", (2,))]))
    (folder / "text").mkdir()
    np.save(folder / "text" / "a.npy", np.array(["a", "bc"]))


def _array_folder(folder: Path) -> None:
    for name, array in list(_arrays().items())[:5]:
        (folder / "1" / "deep").mkdir(parents=True, exist_ok=True)
        np.save(folder / "1" / "deep" / f"{name}.npy", array)
    np.savez(folder / "1" / "more.npz", a=np.arange(3), b=np.ones((2, 2)))


def bomb(data: bytes, chance: Random, others: Sequence[bytes]) -> bytes:
    """Opcodes of one file many times over."""
    return opcodes(opcodes(data, chance, others), chance, others)


LEGACY: Mutators = {opcodes: 6, bomb: 1, raw: 3}
TARGETS = (
    Target("pth", _pth, read_weights, lambda _: PTH, real=("pth",)),
    Target("pth_legacy", _pth_legacy, read_weights, lambda _: LEGACY, real=("pth_legacy",)),
    Target("pth_shards", _pth_shards, read_weights, by_ending({".json": JSON}, PTH)),
    Target("ckpt", _ckpt, read_weights, lambda _: CKPT, real=("ckpt",)),
    Target("safetensors", _safetensors, read_weights, lambda _: SAFETENSORS, real=("safetensors",)),
    Target("safetensors_shards", _safetensors_shards, read_weights, by_ending({".json": JSON}, SAFETENSORS)),
    Target("npz", _npz, read_weights, lambda _: NPZ),
    Target("npy", _npy, read_arrays, lambda _: NPY),
    Target("array_folder", _array_folder, read_arrays, by_ending({".npz": NPZ}, NPY)),
)
