"""Whatever `trueline convert` cannot convert: one line with the reason, exit code 2, nothing written."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.broken_files import (
    BROKEN_WEIGHTS,
    Make,
    Malicious,
    everything_below,
    is_one_line,
    pth_cut,
    pth_malicious,
    pth_whole_model,
    text,
    without_rights,
)
from cli.calling import call, environment
from cli.converted_files import convert, loaded, same, write_sparse
from cli.made_files import copy_dump, falling, weights, write_log, write_npy_folder, write_npz
from cli.sample_runs import losses, record

FORMATS = ("pth", "ckpt", "safetensors", "npz")
# Where a file of a kind is mostly taken to.
OTHER = {"pth": "ckpt", "ckpt": "pth", "safetensors": "ckpt", "weights": "safetensors", "arrays": "npz", "run": "pth"}

Options = tuple[str, ...]


@pytest.fixture(autouse=True)
def _no_large_files() -> Iterator[None]:
    """Whatever a bomb manages to write ends here and not with the disk full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (256 << 20, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """A folder to write into, with something in it already."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    return tmp_path / "out" / "model"


def is_refused(source: Path, to: Path, options: Options, *words: str) -> None:
    """One line; nothing of the output, nothing half, nothing run, and the source as it was."""
    top = to.parent.parent
    before = everything_below(top)
    is_one_line(call("convert", source, to, *options), *words)
    assert everything_below(top) == before
    assert not (top / "sentinel").exists()


# Broken files


@pytest.mark.parametrize(
    ("make", "kind", "words"), [one[1:] for one in BROKEN_WEIGHTS], ids=[one[0] for one in BROKEN_WEIGHTS]
)
def test_broken_input_is_one_line(tmp_path: Path, output: Path, make: Make, kind: str, words: Options) -> None:
    to = output.with_suffix(f".{OTHER.get(kind, 'ckpt')}")
    is_refused(make(tmp_path), to, (), *words)
    # Also where the old file would be replaced.
    to.write_bytes(b"mine")
    is_refused(tmp_path / "nowhere.pth", to, ("--force",), "nowhere.pth")
    assert to.read_bytes() == b"mine"


def run_folder(folder: Path) -> Path:
    return record(folder / "run", losses(3))


def a_dump(folder: Path) -> Path:
    return copy_dump(folder / "dump")


def a_log(folder: Path) -> Path:
    return write_log(folder / "train.log", falling())


def folder_of_arrays(folder: Path) -> Path:
    return write_npy_folder(folder / "arrays", {"a": np.ones(3)})


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (run_folder, "a run folder"),
        (a_dump, "a dump folder"),
        (a_log, "a log with a loss curve"),
        (folder_of_arrays, "a folder of arrays"),
        (text("a.csv", "step,loss\n1,2\n2,3\n3,4\n"), "a log with a loss curve"),
    ],
)
def test_what_is_no_weight_file_is_told(tmp_path: Path, output: Path, make: Make, kind: str) -> None:
    source = make(tmp_path)
    is_refused(source, output.with_suffix(".ckpt"), (), source.name, kind)


@pytest.mark.parametrize("option", ["--like", "--map"])
@pytest.mark.parametrize("make", [pth_cut, pth_malicious, pth_whole_model])
def test_every_other_file_is_taken_for_hostile_too(tmp_path: Path, output: Path, make: Make, option: str) -> None:
    source = write_npz(tmp_path / "good.npz", weights())
    broken = make(tmp_path)
    is_refused(source, output.with_suffix(".ckpt"), (option, str(broken)), broken.name)


def test_nothing_runs_wherever_it_is_hidden(tmp_path: Path, output: Path) -> None:
    import torch

    evil = Malicious(tmp_path / "sentinel")
    state = {"fc.weight": torch.ones(2, 2)}
    for place, held in enumerate(
        (
            {"state_dict": state, "optimizer": {"state": {0: {"exp_avg": evil}}, "param_groups": []}},
            {"state_dict": state, "epoch": evil},
            {**state, "fc.bias": evil},
            {"state_dict": state, "args": {"a": [1, (2, evil)]}},
        )
    ):
        for legacy in (False, True):
            source = tmp_path / f"{place}{legacy}.pth"
            torch.save(held, source, _use_new_zipfile_serialization=not legacy)
            is_refused(source, output.with_suffix(".pth"), ("--keep", "all"), source.name, "posix.system")


# What only a writer meets


def torch_file(make: Callable[[Any], dict[str, Any]]) -> Make:
    """A file of torch.save; ``make`` is given torch."""

    def written(folder: Path) -> Path:
        import torch

        torch.save(make(torch), folder / "net.pth")
        return folder / "net.pth"

    return written


def named(name: str) -> Make:
    return torch_file(lambda torch: {name: torch.ones(2, 2), "fc.weight": torch.ones(3, 3), "fc.bias": torch.ones(3)})


def typed(dtype: str) -> Make:
    return torch_file(lambda torch: {"odd": torch.ones(3).to(getattr(torch, dtype)), "fc.weight": torch.ones(2, 2)})


def bomb(torch: Any) -> Any:
    """A million of millions of elements, all of them one."""
    return torch.zeros(1).expand(10**6, 10**6)


def norm_and_more(torch: Any) -> dict[str, Any]:
    leaves = ("weight", "bias", "running_mean", "running_var", "gamma")
    return {f"bn.{leaf}": torch.ones(2) for leaf in leaves}


def trained(**changes: Any) -> Make:
    """A training checkpoint in whose optimizer something is not as it should be."""

    def make(torch: Any) -> dict[str, Any]:
        net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
        optimizer = torch.optim.Adam(net.parameters())
        net(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        state = optimizer.state_dict()
        state["state"][0] |= {name: one(torch) for name, one in changes.items() if name != "betas"}
        state["param_groups"][0] |= {name: one(torch) for name, one in changes.items() if name == "betas"}
        return {"state_dict": net.state_dict(), "optimizer": state}

    return torch_file(make)


def shared_by(groups: Callable[[Any], Any]) -> Make:
    """A checkpoint whose optimizer was given these parameters of two layers of one shape."""

    def make(torch: Any) -> dict[str, Any]:
        net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
        optimizer = torch.optim.Adam(groups(net))
        net(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        return {"state_dict": net.state_dict(), "optimizer": optimizer.state_dict()}

    return torch_file(make)


def swapped(net: Any) -> Any:
    return [{"params": net[1].parameters()}, {"params": net[0].parameters()}]


KEEP: Options = ("--keep", "optimizer")
MAP: Options = ("--map", "names.txt")

# (what it is, how it is made, what it is to become, options, words the line must have)
HOSTILE: list[tuple[str, Make, str, Options, Options]] = [
    *(
        (f"bomb: {to}", torch_file(lambda torch: {"w": bomb(torch)}), to, (), ("net.pth", "w does not fit its data"))
        for to in FORMATS
    ),
    (
        "bombs: each small enough",
        torch_file(lambda torch: {f"w{one}": torch.zeros(1).expand(1 << 14, 1 << 14) for one in range(4000)}),
        "npz",
        (),
        ("net.pth", "more work than"),
    ),
    (
        "bombs: in the optimizer",
        torch_file(
            lambda torch: {
                "state_dict": {"w": torch.ones(2)},
                "optimizer": {
                    "state": {one: {"exp_avg": torch.zeros(1).expand(1 << 14, 1 << 14)} for one in range(4000)},
                    "param_groups": [],
                },
            }
        ),
        "pth",
        KEEP,
        ("net.pth", "more work than"),
    ),
    ("name: out of the folder", named("../../etc/passwd"), "npz", (), ("../../etc/passwd", "--drop")),
    ("name: out of the folder, safetensors", named("a/../../b"), "safetensors", (), ("a/../../b", "--drop")),
    ("name: absolute", named("/etc/passwd"), "npz", (), ("/etc/passwd", "--drop")),
    ("name: NUL to npz", named("a\0b"), "npz", (), ("a?b", "--drop")),
    ("name: NUL to ckpt", named("a\0b"), "ckpt", (), ("a?b", "--drop")),
    ("name: NUL to safetensors", named("a\0b"), "safetensors", (), ("a?b", "--drop")),
    ("name: empty", named(""), "ckpt", (), ("name", "--drop")),
    ("name: no text", named("\ud800"), "safetensors", (), ("no valid text", "--drop")),
    ("name: reserved", named("__metadata__"), "safetensors", (), ("__metadata__", "--drop")),
    ("name: long to ckpt", named("x" * 3000), "ckpt", (), ("1024 characters", "--drop")),
    ("name: ten thousand characters", named("x" * 10_000), "ckpt", (), ("net.pth",)),
    ("names: the same in the end", torch_file(norm_and_more), "ckpt", (), ("bn.weight and bn.gamma", "--map")),
    ("names: the same by a rule", named("a.weight"), "ckpt", MAP, ("a.weight and fc.weight", "both become same")),
    ("names: the same without a prefix", named("m.fc.weight"), "pth", ("--strip", "m."), ("m.", "fc.weight")),
    ("complex64 to ckpt", typed("complex64"), "ckpt", (), ("complex64", "odd", "--drop 'odd'")),
    ("complex128 to ckpt", typed("complex128"), "ckpt", (), ("complex128", "odd", "--drop 'odd'")),
    ("complex128 to safetensors", typed("complex128"), "safetensors", (), ("complex128", "odd", "--drop 'odd'")),
    ("float8 to npz", typed("float8_e4m3fn"), "npz", (), ("float8_e4m3fn", "odd", "--drop 'odd'")),
    ("float8 to ckpt", typed("float8_e5m2"), "ckpt", (), ("float8_e5m2", "odd", "--drop 'odd'")),
    ("nothing but empty", torch_file(lambda torch: {"a": torch.ones(0)}), "ckpt", (), ("nothing is left",)),
    ("sparse tensor", torch_file(lambda torch: {"a": torch.eye(3).to_sparse()}), "ckpt", (), ("net.pth", "sparse")),
    ("step: NaN", trained(step=lambda torch: torch.tensor(float("nan"))), "ckpt", KEEP, ("optimizer.state.0.step",)),
    ("step: infinite", trained(step=lambda _: float("inf")), "ckpt", KEEP, ("optimizer.state.0.step",)),
    ("step: huge", trained(step=lambda _: 10**30), "ckpt", KEEP, ("optimizer.state.0.step",)),
    ("step: below zero", trained(step=lambda _: -3), "ckpt", KEEP, ("optimizer.state.0.step",)),
    ("betas: none", trained(betas=lambda _: None), "ckpt", KEEP, ("optimizer.param_groups.0.betas",)),
    ("betas: texts", trained(betas=lambda _: ("a", "b")), "ckpt", KEEP, ("optimizer.param_groups.0.betas",)),
    ("betas: huge", trained(betas=lambda _: (1e300, 0.9)), "ckpt", KEEP, ("optimizer.param_groups.0.betas",)),
    ("moment: of another shape", trained(exp_avg=lambda torch: torch.ones(7)), "ckpt", KEEP, ("state.0.exp_avg",)),
    (
        "moments: of a frozen net",
        shared_by(lambda net: net[1].parameters()),
        "ckpt",
        KEEP,
        ("not decided",),
    ),
    ("moments: of groups", shared_by(swapped), "ckpt", KEEP, ("not decided",)),
    (
        "moments: of what is dropped",
        shared_by(lambda net: net.parameters()),
        "ckpt",
        (*KEEP, "--drop", "0.*"),
        ("not decided",),
    ),
]


@pytest.mark.parametrize(
    ("make", "to", "options", "words"), [one[1:] for one in HOSTILE], ids=[one[0] for one in HOSTILE]
)
def test_hostile_input_is_one_line(
    tmp_path: Path,
    output: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Make,
    to: str,
    options: Options,
    words: Options,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "names.txt").write_text("a.weight = same\nfc.weight = same\n")
    is_refused(make(tmp_path), output.with_suffix(f".{to}"), options, *words)


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("name", [".".join("a" * 2000), "../x", "a\nb\x1b[2J", "卷积.weight", ".", "a..b", ".a", "a."])
def test_odd_names_are_written_as_they_are_or_refused(tmp_path: Path, output: Path, to: str, name: str) -> None:
    source = named(name)(tmp_path)
    target = output.with_suffix(f".{to}")
    answer = call("convert", source, target)
    assert "\x1b" not in answer.output
    if answer.exit_code:
        is_one_line(answer, "--drop")
        assert not target.exists()
    else:
        assert set(loaded(target)) == {name, "fc.weight", "fc.bias"}


# Places


def good(folder: Path) -> Path:
    return write_npz(folder / "good.npz", weights())


@pytest.mark.parametrize(
    ("to", "options", "words"),
    [
        ("nowhere/model.ckpt", (), ("nowhere/model.ckpt", "No such file")),
        ("folder.ckpt", (), ("folder.ckpt", "directory")),
        ("folder.ckpt", ("--force",), ("folder.ckpt", "directory")),
        ("model", (), ("model", ".safetensors", "--to")),
        ("model.txt", (), ("model.txt", ".safetensors", "--to")),
        ("model.safetensors.gz", (), ("model.safetensors.gz", "--to")),
        ("dangling.ckpt", (), ("dangling.ckpt", "--force")),
        ("linked.ckpt", (), ("linked.ckpt", "--force")),
        ("pipe.ckpt", (), ("pipe.ckpt", "--force")),
        ("pipe.ckpt", ("--force",), ("pipe.ckpt", "not a regular file")),
        ("device.ckpt", ("--force",), ("device.ckpt", "not a regular file")),
        ("x" * 300 + ".ckpt", (), ("xxx", "File name too long")),
        ("file.txt/model.ckpt", (), ("file.txt/model.ckpt",)),
        ("good.npz", (), ("good.npz", "--force")),
        ("good.npz", ("--force",), ("same file",)),
        ("other name.npz", ("--force",), ("same file",)),
    ],
)
def test_places_that_cannot_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: str, options: Options, words: Options
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    source = good(here)
    (here / "folder.ckpt").mkdir()
    (here / "file.txt").write_text("mine")
    (here / "dangling.ckpt").symlink_to(here / "gone.ckpt")
    (here / "linked.ckpt").symlink_to(here / "file.txt")
    (here / "other name.npz").symlink_to(source)
    os.mkfifo(here / "pipe.ckpt")
    (here / "device.ckpt").symlink_to("/dev/null")
    is_refused(Path("good.npz"), here / to, options, *words)
    assert same(loaded(source), weights())
    assert (here / "file.txt").read_text() == "mine"


def test_a_folder_that_may_not_be_written_to() -> None:
    # Not below pytest's own folder, into which only its owner may look.
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        source = good(place)
        (place / "locked").mkdir()
        for one, rights in ((place, 0o755), (source, 0o644), (place / "locked", 0o555)):
            one.chmod(rights)
        with without_rights():
            is_one_line(call("convert", source, place / "locked" / "out.ckpt"), "out.ckpt", "Permission denied")
        assert not list((place / "locked").iterdir())


def test_a_file_that_may_not_be_read() -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o777)
        source = good(place)
        source.chmod(0)
        with without_rights():
            is_one_line(call("convert", source, place / "out.ckpt"), "good.npz", "Permission denied")
        assert [one.name for one in place.iterdir()] == ["good.npz"]


def test_a_link_is_replaced_and_not_what_it_leads_to(tmp_path: Path) -> None:
    source = good(tmp_path)
    (tmp_path / "precious.txt").write_text("mine")
    (tmp_path / "out.ckpt").symlink_to(tmp_path / "precious.txt")
    convert(source, tmp_path / "out.ckpt", "--force")
    assert not (tmp_path / "out.ckpt").is_symlink()
    assert (tmp_path / "precious.txt").read_text() == "mine"


# Options


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--strip", "encoder."), ("encoder.", "no name has the prefix")),
        (("--drop", "encoder.*"), ("encoder.*", "no name matches")),
        (("--drop", "*"), ("nothing is left",)),
        (("--keep", "optimizer"), ("optimizer", "no section")),
        (("--shard", "1MB"), ("--shard", ".safetensors")),
        (("--to", "safetensors", "--shard", "much"), ("much", "500MB")),
        (("--to", "safetensors", "--shard", "0"), ("0", "500MB")),
        (("--to", "safetensors", "--shard", "9" * 400 + "GB"), ("999", "500MB")),
        (("--to", "safetensors", "--shard", "-5MB"), ("-5MB", "500MB")),
        (("--to", "onnx"), ("--to", "pth, ckpt, safetensors, npz")),
        (("--names", "jax"), ("--names", "torch, mindspore, same")),
        (("--like", "nowhere.ckpt"), ("nowhere.ckpt", "No such file")),
        (("--like", "good.npz", "--model", "nets:net"), ("--model", "--like")),
        (("--like", "good.npz", "--add", "net."), ("--add", "--like")),
        (("--map", "nowhere.txt"), ("nowhere.txt", "No such file")),
        (("--map", "unused.txt"), ("backbone.* = body.*", "matches no names")),
        (("--map", "unused.txt", "--like", "good.npz"), ("backbone.* = body.*", "matches no names")),
        (("--map", "words.txt"), ("words.txt", "line 2")),
        (("--map", "broken.json"), ("broken.json", "not valid JSON")),
        (("--map", "broken.toml"), ("broken.toml", "not valid TOML")),
        (("--map", "twice.txt"), ("conv1.weight and fc.weight", "both become same")),
        (("--model", "nets"), ("nets", "module:factory")),
        (("--model", "no_such_module:net"), ("no_such_module",)),
        (("--verify", "a:b"), ("--verify",)),
        (("--input", "2x3"), ("--input", "--verify")),
    ],
)
def test_bad_options_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: Options, words: Options
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    good(here)
    (here / "unused.txt").write_text("backbone.* = body.*\n")
    (here / "words.txt").write_text("# names\nconv1 is conv1\n")
    (here / "broken.json").write_text("{'a': 'b'}")
    (here / "broken.toml").write_text("a = \n")
    (here / "twice.txt").write_text("conv1.weight = same\nfc.weight = same\n")
    is_refused(Path("good.npz"), here / "out.ckpt", options, *words)


# Room


def test_what_there_is_no_room_for_is_refused_at_once(tmp_path: Path, output: Path) -> None:
    limit, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    source = write_sparse(tmp_path / "large.safetensors", shutil.disk_usage(tmp_path).free + (1 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
    for to in FORMATS:
        is_refused(source, output.with_name(f"other.{to}"), (), f"other.{to}", "no room")


@pytest.mark.parametrize("to", FORMATS)
def test_a_disk_that_is_full_leaves_nothing(tmp_path: Path, output: Path, to: str) -> None:
    source = write_sparse(tmp_path / "large.npz.safetensors", 8 << 20)
    target = output.with_suffix(f".{to}")
    target.write_bytes(b"mine")
    before = everything_below(tmp_path)
    ended = subprocess.run(
        [sys.executable, "-m", "trueline", "convert", str(source), str(target), "--force"],
        env=environment(),
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)),
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.count("\n") == 1
    assert f"model.{to}" in ended.stderr
    assert "File too large" in ended.stderr
    # It is writing that failed.
    assert "read" not in ended.stderr
    assert everything_below(tmp_path) == before
    assert target.read_bytes() == b"mine"
