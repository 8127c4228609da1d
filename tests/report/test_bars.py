"""Bars in the terminal and on a page: as long as their share, readable without seeing them."""

from __future__ import annotations

import io
import re

from trueline.model.message import message
from trueline.model.report import Bars, Report
from trueline.report.html.page import render_html
from trueline.report.terminal import render_report


class _Stream(io.StringIO):
    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding


def report(names: list[str], values: list[float], marked: frozenset[int] = frozenset()) -> Report:
    bars = Bars(message("Classes"), names, values, marked)
    return Report(message("title"), message("The conclusion."), blocks=[bars])


def rows(found: Report, width: int = 60, encoding: str = "utf-8") -> list[str]:
    stream = _Stream(encoding)
    render_report(found, stream, "en", width=width)
    return stream.getvalue().splitlines()[3:]


def test_a_bar_is_as_long_as_its_share_of_the_largest() -> None:
    first, second, third, last = rows(report(["cat", "dog", "猫", "none"], [800, 400, 1, 0], frozenset({2})))
    assert first.count("█") // 2 == second.count("█") > 10
    assert third.startswith("> 猫") and third.rstrip()[-1] in "▏▎▍▌▋▊▉█"
    assert last.rstrip().endswith("0")


def test_bars_fit_and_are_ascii_where_they_must_be() -> None:
    found = report(["a very long name of a class indeed" * 3, "b"], [123456, 7])
    assert all(len(row) <= 40 for row in rows(found, 40))
    assert all(row.isascii() for row in rows(found, 60, "ascii"))


def test_bars_of_nothing() -> None:
    assert rows(report([], [])) == []
    assert rows(report(["a"], [0]))[0].split() == ["a", "0"]


def test_a_page_has_a_row_for_each_bar_with_its_number() -> None:
    page = render_html(report(["cat", "<dog>"], [800, 200], frozenset({1})), "en")
    assert re.findall(r'<rect[^>]* width="([^"]+)"', page) == ["100.00%", "25.00%"]
    assert "&lt;dog&gt;" in page and ">200</td>" in page and 'class="marked"' in page
