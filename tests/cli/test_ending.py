"""How the command line ends: exit codes, one line on stderr, no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli.calling import call, environment, process
from cli.sample_runs import losses, record

INSERT = """
import sys
import click
from trueline.cli.verb import Verb
from trueline.cli.verbs import trueline
from trueline.model.trouble import BadFile

@click.command("show", cls=Verb)
def command():
    {body}

sys.modules["trueline.cli.show"] = type(sys)("trueline.cli.show")
sys.modules["trueline.cli.show"].command = command
trueline.main(["show"])
"""


def ended(body: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """A process whose verb does what the body says."""
    code = INSERT.format(body=body)
    return subprocess.run([sys.executable, "-c", code], env=environment(**changes), capture_output=True, text=True)


def is_one_line(text: str) -> bool:
    return text.startswith("trueline: ") and text.endswith("\n") and text.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("shw",), "no verb shw; did you mean show"),
        (("zzzz",), "no verb zzzz."),
        (("show",), "RUN is missing"),
        (("show", "--stp", "3", "x"), "no option --stp; did you mean --step"),
        (("show", "x", "--rank"), "--rank needs a value"),
        (("show", "x", "--json=1"), "--json takes no value"),
        (("show", "x", "--step", "two"), "--step cannot be used: expected a whole number"),
        (("show", "x", "--step", "-1"), "whole number of at least 0"),
        (("show", "x", "y", "z"), "no use for: y z"),
        (("--lang", "fr", "show", "x"), "--lang cannot be used: expected one of en, zh"),
        (("show", "nowhere"), "nowhere: there is no such folder"),
        (("runs", "nowhere"), "nowhere: there is no such folder"),
    ],
)
def test_bad_usage_is_one_line_and_two(arguments: tuple[str, ...], words: str) -> None:
    answer = call(*arguments)
    assert answer.exit_code == 2
    assert answer.stdout == ""
    assert is_one_line(answer.stderr)
    assert words in answer.stderr


@pytest.mark.parametrize(
    "arguments",
    [("shw",), ("show",), ("show", "--stp"), ("show", "x", "--rank"), ("show", "x", "--json=1"), ("show", "x", "y")],
)
def test_clicks_own_complaints_are_chinese_too(arguments: tuple[str, ...]) -> None:
    answer = call(*arguments, TRUELINE_LANG="zh")
    assert answer.exit_code == 2
    assert is_one_line(answer.stderr)
    assert any("\u4e00" <= character <= "\u9fff" for character in answer.stderr)


def test_trouble_is_one_line_and_two() -> None:
    child = ended('raise BadFile("a.bin", "cut\\n short")')
    assert (child.returncode, child.stdout) == (2, "")
    assert child.stderr == "trueline: a.bin: cut short\n"


def test_control_characters_do_not_reach_the_terminal() -> None:
    child = ended('raise BadFile("\\x1b[2Ja.bin", "bad")')
    assert "\x1b" not in child.stderr


def test_internal_error_is_one_line_and_three() -> None:
    child = ended('raise ZeroDivisionError("by zero")')
    assert child.returncode == 3
    assert is_one_line(child.stderr)
    assert "ZeroDivisionError: by zero" in child.stderr
    assert "bug" in child.stderr


def test_internal_error_shows_its_traceback_when_asked() -> None:
    child = ended('raise ZeroDivisionError("by zero")', TRUELINE_DEBUG="1")
    assert child.returncode == 3
    assert "Traceback" in child.stderr


def test_what_a_verb_returns_is_the_exit_code() -> None:
    assert ended("return 1").returncode == 1
    assert ended("return None").returncode == 0
    assert ended("sys.exit(7)").returncode == 7


def test_interrupt_ends_with_130_in_one_line() -> None:
    code = INSERT.format(body="import time; print('ready', flush=True); time.sleep(60)")
    child = subprocess.Popen(
        [sys.executable, "-c", code], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGINT)
    _, complaint = child.communicate(timeout=30)
    assert child.returncode == 130
    assert "Traceback" not in complaint
    assert complaint.strip() == "trueline: interrupted"


@pytest.mark.parametrize("options", [(), ("--json",), ("--events",)])
def test_a_closed_pipe_ends_quietly(tmp_path: Path, options: tuple[str, ...]) -> None:
    run = record(tmp_path / "run", losses(200))
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "trueline", "show", str(run), *options]
    child = subprocess.run(command, env=environment(), stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (child.returncode, child.stderr) == (0, "")


def test_head_closes_the_pipe_after_the_first_line(tmp_path: Path) -> None:
    run = record(tmp_path / "run", losses(2000), network=False)
    command = f"{sys.executable} -m trueline show {run} --events --json | head -n 1"
    child = subprocess.run(command, shell=True, env=environment(), capture_output=True, text=True)
    assert (child.stdout, child.stderr) == ("{\n", "")


def test_a_folder_name_that_is_not_text_is_no_crash(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/run-\xff"
    record(Path(os.fsdecode(folder)), losses(3))
    for options in ([], ["--json"]):
        child = subprocess.run(
            [sys.executable, "-m", "trueline", "show", folder, *options], env=environment(), capture_output=True
        )
        assert child.returncode == 0, child.stderr


def test_the_installed_entry_is_the_same_command() -> None:
    assert process("--version").stdout.startswith("trueline ")


def test_a_verbs_own_output_is_left_as_the_environment_has_it() -> None:
    # A script that cannot print a character alone must not be able to under `trueline run` either.
    child = ended("return 0 if sys.stdout.errors == 'strict' else 1", PYTHONIOENCODING="ascii")
    assert child.returncode == 0


def test_output_that_cannot_be_written_is_one_line_and_two(tmp_path: Path) -> None:
    record(tmp_path / "run", losses(3))
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "trueline", "show", str(tmp_path / "run")],
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert is_one_line(done.stderr)


@pytest.mark.parametrize("to", ["pipe.html", "device.html"])
def test_what_is_no_file_is_never_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("x\n1\n")
    os.mkfifo("pipe.html")
    Path("device.html").symlink_to("/dev/null")
    before = os.lstat(to)
    for verb in (("data", "manifest"), ("data", "describe"), ("check",), ("compare", "data.csv")):
        answer = call(*verb, "data.csv", "-o", to, "--force")
        assert answer.exit_code == 2, answer.output
        assert is_one_line(answer.stderr) and "not a regular file" in answer.stderr
    assert os.lstat(to) == before


@pytest.mark.parametrize("closed", ["2>&-", "<&- >&- 2>&-"])
def test_a_command_without_stderr_answers_as_ever(tmp_path: Path, closed: str) -> None:
    (tmp_path / "data.csv").write_text("x\n1\n")
    (tmp_path / "train.py").write_text("import sys\nsys.exit(7 if sys.stderr is None else 1)\n")
    for arguments, code in (("data describe data.csv", 0), ("params data.csv", 2), ("run train.py", 7)):
        command = f"{sys.executable} -m trueline {arguments} {closed}"
        child = subprocess.run(command, shell=True, cwd=tmp_path, env=environment(), capture_output=True, text=True)
        assert child.returncode == code, arguments
        assert bool(child.stdout) == (arguments.startswith("data") and closed == "2>&-")


@pytest.mark.parametrize("arguments", ["run {0}", "watch {0}", "check", "params {0}:net", "data debug {0}:net"])
def test_a_folder_that_is_gone_is_one_line_and_two(tmp_path: Path, arguments: str) -> None:
    script = tmp_path / "train.py"
    script.write_text("print('ran')\n")
    (tmp_path / "gone").mkdir()
    command = f"cd gone; rmdir ../gone; {sys.executable} -m trueline {arguments.format(script)}"
    child = subprocess.run(command, shell=True, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert (child.returncode, child.stdout) == (2, "")
    assert child.stderr == "trueline: the current folder is gone; change into one that is there\n"
