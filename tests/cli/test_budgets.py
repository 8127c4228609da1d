"""What a file may cost to read: memory and work in proportion to its size, past it one clear line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "eval"))

from worst import cases
from worst.case import Case
from worst.measuring import MIB, Measuring

# Small files: what is beyond proportion shows in them too, and each is read in a moment.
SIZE = 32 << 10
# What every verb takes for itself: its modules, its report.
OWN = 48 * MIB
# A processor that is shared is slower.
SLOW = 4
HOSTILE = cases()


@pytest.fixture(scope="module")
def measuring() -> Iterator[Measuring]:
    with Measuring() as found:
        yield found


@pytest.mark.parametrize("case", HOSTILE, ids=lambda one: one.id)
def test_a_file_costs_what_it_is_worth(case: Case, measuring: Measuring, tmp_path: Path) -> None:
    arguments = case.make(tmp_path, SIZE)
    size = sum(one.stat().st_size for one in tmp_path.rglob("*") if one.is_file())
    found = measuring.run(arguments, tmp_path)
    assert found.exit in (0, 1, 2), found
    if found.exit == 2:
        assert found.said.startswith("trueline: ")
        assert "\n" not in found.said
    memory, seconds = case.budget(size)
    assert found.memory < memory + OWN, found
    assert found.seconds < SLOW * seconds, found


def no_files(folder: Path) -> dict[str, Path]:
    """What is no file of bytes: each would keep its reader for ever, or has more than it says."""
    pipe, device, listing = folder / "pipe", folder / "device", folder / "listing"
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    listing.symlink_to("/proc/self/maps")
    (folder / "folder").mkdir()
    return {"pipe": pipe, "device": device, "listing": listing, "folder": folder / "folder"}


@pytest.mark.parametrize(
    "name",
    [
        *(
            "x.pth",
            "x.ckpt",
            "x.safetensors",
            "x.npz",
            "x.npy",
            "x.log",
            "x.csv",
            "x.safetensors.index.json",
            "dump.json",
        ),
        *(
            "data_batch_1",
            "train-images-idx3-ubyte",
            "train-images-idx3-ubyte.gz",
            "x.parquet",
            "x.jsonl",
            "x.mindrecord",
        ),
    ],
)
def test_what_is_no_file_is_one_clear_line(name: str, measuring: Measuring, tmp_path: Path) -> None:
    for kind, target in no_files(tmp_path).items():
        place = tmp_path / f"of {kind}"
        place.mkdir()
        (place / name).symlink_to(target)
        verbs = [("compare", place / name, place / name), ("data", "describe", place / name)]
        for arguments in (*verbs, ("params", place / name)):
            found = measuring.run(arguments, tmp_path)
            assert found.exit == 2, (kind, arguments[0], found)
            assert "internal error" not in found.said
