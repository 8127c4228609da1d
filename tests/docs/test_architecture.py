"""The plan of the house names the rooms, files and tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import trueline

SOURCE = Path(trueline.__file__).parent
ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
ROOMS = {
    found[1]: row for row in PAGE.splitlines() if (found := re.match(r"\| `trueline/([a-z_/]+)` \|", row)) is not None
}


def packages() -> set[str]:
    return {path.parent.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("__init__.py") if path.parent != SOURCE}


def test_every_package_is_a_room_of_the_plan_and_every_room_exists() -> None:
    assert set(ROOMS) == packages()


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_a_room_s_row_names_no_file_that_is_gone(room: str) -> None:
    files = {path.stem for path in (SOURCE / room).iterdir()}
    named = set(re.findall(r"`([a-z_]+)`", ROOMS[room].split(" | ")[2]))
    assert named - files - {"run_folder"} == set()
    assert named or room == "formats" or not files - {"__init__", "__pycache__"}


def test_files_and_tests_that_are_named_exist() -> None:
    named = set(re.findall(r"`([a-z_]+/[\w/]+\.\w+)`", PAGE))
    assert len(named) > 20
    missing = {name for name in named if not (ROOT / name).exists() and not (SOURCE / name).exists()}
    assert missing == set()


def test_rooms_called_not_built_are_not_there() -> None:
    last = PAGE.partition("## Not built yet")[2]
    for room in re.findall(r"`([a-z]+)`", last):
        assert not (SOURCE / room).exists(), room


def test_every_decision_is_numbered_once() -> None:
    numbers = [path.name[:4] for path in (ROOT / "decisions").glob("*.md")]
    assert sorted(numbers) == [f"{number:04}" for number in range(1, len(numbers) + 1)]
