"""Whatever `trueline pair` cannot work with: one line that names the side, exit code 2, nothing written."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.broken_files import NOBODY, everything_below, is_one_line
from cli.calling import call, environment

pytestmark = pytest.mark.usefixtures("warm_guests")
PROJECT = Path(__file__).parent / "pair_project"
LINEAR = "broken_sides:linear"
RAISES = "broken_sides:raises"
Words = tuple[str, ...]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project as the folder of work; sides that hang write their ids into ``pids``."""
    copy = tmp_path / "mine"
    shutil.copytree(PROJECT, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "pids").touch()
    monkeypatch.chdir(copy)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    return copy


def _alive(pid: str) -> bool:
    stat = Path("/proc", pid, "stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def is_refused(folder: Path, bench: str, port: str, options: Words, *words: str) -> str:
    """One line with these words; nothing in the folder that was not there before. The line."""
    before = everything_below(folder.parent)
    answer = call("pair", "--bench", bench, "--port", port, *options)
    is_one_line(answer, *words)
    assert everything_below(folder.parent) == before
    return str(answer.stderr)


# What is wrong before a side is started


@pytest.mark.parametrize(
    ("bench", "port", "options", "words"),
    [
        ("net_torch", LINEAR, (), ("net_torch", "module:factory")),
        (LINEAR, ":net", (), (":net", "module:factory")),
        (LINEAR, "net torch:net", (), ("net torch",)),
        (LINEAR, "nets/net.txt:net", (), ("net.txt", "Python file")),
        (LINEAR, LINEAR, ("--args", "[4"), ("--args [4", "not valid JSON")),
        (LINEAR, LINEAR, ("--args", '{"a": 1}'), ("--args", '[10, "small"]')),
        (LINEAR, LINEAR, ("--kwargs", "width=4"), ("--kwargs width=4", "not valid JSON")),
        (LINEAR, LINEAR, ("--kwargs", "[4]"), ("--kwargs", '{"classes": 10}')),
        (LINEAR, LINEAR, ("--bench-kwargs", "{"), ("--bench-kwargs {", "not valid JSON")),
        (LINEAR, LINEAR, ("--port-kwargs", "null"), ("--port-kwargs null",)),
        (LINEAR, LINEAR, ("--input", "2,4"), ("2,4", "2x3x224x224")),
        (LINEAR, LINEAR, ("--input", "2x4", "--input", "2x"), ("2x:", "2x3x224x224")),
        (LINEAR, LINEAR, ("--input", "2x4:complex64"), ("complex64", "float32")),
        (LINEAR, LINEAR, ("--input", "2x4:int8:0-999"), ("0-999", "LOW-HIGH")),
        (LINEAR, LINEAR, ("--input", "99999x99999"), ("99999x99999", "too large")),
        *(
            (LINEAR, LINEAR, ("--timeout", value), ("--timeout", "a number greater than 0."))
            for value in ("0", "-1", "nan", "soon")
        ),
        *(
            (LINEAR, LINEAR, ("--steps", value), ("--steps", "a whole number from 0 to 10000."))
            for value in ("-1", "1.5", "99999")
        ),
        *(
            (LINEAR, LINEAR, ("--seed", value), ("--seed", "a whole number from 0 to 4294967295."))
            for value in ("x", "-1", str(2**64))
        ),
        (LINEAR, LINEAR, ("--map", "nowhere.txt"), ("nowhere.txt", "No such file")),
        (LINEAR, LINEAR, ("--port-python", "/nowhere/python"), ("/nowhere/python", "cannot be started")),
        (LINEAR, LINEAR, ("-o", "page.txt"), ("page.txt", ".html")),
        (LINEAR, LINEAR, ("-o", "nowhere/page.html"), ("nowhere/page.html", "No such file")),
        (LINEAR, LINEAR, ("-o", "net_torch.html"), ("net_torch.html", "--force")),
        (LINEAR, LINEAR, ("--write-tests", "net_torch.py"), ("net_torch.py", "--force")),
        (LINEAR, LINEAR, ("--write-tests", "nowhere/test_port.py"), ("nowhere/test_port.py", "No such file")),
        (LINEAR, LINEAR, ("--write-tests", "."), ("directory",)),
        (LINEAR, LINEAR, ("-o", f"{'x' * 300}.html"), ("xxx.html", "too long")),
        (RAISES, RAISES, ("--write-tests", "test_mine.py"), ("test_mine.npz", "--force")),
        (RAISES, RAISES, ("--write-tests", "test_new.npz"), ("test_new.npz", ".py")),
    ],
)
def test_what_is_no_good_from_the_start(folder: Path, bench: str, port: str, options: Words, words: Words) -> None:
    (folder / "net_torch.html").write_text("mine")
    (folder / "test_mine.npz").write_text("mine")
    is_refused(folder, bench, port, options, *words)
    assert (folder / "net_torch.html").read_text() == "mine"
    assert (folder / "test_mine.npz").read_text() == "mine"


@contextlib.contextmanager
def _as_nobody() -> Iterator[None]:
    """Root may write anywhere, and is not asked: nobody in every respect, where root runs the tests."""
    if os.geteuid() != 0:
        yield
        return
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


@pytest.mark.parametrize("rights", [0o555, 0o000], ids=["may be looked into", "may not"])
@pytest.mark.parametrize(("option", "name"), [("-o", "page.html"), ("--write-tests", "test_port.py")])
def test_a_place_that_may_not_be_written_to(option: str, name: str, rights: int) -> None:
    # Not below pytest's own folder, into which only its owner may look.
    with tempfile.TemporaryDirectory() as home:
        place = Path(home, "locked")
        place.mkdir()
        Path(home).chmod(0o755)
        place.chmod(rights)
        command = ("pair", "--bench", "a:b", "--port", "a:b", option)
        # All that this takes is imported by now: nobody may not be able to.
        is_one_line(call(*command, place / "nowhere" / name), name, "No such file")
        with _as_nobody():
            answer = call(*command, place / name)
        is_one_line(answer, name, "Permission denied")
        assert not list(place.iterdir())


# What is wrong with a side


@pytest.mark.parametrize(
    ("bench", "words"),
    [
        ("broken_sides:raises", ("broken_sides:raises: ", "ValueError: no such depth (broken_sides.py:")),
        ("absent:net", ("absent:net: ", "there is no module absent")),
        ("absent.py:net", ("absent.py:net: ", "there is no file absent.py")),
        ("broken_sides:raise", ("broken_sides:raise: ", "did you mean raises")),
        ("broken_sides:leaves", ("bench broken_sides:leaves: ", "the factory ended the process", "code 3")),
        ("broken_sides:gives_no_model", ("broken_sides:gives_no_model: ", "dict", "torch.nn.Module")),
    ],
)
def test_a_benchmark_that_cannot_be_built(folder: Path, bench: str, words: Words) -> None:
    is_refused(folder, bench, "broken_sides:hangs", (), *words)


@pytest.mark.parametrize("side", ["bench", "port"])
def test_a_factory_that_wants_arguments_is_told_where_to_give_them(folder: Path, side: str) -> None:
    wants = "broken_sides:wants_arguments"
    sides = (wants, LINEAR) if side == "bench" else (LINEAR, wants)
    words = (f"{side} {wants}: ", "depth, width", "--args", "--kwargs", f"--{side}-kwargs")
    is_refused(folder, *sides, (), *words)


def test_a_factory_that_runs_out_of_memory(folder: Path) -> None:
    name = "broken_sides:too_much"
    line = is_refused(folder, name, "broken_sides:hangs", (), f"{name}: ", "emory", "(broken_sides.py:")
    assert ": - (" not in line


def test_a_factory_that_crashes(folder: Path) -> None:
    line = is_refused(folder, "broken_sides:crashes", "broken_sides:hangs", (), "broken_sides:crashes: ", "SIGABRT")
    # The interpreter's own last words, a list of its modules, help nobody.
    assert "Extension modules" not in line


def test_a_side_that_hangs_is_given_up_where_asked(folder: Path) -> None:
    options = ("--bench", "broken_sides:hangs", "--port", "broken_sides:hangs", "--timeout", "3")
    answer = call("pair", *options)
    assert (answer.exit_code, answer.stdout) == (2, "")
    waiting, said = answer.stderr.splitlines()
    assert waiting.startswith("waiting for an answer of bench broken_sides:hangs")
    assert said.startswith("trueline: ") and "broken_sides:hangs: no answer within 3 seconds" in said
    assert not any(_alive(pid) for pid in (folder / "pids").read_text().split())


@pytest.mark.parametrize(
    ("port", "options", "words"),
    [
        ("broken_sides:crashes_in_its_forward", (), ("SIGABRT",)),
        ("absent:net", (), ("there is no module absent",)),
        ("broken_sides:raises", (), ("ValueError: no such depth (broken_sides.py:",)),
        ("broken_sides:too_much_in_its_forward", (), ("allocate memory", "(broken_sides.py:")),
        ("broken_sides:lacks_a_kernel", (), ("no kernel", "geqrf", "(broken_sides.py:")),
        ("net_torch:net", ("--input", "2x4"), ("2x4", "(net_torch.py:")),
        ("broken_sides:linear", ("--port-kwargs", '{"width": 5}', "--input", "2x4"), ("2x4",)),
        ("broken_sides:linear", ("--port-kwargs", '{"depth": 5}'), ("unexpected keyword argument 'depth'",)),
    ],
)
def test_a_port_that_cannot_be_built_or_run(folder: Path, port: str, options: Words, words: Words) -> None:
    is_refused(folder, LINEAR, port, options, f"{port}: ", *words)


def test_two_sides_of_one_name_are_told_apart(folder: Path) -> None:
    line = is_refused(folder, LINEAR, LINEAR, ("--port-kwargs", '{"depth": 5}'), LINEAR)
    assert "port" in line


# What is wrong with the files


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def bench_loss(:", ("SyntaxError", "bad_parts.py:1")),
        (None, ("bad_parts.py",)),
        ("epochs = 1 / 0", ("ZeroDivisionError", "bad_parts.py:1")),
        ("def bench_los(): ...", ("bench_los", "did you mean bench_loss")),
        ("def helper(): ...", ("bad_parts.py", "loss")),
    ],
)
def test_a_file_with_parts_that_is_no_good(folder: Path, text: str | None, words: Words) -> None:
    if text is not None:
        (folder / "bad_parts.py").write_text(text)
    line = is_refused(folder, LINEAR, LINEAR, ("--parts", "bad_parts.py"), *words)
    assert line.startswith("trueline: bad_parts.py")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("text.pth", b"not weights", ("text.pth",)),
        ("nowhere.pth", None, ("nowhere.pth", "No such file")),
        ("empty.pth", b"", ("empty.pth",)),
        (".", None, ("mine", "folder")),
    ],
)
def test_a_weight_file_that_is_none(folder: Path, name: str, content: bytes | None, words: Words) -> None:
    if content is not None:
        (folder / name).write_bytes(content)
    is_refused(folder, LINEAR, LINEAR, ("--weights", name), *words)


def test_weights_of_another_network(folder: Path) -> None:
    import torch

    torch.save({"weight": torch.ones(4, 9), "bias": torch.ones(4)}, folder / "other.pth")
    torch.save({"strange": torch.ones(4, 9)}, folder / "strange.pth")
    is_refused(folder, LINEAR, LINEAR, ("--weights", "other.pth"), LINEAR, "other.pth", "weight")
    is_refused(folder, LINEAR, LINEAR, ("--weights", "strange.pth"), LINEAR, "strange.pth")


def test_a_module_that_the_port_does_not_have(folder: Path) -> None:
    options = ("--input", "2x3x8x8", "--module", "block.nrom")
    is_refused(folder, "net_torch:net", "net_torch:net", options, "net_torch:net", "block.nrom", "block.norm")


def test_inputs_that_cannot_be_guessed(folder: Path) -> None:
    is_refused(folder, "broken_sides:own_layer", LINEAR, (), "broken_sides:own_layer: ", "--input")


# Ended in the middle


@pytest.fixture(params=[signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def interrupted(request: pytest.FixtureRequest, folder: Path) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """A command line that was asked to end while both its sides were at work, and the ids of the sides' processes."""
    command = [sys.executable, "-m", "trueline", "pair", "-o", "page.html"]
    child = subprocess.Popen(
        [*command, "--bench", "broken_sides:hangs", "--port", "broken_sides:hangs"],
        env=environment(PYTHONDONTWRITEBYTECODE="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    pids = folder / "pids"
    until = time.monotonic() + 120
    while pids.read_text().count("\n") < 2:
        assert child.poll() is None and time.monotonic() < until, child.communicate()
        time.sleep(0.05)
    child.send_signal(request.param)
    yield child, pids.read_text().split()
    child.kill()


def test_no_process_and_no_file_is_left(interrupted: tuple[subprocess.Popen[str], list[str]], folder: Path) -> None:
    child, pids = interrupted
    out, complaint = child.communicate(timeout=60)
    assert child.returncode in (128 + signal.SIGINT, 128 + signal.SIGTERM)
    assert out == ""
    assert "Traceback" not in complaint
    assert complaint.strip() in ("", "trueline: interrupted")
    assert not any(_alive(pid) for pid in pids)
    assert {one.name for one in folder.iterdir()} - {one.name for one in PROJECT.iterdir()} == {"pids"}


@pytest.mark.usefixtures("folder")
def test_the_line_is_chinese_where_asked() -> None:
    options = ("--bench", "broken_sides:raises", "--port", "broken_sides:hangs")
    answer = call("pair", *options, TRUELINE_LANG="zh")
    assert answer.exit_code == 2
    assert answer.stderr.count("\n") == 1
    assert "broken_sides:raises" in answer.stderr
    assert any("\u4e00" <= character <= "\u9fff" for character in answer.stderr)
