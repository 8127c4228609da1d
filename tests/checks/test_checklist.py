"""What several kinds of evidence say of an item becomes one row, and says where they do not agree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from trueline.checks.engine.check import Asking, Check, found, na, none, suspect
from trueline.checks.engine.checklist import Checklist, fill_in
from trueline.checks.engine.report import report
from trueline.checks.engine.sources import Sources
from trueline.model.finding import Conclusion, Evidence, Finding
from trueline.model.location import Location
from trueline.report.markdown import render_markdown
from trueline.script.script import read_script

EVIDENCE: dict[str, Any] = {"data": "some", "weights": "some"}


def way(evidence: str, *findings: Finding) -> Check:
    """A check of tr.02 that answers with these."""

    def ask(_: Any) -> Iterator[Finding]:
        yield from findings

    return Check("tr.02", "a title", ask, (Evidence(evidence),), {}, __name__)


def crashing() -> Check:
    def ask(_: Any) -> Iterator[Finding]:
        yield none("tr_02.script.whole", evidence=["one"])
        raise ZeroDivisionError("by nothing")

    asking: Asking = ask
    return Check("tr.02", "a title", asking, (Evidence.DATA,), {}, __name__)


def bad(line: int | None, *, step: int | None = None, because: str | None = None) -> Finding:
    file = "train.py" if line is not None else None
    return found("tr_02.script.cut", Location(file=file, line=line, step=step), because=because, measured=step)


FINE = none("tr_02.script.whole", evidence=["the loss"])


def text(checklist: Checklist) -> str:
    return render_markdown(report(checklist), "en")


def test_what_looked_and_does_not_agree_is_told_with_who_says_what() -> None:
    filled = fill_in([way("data", bad(3)), way("weights", FINE)], EVIDENCE)
    row = filled.rows[0]
    assert (row.conclusion, row.agree) == (Conclusion.FOUND, False)
    assert "data: Problem found; weights: No problem" in text(filled)


def test_those_who_cannot_tell_do_not_disagree() -> None:
    said = suspect("tr_02.script.cut", Location(file="train.py", line=3))
    assert fill_in([way("data", FINE), way("weights", said)], EVIDENCE).rows[0].agree
    assert fill_in([way("data", FINE), way("weights", na("tr_02.script.whole"))], EVIDENCE).rows[0].agree


def test_a_line_found_in_two_ways_is_one_finding_with_the_step(tmp_path: Path) -> None:
    script = read_script([_script(tmp_path)])
    ways = [way("data", bad(3, step=4)), way("script", bad(3))]
    (only,) = fill_in(ways, {"data": "some", "script": script}).problems
    assert (only.where.line, only.where.step, only.measured) == (3, 4, 4)
    assert only.to_json()["by"] == "script, data"


@pytest.mark.parametrize(("lines", "count"), [((3,), 1), ((3, 5), 3)])
def test_what_names_no_line_means_the_only_one_that_reading_named(
    tmp_path: Path, lines: tuple[int, ...], count: int
) -> None:
    script = read_script([_script(tmp_path)])
    ways = [way("script", *map(bad, lines)), way("data", bad(None, step=2))]
    assert len(fill_in(ways, {"data": "some", "script": script}).problems) == count


def test_what_one_way_says_of_two_places_stays_two() -> None:
    assert len(fill_in([way("data", bad(3), bad(4), bad(None), bad(None))], EVIDENCE).problems) == 4


def test_a_root_in_one_way_is_a_root(tmp_path: Path) -> None:
    script = read_script([_script(tmp_path)])
    ways = [way("script", bad(3)), way("data", bad(3, because="tr.02"))]
    assert len(fill_in(ways, {"data": "some", "script": script}).problems) == 1


def test_a_comment_spares_what_a_run_says_without_a_line_too(tmp_path: Path) -> None:
    script = read_script([path := _script(tmp_path, "one\ntwo\nthree  # trueline: ignore[tr.02] on purpose\n")])
    at_line = found("tr_02.script.cut", Location(file=str(path), line=3))
    filled = fill_in([way("script", at_line), way("data", bad(None, step=1))], {"data": "some", "script": script})
    assert filled.problems == [] and len(filled.ignored) == 1
    assert filled.rows[0].conclusion is Conclusion.NA


def test_a_check_that_crashes_is_a_row_with_its_error() -> None:
    filled = fill_in([crashing()], {"data": "some"})
    assert [one.error is not None for one in filled.findings] == [False, True]
    assert filled.problems == []
    only = fill_in([way("data")], {"data": "some"})
    assert only.rows[0].conclusion is Conclusion.OPEN and "gave no answer" in text(only)


def test_without_evidence_an_item_says_what_it_needs() -> None:
    row = fill_in([way("run"), way("script")], {}).rows[0]
    assert row.conclusion is Conclusion.OPEN and "run; script" in row.speaks.message.text("en")


def test_a_finding_of_the_benchmark_is_spared_by_nothing(tmp_path: Path) -> None:
    script = read_script([path := _script(tmp_path, "one  # trueline: ignore\n")])
    one = found("tr_02.script.cut", Location(file=str(path), line=1, side="bench"))
    assert not Sources(script).leaves_out(one)


def _script(folder: Path, text: str = "one\ntwo\nthree\n") -> Path:
    path = folder / "train.py"
    path.write_text(text, "utf-8")
    return path


def test_the_same_sentence_of_the_same_line_is_told_once() -> None:
    assert len(fill_in([way("data", bad(3), bad(3), bad(4))], EVIDENCE).problems) == 2
