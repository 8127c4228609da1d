"""What is not a regular file is not opened by anything that reads files which others name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from trueline.model.regular_file import NotRegular, open_regular

SCRIPT = """
import json, tomllib
import numpy as np
import torch
import yaml
import pipe
settings = [yaml.safe_load(open("/dev/zero")), json.load(open("/dev/stdin")), yaml.safe_load(open("pipe.yaml")),
            tomllib.load(open("pipe.toml", "rb")), yaml.safe_load(open("/proc/kmsg")), np.load("pipe.npy"),
            torch.load("zero.pth"), json.load(open("/proc/self/fd/0"))]
"""
PIPES = ("pipe.py", "pipe.yaml", "pipe.toml", "pipe.npy", "pipe.pth", "pipe.csv", "pipe.log", "pyproject.toml")
VERBS = [
    ["check", "train.py"],
    ["check", "."],
    *(["params", name] for name in ("pipe.pth", "zero.pth", "kernel.pth", "/dev/stdin")),
    *(["data", "describe", name] for name in ("pipe.csv", "pipe.npy", "zero.csv", "kernel.csv")),
    ["compare", "pipe.log", "pipe.log"],
    ["compare", "zero.pth", "pipe.pth"],
    ["convert", "pipe.pth", "made.npz"],
]
# The interpreter itself says what is opened.
CHILD = """
import json, os, stat, sys
found = []
def hear(event, args):
    if event == "open" and isinstance(args[0], str | bytes):
        name = os.fsdecode(args[0])
        try:
            plain = stat.S_ISREG(os.stat(name).st_mode) and not os.path.realpath(name).startswith("/proc/k")
        except OSError:
            return
        if not plain and not os.path.isdir(name) and name not in ("/dev/null", "/dev/urandom", "/dev/tty"):
            found.append(name)
sys.addaudithook(hear)
from trueline.cli.main import main
for verb in json.load(open("verbs.json")):
    found.clear()
    sys.argv = ["trueline", *verb]
    try:
        code = main()
    except SystemExit as end:
        code = end.code
    print("DONE", json.dumps([verb, code, found]), flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with pipes, devices and files of the system under ordinary names."""
    for name in PIPES:
        os.mkfifo(tmp_path / name)
    for name, aim in (("zero", "/dev/zero"), ("kernel", "/proc/kmsg")):
        for ending in (".pth", ".csv"):
            (tmp_path / f"{name}{ending}").symlink_to(aim)
    (tmp_path / "train.py").write_text(SCRIPT, "utf-8")
    return tmp_path


def test_no_verb_opens_a_pipe_a_device_or_a_file_of_the_system(folder: Path) -> None:
    (folder / "verbs.json").write_text(json.dumps(VERBS), "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", CHILD], cwd=folder, stdin=subprocess.PIPE, capture_output=True, text=True, check=False
    )
    answers = [json.loads(line[5:]) for line in done.stdout.splitlines() if line.startswith("DONE ")]
    assert [verb for verb, _, _ in answers] == VERBS, done.stderr
    assert [(verb, opened) for verb, _, opened in answers if opened] == []
    assert {code for verb, code, _ in answers if verb[0] != "check"} == {2}


def test_a_regular_file_is_opened_and_nothing_else(folder: Path) -> None:
    (folder / "empty").touch()
    (folder / "link").symlink_to("train.py")
    for name in ("train.py", "empty", "link"):
        with os.fdopen(open_regular(folder / name), "rb") as file:
            assert file.read() == (folder / name).read_bytes()
    for path in (*(folder / name for name in PIPES), Path("/dev/zero"), Path("/proc/version"), folder / "zero.csv"):
        with pytest.raises(NotRegular):
            open_regular(path)
    with pytest.raises(IsADirectoryError):
        open_regular(folder)
    with pytest.raises(FileNotFoundError):
        open_regular(folder / "nothing")


def test_what_a_file_has_become_between_looking_and_opening_is_let_go(folder: Path) -> None:
    # Real swaps of a file and a pipe, as fast as another process can.
    (folder / "swapped").write_bytes(b"text")
    swapping = "import os\nfor _ in range(800):\n os.replace('pipe.csv', 'swapped'); os.mkfifo('pipe.csv')\n" \
        " open('new', 'w').write('text'); os.replace('new', 'swapped')\n"  # fmt: skip
    with subprocess.Popen([sys.executable, "-c", swapping], cwd=folder) as other:
        while other.poll() is None:
            try:
                descriptor = open_regular(folder / "swapped")
            except NotRegular:
                continue
            with os.fdopen(descriptor, "rb") as file:
                assert file.read() == b"text"
