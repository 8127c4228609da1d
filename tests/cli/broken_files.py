"""Files that are broken or mean harm, and what is asked of whoever is given one: one line, exit code 2."""

from __future__ import annotations

import json
import os
import pickle
import random
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from cli.made_files import weights, write_ckpt, write_npz, write_pth, write_safetensors, write_sharded
from click.testing import Result

Make = Callable[[Path], Path]
NOBODY = 65534


def everything_below(*folders: Path) -> set[Path]:
    return {one for folder in folders for one in folder.rglob("*")}


def is_one_line(answer: Result, *words: str) -> None:
    """Exit code 2, nothing on stdout, and one line that has these words."""
    assert (answer.exit_code, answer.stdout) == (2, ""), answer.output
    assert answer.stderr.startswith("trueline: ")
    assert answer.stderr.endswith("\n")
    assert answer.stderr.count("\n") == 1
    assert "Traceback" not in answer.stderr
    # Long enough to say something, short enough to be read.
    assert 20 < len(answer.stderr) < 600
    for word in words:
        assert word in answer.stderr, (word, answer.stderr)


@contextmanager
def without_rights() -> Iterator[None]:
    """Root may read everything: the rights of nobody, where root runs the tests."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


# Paths


def missing(folder: Path) -> Path:
    return folder / "nowhere.pth"


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe.log")
    return folder / "pipe.log"


def device(folder: Path) -> Path:
    (folder / "zero.npy").symlink_to("/dev/zero")
    return folder / "zero.npy"


def dangling(folder: Path) -> Path:
    (folder / "latest.ckpt").symlink_to(folder / "gone.ckpt")
    return folder / "latest.ckpt"


def link_to_itself(folder: Path) -> Path:
    (folder / "loop.ckpt").symlink_to(folder / "loop.ckpt")
    return folder / "loop.ckpt"


def name_too_long(folder: Path) -> Path:
    return folder / ("x" * 300 + ".npy")


def file_as_folder(folder: Path) -> Path:
    (folder / "train.log").write_text("loss 1")
    return folder / "train.log" / "step0"


def refused_by_the_system(_: Path) -> Path:
    # Readable by its owner, but for its first page, which no process has.
    return Path("/proc/self/mem")


def empty_file(folder: Path) -> Path:
    (folder / "empty.pth").touch()
    return folder / "empty.pth"


def empty_folder(folder: Path) -> Path:
    (folder / "empty").mkdir()
    return folder / "empty"


def folder_of_folders(folder: Path) -> Path:
    (folder / "hollow" / "a" / "b").mkdir(parents=True)
    return folder / "hollow"


def folder_of_pictures(folder: Path) -> Path:
    (folder / "photos").mkdir()
    (folder / "photos" / "cat.jpg").write_bytes(b"\xff\xd8\xff\xe0")
    return folder / "photos"


# torch


class Malicious:
    """Runs a command when it is unpickled."""

    def __init__(self, sentinel: Path) -> None:
        self.sentinel = sentinel

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.sentinel}",)


def pth_cut(folder: Path) -> Path:
    whole = write_pth(folder / "cut.pth", weights())
    whole.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    return whole


def pth_malicious(folder: Path) -> Path:
    import torch

    torch.save({"state_dict": weights(), "hook": Malicious(folder / "sentinel")}, folder / "evil.pth")
    return folder / "evil.pth"


def pth_malicious_legacy(folder: Path) -> Path:
    import torch

    state = {"weight": torch.ones(3), "hook": Malicious(folder / "sentinel")}
    torch.save(state, folder / "evil.pt", _use_new_zipfile_serialization=False)
    return folder / "evil.pt"


def pth_bare_pickle(folder: Path) -> Path:
    (folder / "evil.bin").write_bytes(pickle.dumps(Malicious(folder / "sentinel")))
    return folder / "evil.bin"


def pth_whole_model(folder: Path) -> Path:
    import torch

    torch.save(torch.nn.Sequential(torch.nn.Linear(3, 4)), folder / "model.pth")
    return folder / "model.pth"


def pth_script(folder: Path) -> Path:
    import torch

    torch.jit.save(torch.jit.script(torch.nn.Linear(3, 4)), folder / "script.pt")
    return folder / "script.pt"


def pth_no_tensors(folder: Path) -> Path:
    import torch

    torch.save(["epoch", 3, 0.5], folder / "list.pth")
    return folder / "list.pth"


def rezipped(whole: Path, change: Callable[[str, bytes], bytes]) -> Path:
    """An archive with its members changed, as a zip in order again."""
    with zipfile.ZipFile(whole) as archive:
        held = [(one, archive.read(one)) for one in archive.namelist()]
    with zipfile.ZipFile(whole, "w") as archive:
        for name, data in held:
            archive.writestr(name, change(name, data))
    return whole


def pth_storage_cut(folder: Path) -> Path:
    whole = write_pth(folder / "short.pth", weights())
    return rezipped(whole, lambda name, data: data[: len(data) // 2] if "/data/" in name else data)


def pth_huge_shape(folder: Path) -> Path:
    import torch

    torch.save({"weight": torch.arange(251.0)}, folder / "huge.pth")
    # The shape (251,) is a small number in the pickle; the storage keeps its own.
    huge = b"\x8a\x08" + struct.pack("<q", 1 << 60)
    shape = b"K\xfb\x85"

    def grown(name: str, data: bytes) -> bytes:
        if not name.endswith("data.pkl"):
            return data
        assert data.count(shape) == 1
        return data.replace(shape, huge + b"\x85")

    return rezipped(folder / "huge.pth", grown)


def random_bytes(name: str) -> Make:
    def make(folder: Path) -> Path:
        # Not by chance the start of another format.
        (folder / name).write_bytes(b"\xf3" + random.Random(3).randbytes(5000))
        return folder / name

    return make


# MindSpore


def ckpt_cut(folder: Path) -> Path:
    whole = write_ckpt(folder / "cut.ckpt", weights())
    whole.write_bytes(whole.read_bytes()[:-1000])
    return whole


def ckpt_flipped(folder: Path) -> Path:
    whole = write_ckpt(folder / "flipped.ckpt", weights())
    data = bytearray(whole.read_bytes())
    at = data.index(b"layer1.1.gamma") - 2
    data[at : at + 2] = b"\xff\xff"
    whole.write_bytes(data)
    return whole


def ckpt_encrypted(folder: Path) -> Path:
    return write_ckpt(folder / "secret.ckpt", weights(), enc_key=b"0123456789ABCDEF", enc_mode="AES-GCM")


# safetensors


def safetensors(header: Any, data: int = 16, length: int | None = None) -> Make:
    """A file with this header before so many bytes of data."""

    def make(folder: Path) -> Path:
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        start = struct.pack("<Q", len(text) if length is None else length)
        (folder / "x.safetensors").write_bytes(start + text + bytes(data))
        return folder / "x.safetensors"

    return make


def entry(begin: int, end: int, shape: tuple[int, ...] = (4,)) -> dict[str, Any]:
    return {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}


def safetensors_cut(folder: Path) -> Path:
    whole = write_safetensors(folder / "cut.safetensors", weights())
    whole.write_bytes(whole.read_bytes()[:-100])
    return whole


def shard_missing(folder: Path) -> Path:
    whole = write_sharded(folder / "sharded", weights())
    (whole / "model-00002-of-00002.safetensors").unlink()
    return whole


def shard_outside(folder: Path) -> Path:
    write_safetensors(folder / "elsewhere.safetensors", weights())
    (folder / "sharded").mkdir()
    index = folder / "sharded" / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"conv1.weight": "../elsewhere.safetensors"}}))
    return index


def index_without_map(folder: Path) -> Path:
    (folder / "model.safetensors.index.json").write_text('{"metadata": {"total_size": 3}}')
    return folder / "model.safetensors.index.json"


# NumPy


def npy_absurd(shape: str) -> Make:
    def make(folder: Path) -> Path:
        text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
        (folder / "absurd.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(64))
        return folder / "absurd.npy"

    return make


def npz_wrong_sum(folder: Path) -> Path:
    np.savez_compressed(folder / "sum.npz", **weights())
    with zipfile.ZipFile(folder / "sum.npz") as archive:
        found = archive.getinfo("fc.weight.npy")
    data = bytearray((folder / "sum.npz").read_bytes())
    middle = found.header_offset + found.compress_size // 2
    data[middle : middle + 8] = bytes(8)
    (folder / "sum.npz").write_bytes(data)
    return folder / "sum.npz"


def npz_bomb(folder: Path) -> Path:
    """A member that inflates a thousandfold, whose header promises four numbers."""
    head = npy_absurd("(4,)")(folder).read_bytes()[:128]
    with zipfile.ZipFile(folder / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("fc.weight.npy", head + bytes(64 << 20))
    return folder / "bomb.npz"


def npz_texts(folder: Path) -> Path:
    np.savez(folder / "texts.npz", labels=np.array(["cat", "dog"]))
    return folder / "texts.npz"


def npz_cut(folder: Path) -> Path:
    whole = write_npz(folder / "cut.npz", weights())
    whole.write_bytes(whole.read_bytes()[:-30])
    return whole


def text(name: str, content: str) -> Make:
    def make(folder: Path) -> Path:
        (folder / name).write_text(content)
        return folder / name

    return make


# (what it is, how it is made, a whole file of its kind, words the line must have)
BROKEN_WEIGHTS: list[tuple[str, Make, str, tuple[str, ...]]] = [
    ("missing", missing, "pth", ("nowhere.pth", "No such file")),
    ("pipe", pipe, "curves", ("pipe.log", "not a regular file")),
    ("device", device, "arrays", ("zero.npy", "not a regular file")),
    ("dangling link", dangling, "ckpt", ("latest.ckpt", "No such file")),
    ("link to itself", link_to_itself, "ckpt", ("loop.ckpt", "symbolic links")),
    ("name too long", name_too_long, "arrays", ("xxx", "name too long")),
    ("file as a folder", file_as_folder, "dump", ("step0", "Not a directory")),
    ("a file of the system", refused_by_the_system, "weights", ("/proc/self/mem", "not a regular file")),
    ("empty file", empty_file, "pth", ("empty.pth", "empty file")),
    ("empty folder", empty_folder, "arrays", ("empty", "empty folder")),
    ("folder of folders", folder_of_folders, "arrays", ("hollow", "empty folder")),
    ("folder of pictures", folder_of_pictures, "run", ("photos", "nothing in it that can be compared")),
    ("unknown bytes", random_bytes("model.data"), "weights", ("model.data", "not a file that can be compared")),
    ("pth: cut", pth_cut, "ckpt", ("cut.pth", "not a zip archive, or a damaged one")),
    ("pth: malicious", pth_malicious, "pth", ("evil.pth", "posix.system", "nothing of it was run")),
    ("pth: malicious, legacy", pth_malicious_legacy, "pth", ("evil.pt", "posix.system")),
    ("pth: malicious, bare", pth_bare_pickle, "pth", ("evil.bin", "posix.system")),
    ("pth: whole model", pth_whole_model, "safetensors", ("model.pth", "whole pickled model", "state_dict()")),
    ("pth: TorchScript", pth_script, "ckpt", ("script.pt", "TorchScript")),
    ("pth: no tensors", pth_no_tensors, "ckpt", ("list.pth", "no arrays")),
    ("pth: storage cut", pth_storage_cut, "ckpt", ("short.pth", "does not fit its data")),
    ("pth: huge shape", pth_huge_shape, "pth", ("huge.pth", "weight does not fit its data")),
    ("pth: random", random_bytes("noise.pth"), "pth", ("noise.pth", "not a file of torch.save")),
    ("ckpt: cut", ckpt_cut, "pth", ("cut.ckpt", "cut short")),
    ("ckpt: flipped", ckpt_flipped, "ckpt", ("flipped.ckpt", "damaged")),
    ("ckpt: encrypted", ckpt_encrypted, "pth", ("secret.ckpt", "encrypted", "without one")),
    ("ckpt: random", random_bytes("noise.ckpt"), "pth", ("noise.ckpt", "not a checkpoint")),
    ("safetensors: header too long", safetensors({}, 16, 1 << 40), "safetensors", ("header does not fit",)),
    ("safetensors: no JSON", safetensors(b"{'a': 1}"), "safetensors", ("x.safetensors", "not valid JSON")),
    ("safetensors: list", safetensors(b"[1, 2]  "), "safetensors", ("x.safetensors", "header does not fit")),
    ("safetensors: nested", safetensors(b'{"a":' * 9000), "safetensors", ("x.safetensors", "not valid JSON")),
    (
        "safetensors: overlapping",
        safetensors({"a": entry(0, 16), "b": entry(8, 24)}, 24),
        "safetensors",
        ("x.safetensors", "b does not fit its data"),
    ),
    (
        "safetensors: beyond the end",
        safetensors({"a": entry(0, 16), "b": entry(1 << 40, (1 << 40) + 16)}),
        "safetensors",
        ("x.safetensors", "b does not fit its data"),
    ),
    (
        "safetensors: other size",
        safetensors({"a": entry(0, 16, (1 << 30, 1 << 30))}),
        "safetensors",
        ("x.safetensors", "a does not fit its data"),
    ),
    ("safetensors: empty", safetensors({}, 0), "safetensors", ("x.safetensors", "no arrays")),
    ("safetensors: cut", safetensors_cut, "pth", ("cut.safetensors", "does not fit its data")),
    ("shard missing", shard_missing, "pth", ("index.json", "model-00002-of-00002.safetensors is missing")),
    ("shard outside", shard_outside, "pth", ("index.json", "leads out of the folder")),
    ("index without map", index_without_map, "pth", ("index.json", "weight_map")),
    ("npz: cut", npz_cut, "weights", ("cut.npz", "not a zip archive, or a damaged one")),
    ("npz: wrong sum", npz_wrong_sum, "weights", ("sum.npz", "fc.weight")),
    ("npz: bomb", npz_bomb, "weights", ("bomb.npz", "fc.weight does not fit its data")),
    ("npz: texts", npz_texts, "weights", ("texts.npz", "no arrays")),
]
