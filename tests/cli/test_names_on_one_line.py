"""Nothing that a file is called, or has in it, steers a terminal or breaks one of its lines."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cli.calling import call
from click.testing import Result
from safetensors.numpy import save_file

NAME = "net.\n\x1b[31mred\r\t\x9b2J\u202e.weight"
FILE = "called\n\x1b[2J"
# What a line would begin with, if one had been broken.
BROKEN = ("\x1b", "\\x1b")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files whose names, and the names in them, have all that a terminal listens to."""
    folder = tmp_path_factory.mktemp("names")
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    save_file({NAME: array, "a.bias": array[0].copy()}, folder / "a.safetensors")
    save_file({f"{NAME}2": array + 1, "a.bias": array[0] + 1}, folder / "b.safetensors")
    np.savez(folder / "a.npz", **{"net.\n\x1b[31mred": array})
    (folder / f"{FILE}.safetensors").write_bytes((folder / "a.safetensors").read_bytes())
    (folder / f"{FILE}.pth").write_bytes(b"junk")
    (folder / f"{FILE}.py").write_text("import torch\nnet = torch.nn.Linear(2, 2)\nnet(torch.ones(", "utf-8")
    (folder / "a.csv").write_text('"na\n\x1b[31mme",y\n1,2\n3,4\n1,\n', "utf-8")
    rows = [{"lo\n\x1b[1mss": number, "text": "a\n\x1b[2Jb"} for number in (1.0, 2.0)]
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return folder


@pytest.mark.parametrize(
    "verb",
    [
        ["params", "a.safetensors"],
        ["params", "a.npz"],
        ["params", "a.safetensors", "b.safetensors"],
        ["params", "a.safetensors", "-o", f"{FILE}.html"],
        ["params", f"{FILE}.safetensors"],
        ["compare", "a.safetensors", "b.safetensors"],
        ["convert", "a.safetensors", "made.ckpt", "--dry-run"],
        ["convert", "a.safetensors", f"{FILE}.npz"],
        ["data", "describe", "a.csv"],
        ["data", "describe", "a.jsonl"],
        ["data", "manifest", "."],
    ],
)
def test_names_out_of_files_stay_on_their_line(folder: Path, verb: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    done = call(*verb)
    assert done.exit_code in (0, 1), done.stderr
    assert_plain(done)
    assert len(done.stderr.splitlines()) <= 1


@pytest.mark.parametrize(
    "verb",
    [
        ["params", f"{FILE}.pth"],
        ["params", f"{FILE} is not here.pth"],
        ["compare", "a.jsonl", f"{FILE}.pth"],
        ["show", FILE],
        ["check", f"{FILE}.py"],
        ["convert", "a.safetensors", f"{FILE}/made.npz"],
    ],
)
def test_a_trouble_is_one_line_whatever_the_file_is_called(
    folder: Path, verb: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    done = call(*verb)
    assert done.exit_code == 2
    assert_plain(done)
    assert len(done.stderr.splitlines()) == 1
    assert "\\x1b[2J" in done.stderr


def assert_plain(done: Result) -> None:
    """No control characters, and no line that begins in the middle of a name."""
    text = done.stdout + done.stderr
    assert all(one.isprintable() or one == "\n" for one in text), text
    assert not [line for line in text.splitlines() if line.strip().startswith(BROKEN)], text
