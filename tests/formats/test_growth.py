"""Regular expressions and readers of texts out of files: twice the length takes about twice the time."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "eval"))

from worst.patterns import Used, patterns, slow_on

from trueline.formats.log.names import meaning, words
from trueline.formats.log.shape import shape_of
from trueline.formats.log.stream import _COLOURS
from trueline.formats.log.text import TextReader
from trueline.formats.manifest.listed import unescaped
from trueline.formats.manifest.text_form import _row
from trueline.model.key import Key
from trueline.model.visible import visible

HASH = "0" * 32


def key_of(text: str) -> object:
    try:
        return Key.parse(text)
    except ValueError:
        return None


def read_lines(text: str) -> None:
    # The second line of a kind makes a plan for the others.
    TextReader().read([b"step 1 loss 1.0 " + text.encode()] * 3)


READERS: list[tuple[Callable[[str], object], list[str]]] = [
    (_row, ["a ,;", " ,;", "MD5 (", ") = ", HASH, f"{HASH} ", "\\", "0123456789abcdef"]),
    (
        shape_of,
        ["a", " ", "1", "-", "([", "loss", "loss ", "loss=", "Tensor(", "1/", "1 / ", "[1,", "第", "第 1 ", "val "],
    ),
    (shape_of, ["loss at step 1", "epoch 1 [1/2]", "rank", "a.b-c/d ", "loss (a) ", "step 1 loss 1e", "\u3000", "nan"]),
    (words, ["a", "A", "aA", "_", "@1", "损失", "训"]),
    (meaning, ["loss_", "step ", "(a)", "at "]),
    (lambda text: _COLOURS.sub(b"", text.encode()), ["\x1b[", "\x1b]", "\x1b[0;", "\x1b[ ", "\x1b"]),
    (unescaped, ["\\", "\\x", "\\x00"]),
    (key_of, ["train/", "a#", "#0/out/", "%25", "a."]),
    (visible, ["\x9b", "a", "\u202e"]),
    (read_lines, ["a", " ", "1 ", "1.5 ", "- ", "é"]),
]


def seconds(reader: Callable[[str], object], text: str) -> float:
    """Of CPU time, the least of a few."""
    found = []
    for _ in range(3):
        begun = time.process_time()
        reader(text)
        found.append(time.process_time() - begun)
    return min(found)


@pytest.mark.parametrize("place", range(len(READERS)))
def test_twice_the_text_takes_about_twice_the_time(place: int) -> None:
    reader, parts = READERS[place]
    for part in parts:
        for beginning in ("", "a", "loss ", f"{HASH} "):
            text = beginning + part * (8000 // len(part))
            once = seconds(reader, text)
            # Shorter times say little.
            if once > 0.01:
                assert seconds(reader, text + part * (8000 // len(part))) < 3.5 * once, (beginning, part)
            assert once < 1, (beginning, part)


PACKAGES = (
    *("trueline.formats.pth", "trueline.formats.ckpt", "trueline.formats.safetensors", "trueline.formats.ms_dump"),
    *("trueline.formats.msprobe", "trueline.formats.npy", "trueline.formats.npz", "trueline.formats.nesting"),
    *("trueline.formats.ms_names", "trueline.formats.sharded", "trueline.formats.weights", "trueline.compare"),
    *("trueline.migrate", "trueline.model", "trueline.apitable", "trueline.data.sources"),
    *(
        "trueline.formats.log",
        "trueline.formats.manifest",
        "trueline.formats.event_file",
        "trueline.formats.run_folder",
    ),
    *("trueline.formats.ms_summary", "trueline.formats.tensorboard", "trueline.cli", "trueline.report"),
)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_pattern_takes_more_than_in_proportion(package: str) -> None:
    slow: dict[str, str | None] = {one.name: slow_on(one) for one in patterns(package)}
    assert {name: text for name, text in slow.items() if text is not None} == {}


def test_a_slow_pattern_would_be_seen() -> None:
    assert slow_on(Used("a", re.compile(r"(.+?)\s*: <"), ("fullmatch",))) is not None
    assert slow_on(Used("b", re.compile(r".*optim.*|x"), ("fullmatch",))) is not None
