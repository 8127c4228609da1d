"""Whatever `trueline compare` is given that cannot be compared: one line with the file and the reason, exit code 2."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from cli.broken_files import (
    BROKEN_WEIGHTS,
    Make,
    Malicious,
    empty_folder,
    everything_below,
    is_one_line,
    missing,
    npy_absurd,
    pth_whole_model,
    random_bytes,
    text,
    without_rights,
)
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
    write_tensorboard,
)
from cli.sample_runs import info, losses, record


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


# Logs


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
    *BROKEN_WEIGHTS,
    ("npy: objects", npy_objects, "arrays", ("a.npy", "no plain numbers")),
    ("npy: cut", npy_cut, "arrays", ("b.npy", "cut short")),
    ("npy: headless", npy_headless, "arrays", ("a.npy", "header does not fit")),
    ("npy: absurd", npy_absurd("(1000000000000,)"), "arrays", ("absurd.npy", "cut short")),
    ("npy: overflowing", npy_absurd("(4294967296, 4294967296)"), "arrays", ("absurd.npy", "header does not fit")),
    ("npy: negative", npy_absurd("(-4,)"), "arrays", ("absurd.npy", "header does not fit")),
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
