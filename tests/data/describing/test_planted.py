"""Small datasets of every kind: each planted fault is told where it is, and clean sets are left alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[2] / "eval" / "datasets"))

from describing_sets import described, wrong
from make_sets import SETS, build


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, dict[str, Any]]]:
    """All of them, written."""
    root = tmp_path_factory.mktemp("sets")
    return root, {one["name"]: one for one in build(root)}


@pytest.mark.parametrize("name", [name for name, *_ in SETS])
def test_what_is_planted_is_told_and_nothing_of_clean_sets(
    name: str, sets: tuple[Path, dict[str, dict[str, Any]]]
) -> None:
    root, all_sets = sets
    assert wrong(all_sets[name], described(all_sets[name], root)) == []
