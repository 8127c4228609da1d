"""Ports that others wrote beside their benchmarks: what reading finds of them is not to get worse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from eval.script_pairs import CASES, judge

ROOT = Path(__file__).parent.parent.parent
TABLE = json.loads((ROOT / "docs" / "tables" / "script_pairs.json").read_text("utf-8"))


@pytest.mark.parametrize("row", TABLE["rows"], ids=lambda row: str(row["case"]))
def test_what_was_found_of_a_port_is_found(row: dict[str, dict[str, int]]) -> None:
    counts = judge(CASES / str(row["case"]))["counts"]
    assert counts.get("found", 0) >= row["counts"].get("found", 0)
    assert counts["false_alarms"] <= row["counts"]["false_alarms"]


def test_every_case_is_in_the_table() -> None:
    assert {row["case"] for row in TABLE["rows"]} == {path.parent.name for path in CASES.glob("*/truth.toml")}
