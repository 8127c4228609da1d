"""A Report as Markdown: what is said stays what is said, whatever signs are in it."""

from __future__ import annotations

from trueline.model.curve import Curve
from trueline.model.finding import Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import message
from trueline.model.report import Bars, Curves, Folded, Report, Source, Strip, Table, Text, Tile, Tiles
from trueline.report.markdown import render_markdown, text_of


def rendered(*blocks: object, findings: tuple[Finding, ...] = ()) -> str:
    return render_markdown(Report(message("Title"), message("All *is* said."), findings, blocks), "en")  # type: ignore[arg-type]


def test_signs_of_markdown_in_values_are_no_signs() -> None:
    assert text_of("a|b *c* `d` <e> [f] __init__ learning_rate") == (
        r"a\|b \*c\* \`d\` \<e\> \[f\] \_\_init\_\_ learning_rate"
    )
    assert text_of("# one\ntwo") == r"\# one\\ntwo"
    assert text_of("1. one") == r"1\. one"
    assert "\x1b" not in text_of("\x1b[31mred")


def test_the_conclusion_stands_on_top_and_findings_are_a_list() -> None:
    one = Finding("tr.01", Conclusion.FOUND, message("bad"), where=Location(file="a.py", line=3, step=2), measured=0.5)
    lines = rendered(findings=(one,)).splitlines()
    assert lines[0] == "# Title" and lines[2] == r"**All \*is\* said.**"
    assert lines[4:7] == ["- **Problem found tr.01 bad**", "  - a.py:3, step 2", "  - measured 0.5"]


def test_a_table_has_as_many_cells_in_every_row_and_marked_rows_stand_out() -> None:
    table = Table(
        message("The table"), [message("A"), message("B")], [["x|y", 1.0], [None, message("z")]], frozenset({0})
    )
    lines = rendered(table).splitlines()[4:]
    assert lines == ["## The table", "", "| A | B |", "| --- | --- |", r"| **x\|y** | **1** |", "|  | z |"]


def test_source_lines_cannot_leave_their_fence() -> None:
    text = rendered(Source("a.py", 2, ['x = """', "```", "````"], 1))
    assert text.rstrip().splitlines()[-1] == "`````"
    assert "> 2 | ```" in text


def test_every_kind_of_block_is_there() -> None:
    text = rendered(
        Text(message("a paragraph")),
        Bars(message("bars"), ["one", "two"], [3, 1]),
        Curves(message("curves"), [Curve("loss", [0, 1, 2], [3.0, 2.0, 1.0])]),
        Strip(message("strip"), ["conv", "fc"], [0.0, 0.7], 1),
        Tiles(message("tiles"), [Tile(["number 3"], text="some text", marked=True)]),
        Folded(message("folded"), [Table(message("inside"), [message("A")], [["b"]])]),
    )
    for word in (
        "a paragraph",
        "bars",
        "curves",
        "strip",
        "^ fc",
        "- **number 3  some text**",
        "## inside",
        "</details>",
    ):
        assert word in text, word
