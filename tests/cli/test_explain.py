"""``trueline explain``: one page for any code, or the list of them all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli.calling import call
from docs.json_schema import faults

from trueline.report.codes import FAMILIES, every_code, page

SCHEMA: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parent.parent.parent / "docs/schema/trueline-1.schema.json").read_text("utf-8")
)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("code", ["cmp.03", "pr.05", "nf.01", "wp.wcl", "tr.21", "tr.41", "pf.01", "dp.03"])
def test_a_page_of_every_kind(code: str, lang: str) -> None:
    told = call("explain", code, "--lang", lang)
    assert told.exit_code == 0
    said = "".join(told.stdout.split())
    for part in (page(code, lang).title, *page(code, lang).sections):
        assert "".join(part.split()) in said


def test_without_a_code_all_are_listed_by_family() -> None:
    said = call("explain").stdout
    first = [line.split()[0] for line in said.splitlines() if line.strip()]
    assert [one for one in first if one in every_code()] == list(every_code())
    assert [one[:-1] for one in first if one.endswith(":") and one[:-1] in FAMILIES] == list(FAMILIES)
    told = json.loads(call("explain", "--json").stdout)
    assert list(faults(told, SCHEMA, SCHEMA)) == []
    assert [one["code"] for one in told["pages"]] == list(every_code())


def test_a_watchpoint_has_the_limits_that_on_takes() -> None:
    told = json.loads(call("explain", "wp.tr", "--json").stdout)
    assert list(faults(told, SCHEMA, SCHEMA)) == []
    assert told["page"]["limits"] == {"range": None, "below": None, "above": None}
    assert told["page"]["decided_from"] == []
    assert "--on WCL" in call("explain", "WP.WCL").stdout


@pytest.mark.parametrize(("code", "near"), [("cmp.13", "cmp.12"), ("wcl", "wp.wcl"), ("", "trueline explain")])
def test_an_unknown_code_is_one_line_with_the_nearest(code: str, near: str) -> None:
    told = call("explain", code)
    assert told.exit_code == 2
    assert told.stdout == ""
    assert len(told.stderr.splitlines()) == 1
    assert near in told.stderr
