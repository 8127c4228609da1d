from __future__ import annotations

import io
import math

import pytest
from rich.cells import cell_len

from trueline.model.curve import Curve
from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import message
from trueline.model.report import Block, Curves, Folded, Report, Source, Strip, Table, Text
from trueline.report.terminal import render_report


class Stream(io.StringIO):
    """A stream with an encoding, and a terminal if it says so."""

    def __init__(self, encoding: str = "utf-8", tty: bool = False) -> None:
        super().__init__()
        self._encoding, self._tty = encoding, tty

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding

    def isatty(self) -> bool:
        return self._tty


def drawn(
    *blocks: Block,
    findings: tuple[Finding, ...] = (),
    lang: str = "en",
    width: int = 80,
    encoding: str = "utf-8",
    tty: bool = False,
) -> str:
    file = Stream(encoding, tty)
    report = Report(message("title"), message("The conclusion."), findings, blocks)
    render_report(report, file, lang, width=width)
    return file.getvalue()


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


ROOT = Finding(
    "wi.01",
    Conclusion.FOUND,
    message("weights are zero"),
    certainty=Certainty.LIKELY,
    where=Location("net.py", 12, module="fc", step=0),
    measured=0.0,
    limit=0.5,
    advice=message("initialise them"),
)
FOLLOWING = Finding("cg.02", Conclusion.FOUND, message("gradients are zero"), because="wi.01")
OPEN = Finding("dp.03", Conclusion.SUSPECT, message("order unknown"), where=Location("data.py", 3))
PASSED = Finding("hp.01", Conclusion.NONE, message("fine"))
CRASHED = Finding("hp.02", Conclusion.OPEN, message("not judged"), error="KeyError: 'lr'")


def test_the_conclusion_is_the_first_line() -> None:
    assert drawn(Text(message("more"))).splitlines()[0] == "The conclusion."


def test_roots_come_first_and_what_follows_only_as_a_code() -> None:
    page = drawn(findings=(PASSED, FOLLOWING, OPEN, CRASHED, ROOT))
    lines = page.splitlines()
    assert lines[1] == "Problem found (likely)  wi.01  weights are zero"
    assert lines[2].strip() == "net.py:12, module fc, step 0"
    assert "1 more follows from it: cg.02" in page
    assert "gradients are zero" not in page
    assert "Suspected  dp.03  order unknown" in page
    assert "Not decided  hp.02  not judged" in page
    assert "KeyError: 'lr'" in page
    assert page.index("wi.01") < page.index("dp.03") < page.index("No problem: hp.01")


def test_a_following_finding_without_its_root_is_not_lost() -> None:
    assert "gradients are zero" in drawn(findings=(FOLLOWING,))


def test_findings_in_chinese() -> None:
    assert "发现问题 (很可能)  wi.01" in drawn(findings=(ROOT,), lang="zh")


def table(rows: list[list[object]], marked: frozenset[int] = frozenset()) -> Table:
    return Table(message("a table"), [message("name"), message("数值")], rows, marked)


def test_columns_align_with_wide_characters() -> None:
    lines = drawn(table([["层一.conv", 1.5], ["fc", 22.25]])).splitlines()
    rows = [line.rstrip() for line in lines if line.endswith(("1.5", "22.25"))]
    assert len(rows) == 2
    assert cell_len(rows[0]) == cell_len(rows[1])


def test_a_marked_row_stands_out_without_colour() -> None:
    lines = drawn(table([["a", 1], ["b", 2]], frozenset({1}))).splitlines()
    assert [line.split() for line in lines if line.startswith(">")] == [[">", "b", "2"]]


@pytest.mark.parametrize("width", [30, 40, 80])
def test_a_long_cell_is_folded_and_never_cut(width: int) -> None:
    name = "train/layer1.0.conv1.very.long.path.that.does.not.end#0/out/0"
    lines = drawn(table([[name, 123456.0]]), width=width).splitlines()
    assert all(cell_len(line) <= width for line in lines)
    body = lines[5:]
    assert "".join(line[: width - 8].split(" ")[0] for line in body) == name
    assert any("1.2346e+05" in line for line in body)


def test_numbers_are_short_and_non_finite_ones_words() -> None:
    page = drawn(table([["a", 1 / 3], ["b", math.nan], ["c", -math.inf], ["d", None], ["e", 7]]))
    assert "0.33333" in page
    assert "NaN" in page
    assert "-Inf" in page
    assert "None" not in page


def test_a_curve_in_a_cell_is_a_sparkline() -> None:
    page = drawn(table([["loss", Curve("loss", [0, 1, 2], [3.0, 2.0, 1.0])]]))
    assert "█" in page
    assert "▁" in page


LOSS = Curve("loss", list(range(30)), [1.0 / (step + 1) for step in range(30)])
PORT = Curve("port", list(range(30)), [1.0 / (step + 1) + (0.3 if step > 10 else 0) for step in range(30)])
EVERYTHING = (
    Text(message("words")),
    table([["loss", LOSS], ["x", 1.0]], frozenset({0})),
    Curves(message("one"), [LOSS], 5),
    Curves(message("two"), [LOSS, PORT], 11),
    Strip(message("layers"), ["a", "b", "c", "d"], [0.0, 0.01, 1.0, math.nan], 1),
    Source("net.py", 11, ["def f():", "\treturn 1", "end"], 10, "port"),
)


def test_without_unicode_everything_is_ascii() -> None:
    ascii_blocks = [block for block in EVERYTHING if not isinstance(block, Table)]
    page = drawn(*ascii_blocks, Table(message("t"), [message("c")], [[LOSS]]), findings=(ROOT,), encoding="ascii")
    assert page.isascii()
    assert "* loss" in page


def test_no_colour_where_nobody_could_see_it() -> None:
    assert "\x1b" not in drawn(*EVERYTHING, findings=(ROOT,))


def test_colour_on_a_terminal_unless_it_is_unwanted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" in drawn(*EVERYTHING, findings=(ROOT,), tty=True)
    monkeypatch.setenv("NO_COLOR", "1")
    quiet = drawn(*EVERYTHING, findings=(ROOT,), tty=True)
    assert "\x1b[31m" not in quiet
    assert "\x1b[1;31m" not in quiet
    assert "\x1b[36m" not in quiet


def test_every_line_fits() -> None:
    for width in (60, 80, 120):
        page = drawn(*EVERYTHING, findings=(ROOT, OPEN), width=width)
        assert max(cell_len(line) for line in page.splitlines()) <= width


def test_a_strip_marks_the_first_layer_that_differs() -> None:
    lines = drawn(EVERYTHING[4]).splitlines()
    assert lines[3:6] == ["·░█!", " ^", "^ b (0.01)"]


def test_a_long_strip_wraps_and_keeps_its_mark() -> None:
    names = [f"layer{place}" for place in range(200)]
    page = drawn(Strip(message("s"), names, [0.0] * 150 + [1.0] * 50, 150))
    lines = page.splitlines()
    assert [len(line) for line in lines[3:5]] == [80, 80]
    assert "^ layer150 (1)" in page


def test_source_lines_with_the_marked_one() -> None:
    lines = drawn(EVERYTHING[5]).splitlines()
    assert lines[2:] == ["net.py:11 (port)", "  10 | def f():", "> 11 |     return 1", "  12 | end"]


def test_markup_in_texts_is_text() -> None:
    page = drawn(Text(message("[bold red]:smile: [/nothing]")), table([["[red]x[/red]", 1]]))
    assert "[bold red]:smile: [/nothing]" in page
    assert "[red]x[/red]" in page


def test_folded_blocks_are_one_line_that_says_how_many_rows() -> None:
    folded = Folded(message("All tensors"), [table([["a", 1], ["b", 2]]), Text(message("more words"))])
    assert drawn(folded).splitlines()[1:] == ["", "All tensors: 2 rows, left out here"]
    assert "All tensors：2 行" in drawn(folded, lang="zh")
    assert drawn(Folded(message("Why"), [Text(message("because"))])).splitlines()[-1] == "Why: left out here"
