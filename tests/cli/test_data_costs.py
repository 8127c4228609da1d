"""Reading data, logs and lists costs what a file is worth; past that, and for what is damaged, there is one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.costs import Cost, Costs, costs
from cli.worst_data import write_all

SECONDS, MEGABYTES = 10, 600
DESCRIBE = ("data", "describe")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("worst")
    write_all(found)
    return found


@pytest.fixture(scope="module")
def asked() -> Iterator[Costs]:
    with costs() as found:
        yield found


def cheap(found: Cost) -> Cost:
    assert found.seconds < SECONDS and found.megabytes < MEGABYTES, found
    assert found.code in (0, 1, 2), found
    if found.code == 2:
        assert found.error.count("\n") == 1, found
    return found


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("bomb.csv.gz", "more work than a file of"),
        ("wide.csv", "more memory than a file of"),
        ("sparse.jsonl", "more work than a file of"),
        ("empty_numbers.npy", "more work than a file of"),
        ("empty_texts.npy", "more work than a file of"),
        ("empty_wide.npy", "more memory than a file of"),
        ("damaged.csv.gz", "cannot be read"),
        ("pages.mindrecord", "page_id"),
        ("run", "no batch of phase train"),
        *(
            (f"{kind}.{name}", "not a regular file")
            for kind in ("pipe", "device")
            for name in ("csv", "jsonl", "arrow")
        ),
        *(
            (f"{kind}.{name}", "not a regular file")
            for kind in ("pipe", "device")
            for name in ("parquet", "mindrecord")
        ),
    ],
)
def test_a_file_that_is_not_worth_it_is_refused(folder: Path, asked: Costs, name: str, reason: str) -> None:
    found = cheap(asked.of(*DESCRIBE, folder / name))
    assert found.code == 2
    assert reason in found.error


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pictures", "12 unreadable, skipped (an image of more pixels than is safe to decode)"),
        ("texts", "a damaged image"),
        ("gaps.jsonl", "40000 samples"),
        ("gaps.csv", "20000 samples"),
        ("long.csv", "2 samples"),
        ("digits.csv", "+Inf"),
        ("digits.jsonl", "+Inf"),
        ("deep.jsonl", "2 samples"),
        ("mac.csv", "mac.csv:3"),
        ("mac.jsonl", "mac.jsonl:3"),
        ("far.mindrecord", ""),
    ],
)
def test_an_odd_file_is_read_as_far_as_it_goes(folder: Path, asked: Costs, name: str, said: str) -> None:
    found = cheap(asked.of(*DESCRIBE, folder / name))
    assert found.code in (0, 1)
    assert said in re.sub(r"\s+", " ", found.output)


def test_samples_are_drawn_from_a_table_of_many_gaps(folder: Path, asked: Costs, tmp_path: Path) -> None:
    found = cheap(asked.of("data", "sheet", folder / "gaps.csv", "--label", "a", "-o", tmp_path / "sheet.html"))
    assert found.code == 0


def test_curves_and_lists(folder: Path, asked: Costs) -> None:
    events = folder / "empty.tfevents.1.x"
    found = cheap(asked.of("compare", events, events))
    assert "no training loss" in found.error
    assert found.megabytes < 160
    assert cheap(asked.of("data", "diff", folder / "separators.txt", folder / "separators.txt")).code == 0
    assert cheap(asked.of("data", "diff", folder / "small.json", folder / "small.json")).code == 0
    assert cheap(asked.of("data", "diff", folder / "zero.json", folder / "small.json")).code == 2
    assert cheap(asked.of("compare", folder / "pipe.log", folder / "device.log")).code == 2


def test_a_run_that_says_it_opened_a_device_is_not_read_for_ever(folder: Path, asked: Costs) -> None:
    assert cheap(asked.of("data", "manifest", folder / "listed/run")).code == 2
