"""Settings that a script reads, YAML, TOML or JSON: what they say is bounded before it is built."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import pytest

from trueline.model.location import Location
from trueline.model.toml_text import parse_toml
from trueline.script.reading.config_answers import read_settings
from trueline.script.values import Table, Value

HERE = Location("train.py", 1, 1)
LETTERS = "abcdefghijkl"


def aliases(line: str) -> str:
    """Each line names the one before it nine times."""
    return "".join(
        f"{new}: &{new}\n  " + line.format(",".join([f"*{old}"] * 9)) + "\n" for old, new in pairwise(LETTERS)
    )


def read(path: Path, text: str) -> Value:
    path.write_text(text)
    return read_settings(path, "open", HERE, path.name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("laughs.yaml", "a: &a {k: 1}\n" + aliases("- [{0}]").replace("  - ", "  ")),
        ("merges.yaml", "a: &a {k: 1}\n" + aliases("<<: [{0}]")),
        ("itself.yaml", "a: &a [*a]\n"),
        ("flow.yaml", "[" * 100_000),
        ("nested.yaml", "[" * 3000 + "]" * 3000),
        ("blocks.yaml", "- " * 3000 + "1\n"),
        ("digits.yaml", "a: " + "9" * 5000 + "\n"),
        ("sixties.yaml", "a: 1" + ":1" * 100_000 + "\n"),
        ("sixties_of_floats.yaml", "a: 1" + ":1" * 400 + ".0\n"),
        ("large.yaml", "a: 1\n" + "#" * (1 << 20)),
        ("digits.json", '{"a": ' + "9" * 5000 + "}"),
        ("nested.json", "[" * 100_000 + "]" * 100_000),
        ("nested.toml", "a = " + "[" * 5000 + "]" * 5000),
        ("dots.toml", ".".join("a" * 100_000) + " = 1\n"),
    ],
)
def test_what_says_too_much_is_not_known(tmp_path: Path, name: str, text: str) -> None:
    begun = time.process_time()
    with pytest.raises(ValueError):
        read(tmp_path / name, text)
    assert time.process_time() - begun < 2


def test_aliases_and_merges_are_followed(tmp_path: Path) -> None:
    text = "base: &base {lr: 0.1}\nnet:\n  <<: *base\n  depth: 3\nagain: *base\n"
    found = read(tmp_path / "settings.yaml", text)
    assert isinstance(found, Table)
    net, again = found.items["net"], found.items["again"]
    assert isinstance(net, Table) and isinstance(again, Table)
    told = [(one.value, one.origin) for one in (net.items["lr"], net.items["depth"], again.items["lr"])]  # type: ignore[attr-defined]
    lines = [Location("settings.yaml", line, line) for line in (1, 4, 1)]
    assert told == list(zip([0.1, 3, 0.1], lines, strict=True))


def test_a_long_file_is_read_in_time(tmp_path: Path) -> None:
    begun = time.process_time()
    found = read(tmp_path / "long.yaml", "".join(f"key{number}: {{x: 1, y: 2}}\n" for number in range(10_000)))
    assert isinstance(found, Table) and len(found.items) == 10_000
    assert time.process_time() - begun < 5


def test_dotted_keys_are_toml() -> None:
    assert parse_toml("a.b.c = 1\n") == {"a": {"b": {"c": 1}}}
