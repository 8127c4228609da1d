"""The plan of the house names the rooms, files and tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

import trueline

SOURCE = Path(trueline.__file__).parent
ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
ROOMS = {
    found[1]: row for row in PAGE.splitlines() if (found := re.match(r"\| `trueline/([a-z_/]+)` \|", row)) is not None
}


def test_every_room_is_in_the_plan_and_every_room_of_the_plan_exists() -> None:
    assert set(ROOMS) == {path.parent.name for path in SOURCE.glob("*/__init__.py")}


def test_every_module_says_what_it_is() -> None:
    page = (ROOT / "docs" / "rooms.md").read_text("utf-8")
    assert re.findall(r"^- `\w+`: $", page, re.MULTILINE) == []
    assert page.count("\n- `") == sum(
        path.name != "__init__.py" and path.parent != SOURCE and (path.parent / "__init__.py").exists()
        for path in SOURCE.rglob("*.py")
    )


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
