"""Whatever `trueline compare` is given that cannot be compared: one line with the file and the reason, exit code 2."""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
import struct
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.calling import call
from cli.made_files import (
    copy_dump,
    falling,
    weights,
    write_ckpt,
    write_csv,
    write_log,
    write_npy_folder,
    write_npz,
    write_pth,
    write_safetensors,
    write_sharded,
    write_tensorboard,
)
from cli.sample_runs import info, losses, record
from click.testing import Result

Make = Callable[[Path], Path]
NOBODY = 65534


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One whole input of every kind."""
    folder = tmp_path_factory.mktemp("good")
    arrays = weights()
    return {
        "run": record(folder / "run", losses(4)),
        "weights": write_npz(folder / "weights.npz", arrays),
        "pth": write_pth(folder / "weights.pth", arrays),
        "ckpt": write_ckpt(folder / "weights.ckpt", arrays),
        "safetensors": write_safetensors(folder / "weights.safetensors", arrays),
        "arrays": write_npy_folder(folder / "arrays", arrays),
        "curves": write_log(folder / "train.log", falling()),
        "csv": write_csv(folder / "train.csv", falling()),
        "tensorboard": write_tensorboard(folder / "board", falling()),
        "dump": copy_dump(folder / "dump"),
    }


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


def npy_objects(folder: Path) -> Path:
    (folder / "objects").mkdir()
    np.save(folder / "objects" / "a.npy", np.array([Malicious(folder / "sentinel")], object), allow_pickle=True)
    return folder / "objects"


def npy_cut(folder: Path) -> Path:
    whole = write_npy_folder(folder / "cut", {"a": np.arange(1000.0), "b": np.arange(1000.0)})
    (whole / "b.npy").write_bytes((whole / "b.npy").read_bytes()[:4000])
    return whole


def npy_headless(folder: Path) -> Path:
    (folder / "headless").mkdir()
    (folder / "headless" / "a.npy").write_bytes(b"\x93NUMPY\x01\x00\x76\x00not a header at all")
    return folder / "headless"


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


# Logs


def text(name: str, content: str) -> Make:
    def make(folder: Path) -> Path:
        (folder / name).write_text(content)
        return folder / name

    return make


def events_wrong_sum(folder: Path) -> Path:
    file = write_tensorboard(folder / "board", falling())
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    return file


def events_without_loss(folder: Path) -> Path:
    return write_tensorboard(folder / "board", falling(), "accuracy")


def events_of_runs(folder: Path) -> Path:
    write_tensorboard(folder / "logs" / "first", falling())
    write_tensorboard(folder / "logs" / "second", falling())
    return folder / "logs"


def later_steps(folder: Path) -> Path:
    (folder / "later.csv").write_text("step,loss\n" + "".join(f"{step},1.5\n" for step in range(5000, 5020)))
    return folder / "later.csv"


# Runs and dumps


def run_of_the_future(folder: Path) -> Path:
    run = record(folder / "run", losses(3))
    told = json.loads((run / "run.json").read_text())
    assert told["format"] == 1
    (run / "run.json").write_text(json.dumps({**told, "format": 99}))
    return run


def run_damaged(content: str) -> Make:
    def make(folder: Path) -> Path:
        run = record(folder / "run", losses(3))
        (run / "run.json").write_text(content)
        return run

    return make


def run_without_ranks(folder: Path) -> Path:
    run = record(folder / "run", losses(3))
    shutil.rmtree(run / "rank-00000")
    return run


def run_damaged_events(folder: Path) -> Path:
    run = record(folder / "run", losses(8))
    lines = (run / "rank-00000" / "events.jsonl").read_text().splitlines()
    lines[2] = lines[2].replace("{", "[")
    (run / "rank-00000" / "events.jsonl").write_text("\n".join(lines) + "\n")
    return run


def only_rank(folder: Path) -> Path:
    (found,) = (copy_dump(folder / "dump") / "step0").iterdir()
    return found


def dump_of_a_later_step(folder: Path) -> Path:
    dump = copy_dump(folder / "dump")
    (dump / "step0").rename(dump / "step7")
    return dump


def dump_damaged(content: str) -> Make:
    def make(folder: Path) -> Path:
        (only_rank(folder) / "dump.json").write_text(content)
        return folder / "dump"

    return make


def dump_list_alone(folder: Path) -> Path:
    (folder / "dump.json").write_text("{")
    return folder / "dump.json"


def dump_cut_tensor(folder: Path) -> Path:
    data = only_rank(folder) / "dump_tensor_data"
    first = sorted(data.iterdir())[0]
    first.write_bytes(first.read_bytes()[:100])
    return folder / "dump"


def mindspore_statistics(folder: Path) -> Path:
    place = folder / "dump" / "rank_0" / "Net" / "0" / "0"
    place.mkdir(parents=True)
    (folder / "dump" / "rank_0" / "execution_order").mkdir()
    (place / "statistic.csv").write_text("Op Type,Op Name\n")
    return folder / "dump"


# (what it is, how it is made, what it is compared with, words the line must have)
BROKEN: list[tuple[str, Make, str, tuple[str, ...]]] = [
    ("missing", missing, "pth", ("nowhere.pth", "No such file")),
    ("pipe", pipe, "curves", ("pipe.log", "not a regular file")),
    ("device", device, "arrays", ("zero.npy", "not a regular file")),
    ("dangling link", dangling, "ckpt", ("latest.ckpt", "No such file")),
    ("link to itself", link_to_itself, "ckpt", ("loop.ckpt", "symbolic links")),
    ("name too long", name_too_long, "arrays", ("xxx", "name too long")),
    ("file as a folder", file_as_folder, "dump", ("step0", "Not a directory")),
    ("refused by the system", refused_by_the_system, "weights", ("/proc/self/mem", "cannot be read: ")),
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
    ("npy: objects", npy_objects, "arrays", ("a.npy", "no plain numbers")),
    ("npy: cut", npy_cut, "arrays", ("b.npy", "cut short")),
    ("npy: headless", npy_headless, "arrays", ("a.npy", "header does not fit")),
    ("npy: absurd", npy_absurd("(1000000000000,)"), "arrays", ("absurd.npy", "cut short")),
    ("npy: overflowing", npy_absurd("(4294967296, 4294967296)"), "arrays", ("absurd.npy", "header does not fit")),
    ("npy: negative", npy_absurd("(-4,)"), "arrays", ("absurd.npy", "header does not fit")),
    ("npz: cut", npz_cut, "weights", ("cut.npz", "not a zip archive, or a damaged one")),
    ("npz: wrong sum", npz_wrong_sum, "weights", ("sum.npz", "fc.weight")),
    ("npz: bomb", npz_bomb, "weights", ("bomb.npz", "fc.weight does not fit its data")),
    ("npz: texts", npz_texts, "weights", ("texts.npz", "no arrays")),
    ("log: no loss", text("train.log", "hello\n12 of 20 done\n"), "curves", ("train.log", "no loss", "--pattern")),
    ("log: random", random_bytes("train.log"), "curves", ("train.log", "not a text log")),
    ("csv: no numbers", text("a.csv", "step,loss\none,much\n"), "csv", ("a.csv", "log")),
    ("csv: head only", text("a.csv", "step,loss\n"), "csv", ("a.csv", "log")),
    ("jsonl: broken", text("a.jsonl", '{"step": 1, "loss\n{"step": 2, "loss\n'), "curves", ("a.jsonl", "no loss")),
    ("no common steps", later_steps, "csv", ("later.csv", "no step in common", "5000..5019", "0..59")),
    ("events: wrong sum", events_wrong_sum, "tensorboard", ("tfevents", "checksum")),
    ("events: no loss", events_without_loss, "tensorboard", ("tfevents", "no training loss")),
    ("events: several runs", events_of_runs, "tensorboard", ("logs", "first, second")),
    ("run: newer", run_of_the_future, "run", ("run.json", "newer TrueLine", "99")),
    ("run: no JSON", run_damaged("{"), "run", ("run.json", "not valid JSON")),
    ("run: other JSON", run_damaged('{"format": 1}'), "run", ("run.json", "not as expected")),
    ("run: no ranks", run_without_ranks, "run", ("no rank",)),
    ("run: damaged events", run_damaged_events, "run", ("events.jsonl", "line 3")),
    ("dump: other steps", dump_of_a_later_step, "dump", ("step in common", "7", "0")),
    ("dump: list in no JSON", dump_list_alone, "dump", ("dump.json", "not valid JSON")),
    ("dump: damaged list", dump_damaged("{"), "dump", ("dump.json", "not valid JSON")),
    ("dump: empty list", dump_damaged('{"data": {}}'), "dump", ("empty dump",)),
    ("dump: tensor cut", dump_cut_tensor, "dump", ("dump_tensor_data",)),
    ("dump: statistics", mindspore_statistics, "dump", ("statistic.csv",)),
]


@pytest.mark.parametrize("side", ["a", "b"])
@pytest.mark.parametrize(("make", "partner", "words"), [one[1:] for one in BROKEN], ids=[one[0] for one in BROKEN])
def test_broken_input_is_one_line(
    good: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Make,
    partner: str,
    words: tuple[str, ...],
    side: str,
) -> None:
    broken = make(tmp_path)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    before = everything_below(tmp_path, good["run"].parent)
    pair = (broken, good[partner]) if side == "a" else (good[partner], broken)
    is_one_line(call("compare", *pair, "-o", "page.html"), *words)
    assert everything_below(tmp_path, good["run"].parent) == before
    assert not (tmp_path / "sentinel").exists()


def test_the_line_is_chinese_too(good: dict[str, Path], tmp_path: Path) -> None:
    for make in (missing, empty_folder, pth_whole_model, npy_cut, events_wrong_sum):
        answer = call("--lang", "zh", "compare", make(tmp_path), good["weights"])
        is_one_line(answer)
        assert any("\u4e00" <= character <= "\u9fff" for character in answer.stderr)


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


@pytest.mark.parametrize("rights", [0, 0o111])
@pytest.mark.parametrize("is_folder", [True, False])
def test_what_may_not_be_read_says_so(is_folder: bool, rights: int) -> None:
    # Not below pytest's own folder, into which only its owner may look.
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        locked = write_npy_folder(place / "locked", {"a": np.ones(3)})
        other = shutil.copytree(locked, place / "other")
        other.chmod(0o755)
        if not is_folder:
            locked, other = Path(shutil.copy(locked / "a.npy", place / "locked.npy")), other / "a.npy"
        locked.chmod(rights)
        with without_rights():
            for pair in ((locked, other), (other, locked)):
                is_one_line(call("compare", *pair), "locked", "Permission denied")
        locked.chmod(0o755)


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ("run", "weights", ("a run folder", "a weight file")),
        ("curves", "arrays", ("a log with a loss curve", "a folder of arrays")),
        ("dump", "run", ("a dump folder", "a run folder")),
        ("pth", "csv", ("a weight file", "a log with a loss curve")),
        ("arrays", "ckpt", ("a folder of arrays", "a weight file")),
        ("tensorboard", "dump", ("a log with a loss curve", "a dump folder")),
    ],
)
def test_different_kinds_are_named(good: dict[str, Path], a: str, b: str, words: tuple[str, ...]) -> None:
    is_one_line(call("compare", good[a], good[b]), str(good[a]), str(good[b]), "two of a kind", *words)


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("weights", ("--rtol", "-1"), ("--rtol", "not negative")),
        ("weights", ("--rtol", "nan"), ("--rtol", "not NaN")),
        ("weights", ("--atol", "inf"), ("--atol",)),
        ("weights", ("--atol", "little"), ("--atol",)),
        ("weights", ("--top", "0"), ("--top",)),
        ("weights", ("--only", "equal"), ("--only", "differing")),
        ("weights", ("--ignore", ""), ("--ignore", "not empty")),
        ("weights", ("--map", "nowhere.txt"), ("nowhere.txt", "No such file")),
        ("weights", ("--map", "folder.html"), ("folder.html", "directory")),
        ("weights", ("--map", "words.txt"), ("words.txt", "line 2", "name = name")),
        ("weights", ("--map", "stars.txt"), ("stars.txt", "equally many *")),
        ("weights", ("--map", "broken.json"), ("broken.json", "not valid JSON")),
        ("weights", ("--map", "broken.toml"), ("broken.toml", "not valid TOML")),
        ("weights", ("--map", "numbers.toml"), ("numbers.toml", "both texts")),
        ("weights", ("--map", "empty.txt"), ("empty.txt", "no rules")),
        ("weights", ("--map", "unused.txt"), ("backbone.* = body.*", "matches no names")),
        ("weights", ("--pattern", "(?P<loss>.)"), ("--pattern", "--pattern is not for")),
        ("curves", ("--pattern", "(?P<loss>"), ("--pattern", "not a regular expression")),
        ("curves", ("--pattern", "loss (.*)"), ("--pattern", "no group named loss")),
        ("curves", ("--pattern", "(?P<loss>verlust)"), ("no line", "train.log")),
        ("weights", ("-o", "page.pdf"), ("page.pdf", ".html")),
        ("weights", ("-o", "nowhere/page.html"), ("nowhere/page.html", "No such file")),
        ("weights", ("-o", "there.html"), ("there.html", "--force")),
        ("weights", ("-o", "folder.html", "--force"), ("folder.html", "directory")),
        ("run", ("--rank", "5"), ("rank 5", "0")),
        ("run", ("--rank", "-1"), ("--rank",)),
        ("dump", ("--rank", "5"), ("rank 5",)),
    ],
)
def test_bad_options_are_one_line(
    good: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    options: tuple[str, ...],
    words: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.txt").write_text("# names\nconv1 is conv1\n")
    (tmp_path / "stars.txt").write_text("layer*.* = stage.*\n")
    (tmp_path / "broken.json").write_text("{'a': 'b'}")
    (tmp_path / "broken.toml").write_text("a = \n")
    (tmp_path / "numbers.toml").write_text('"conv1.weight" = 3\n')
    (tmp_path / "empty.txt").write_text("# nothing yet\n")
    (tmp_path / "unused.txt").write_text("backbone.* = body.*\n")
    (tmp_path / "there.html").write_text("mine")
    (tmp_path / "folder.html").mkdir()
    before = everything_below(tmp_path)
    is_one_line(call("compare", good[kind], good[kind], *options), *words)
    assert everything_below(tmp_path) == before
    assert (tmp_path / "there.html").read_text() == "mine"


def test_nothing_in_common_is_one_clear_sentence(tmp_path: Path) -> None:
    a = write_npz(tmp_path / "a.npz", {"encoder.weight": np.ones((3, 4), np.float32)})
    b = write_npz(tmp_path / "b.npz", {"decoder.table": np.zeros((7, 2, 5), np.float32)})
    answer = call("compare", a, b, "--json")
    assert answer.exit_code == 1
    told = json.loads(answer.stdout)
    assert told["compared"] == 0
    assert "no tensor in common" in told["conclusion"]


def test_runs_without_a_common_rank_say_so(good: dict[str, Path], tmp_path: Path) -> None:
    other = record(tmp_path / "other", losses(3), about=info(world=2))
    (other / "rank-00000").rename(other / "rank-00001")
    is_one_line(call("compare", good["run"], other), "no rank in common")
