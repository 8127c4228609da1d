"""A Report on a terminal: the conclusion first, then findings, then blocks; readable without colour and in ASCII."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from itertools import groupby
from typing import TextIO

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console, JustifyMethod
from rich.table import Table as Grid
from rich.text import Text as Styled

from trueline.model.curve import Curve
from trueline.model.message import message
from trueline.model.report import Bars, Block, Curves, Folded, Report, Source, Strip, Table, Text, Tile, Tiles
from trueline.model.visible import on_one_line
from trueline.report.answers import answer_lines, cause_lines, cut
from trueline.report.findings import Line, finding_lines
from trueline.report.folded import row_count
from trueline.report.plot import ASCII_MARKS, ASCII_TOGETHER, MARKS, TOGETHER, bar_text, plot, scale_of, sparkline
from trueline.report.shown import number, say, shown

_COLOURS = ("cyan", "magenta", "yellow", "green")
_SPARK, _WIDE_SPARK, _WIDE = 12, 24, 100
_WORD, _NAME = 12, 16
_LONG_TEXT = 300
_BAR = 50
_SHADES, _ASCII_SHADES = "·░▒▓█", ".:+*#"


def render_report(
    report: Report, stream: TextIO, lang: str | None = None, *, width: int | None = None, verbose: bool = False
) -> None:
    """Write a report for people to a stream; a character that its encoding lacks is escaped.

    ``verbose`` also shows what is folded and cut otherwise.
    """
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    if width is None and os.environ.get("COLUMNS") == "0":
        # As Python has it: a width of 0 is none said.
        width = shutil.get_terminal_size().columns
    page = _page(stream, lang, width, verbose)
    page.line(say(report.conclusion, lang), "bold")
    page.findings(report)
    for block in report.blocks:
        # One line says of all that is folded how to see it.
        if report.more is None or verbose or not isinstance(block, Folded):
            page.block(block)
    if report.more is not None and not verbose:
        page.console.print()
        page.line(say(report.more, lang), "dim")


def render_block(block: Block, stream: TextIO, lang: str | None = None, *, width: int) -> None:
    """One block alone, after an empty line."""
    _page(stream, lang, width).block(block)


def _page(stream: TextIO, lang: str | None, width: int | None, verbose: bool = False) -> _Page:
    return _Page(_PlainConsole(file=stream, width=width, highlight=False, markup=False, emoji=False), lang, verbose)


class _PlainConsole(Console):
    """A console that leaves a closed pipe to its caller, who knows the exit code."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class _Page:
    """Where blocks are drawn: a console, its character set and a language."""

    def __init__(self, console: Console, lang: str | None, verbose: bool = False) -> None:
        self.console = console
        self.lang = lang
        self.verbose = verbose
        self.ascii = not console.encoding.lower().startswith("utf")

    def line(self, text: str, style: str = "", indent: int = 0) -> None:
        """One paragraph, indented throughout."""
        styled = Styled(text, style=style, overflow="fold")
        width = max(20, self.console.width - indent)
        for part in styled.wrap(self.console, width):
            part.rstrip()
            self.console.print(Styled(" " * indent).append_text(part), soft_wrap=True)

    def findings(self, report: Report) -> None:
        """The answers where there are any, each with its details where they are asked for; else the findings."""
        if not report.answers:
            self._lines(finding_lines(report.findings, self.lang))
        elif not self.verbose:
            self._lines(answer_lines(report.answers, self.lang, width=self.console.width))
        else:
            for answer in report.answers:
                if answer.number is not None:
                    self.console.print()
                    self._lines(cause_lines(answer, self.lang, self.console.width))
                    for detail in answer.details:
                        self.block(detail)
            self._lines(answer_lines([one for one in report.answers if one.number is None], self.lang, every=True))

    def _lines(self, lines: Iterable[Line]) -> None:
        for indent, text, style in lines:
            self.line(text, style, indent)

    def block(self, block: Block) -> None:
        """Any block, after an empty line."""
        self.console.print()
        match block:
            case Text():
                self.line(say(block.message, self.lang))
            case Table():
                self._table(block.instead if block.instead is not None and not self.verbose else block)
            case Bars():
                self._bars(block)
            case Curves():
                self._curves(block)
            case Strip():
                self._strip(block)
            case Source():
                self._source(block)
            case Tiles():
                self._tiles(block)
            case Folded():
                self._folded(block)

    def _table(self, table: Table) -> None:
        self.line(say(table.title, self.lang), "bold")
        # An ASCII mark in a column of its own: a marked row stands out without colour too.
        grid = Grid(
            box=box.ASCII if self.ascii else box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False
        )
        if table.marked:
            grid.add_column("", no_wrap=True)
        rows = [[self._cell(cell) for cell in row] for row in table.rows]
        headings = [say(column, self.lang) for column in table.columns]
        widths = [max(cell_len(text) for text in column) for column in zip(headings, *rows, strict=True)]
        # Two columns between neighbours, and the mark's own.
        room = self.console.width - 2 * (len(widths) - 1) - (3 if table.marked else 0)
        words = [
            max((cell_len(word) for text in column for word in text.split()), default=1)
            for column in zip(headings, *rows, strict=True)
        ]
        fitting = _fit(widths, words, room)
        for place, heading in enumerate(headings):
            cells = [row[place] for row in table.rows if row[place] is not None]
            numeric = bool(cells) and all(isinstance(cell, int | float) for cell in cells)
            side: JustifyMethod = "right" if numeric else "left"
            grid.add_column(heading, justify=side, overflow="fold", width=fitting[place])
        if table.brief and not self.verbose:
            rows = [[cut(text, fitting[place]) for place, text in enumerate(row)] for row in rows]
        for place, row in enumerate(rows):
            marked = place in table.marked
            mark = [Styled(">" if marked else "")] if table.marked else []
            grid.add_row(*mark, *(Styled(text) for text in row), style="bold red" if marked else "")
        self.console.print(grid)

    def _cell(self, cell: object) -> str:
        if isinstance(cell, Curve):
            return sparkline(cell, _WIDE_SPARK if self.console.width >= _WIDE else _SPARK, ascii=self.ascii)
        return shown(cell, self.lang)

    def _bars(self, block: Bars) -> None:
        self.line(say(block.title, self.lang), "bold")
        names = [shown(name, self.lang) for name in block.names]
        room = max(4, min(self.console.width // 3, max((cell_len(name) for name in names), default=0)))
        amounts = [shown(value, self.lang) for value in block.values]
        digits = max((len(amount) for amount in amounts), default=0)
        width = max(8, min(_BAR, self.console.width - room - digits - 6))
        most = max(block.values, default=0)
        for place, (name, value, amount) in enumerate(zip(names, block.values, amounts, strict=True)):
            marked = place in block.marked
            bar = bar_text(value / most if most > 0 else 0.0, width, ascii=self.ascii)
            row = f"{'>' if marked else ' '} {set_cell_size(name, room)}  {amount:>{digits}}  {bar}"
            self.console.print(Styled(row.rstrip(), "bold red" if marked else ""), soft_wrap=True)

    def _curves(self, block: Curves) -> None:
        scale = scale_of(block.curves)
        title = say(block.title, self.lang)
        if scale is not None and scale.log:
            title = say(message("report.log_scale", title=title), self.lang)
        self.line(title, "bold")
        marks = {mark.step: say(mark.said, self.lang) for mark in block.marks}
        if block.mark is not None:
            marks[block.mark] = str(block.mark)
        axis = block.axis.at if block.axis is not None else None
        for row in plot(block.curves, width=self.console.width, marks=marks, axis=axis, ascii=self.ascii):
            styled = Styled()
            for curve, cells in groupby(row, key=lambda cell: cell.curve):
                colour = _COLOURS[curve % len(_COLOURS)] if curve is not None else ""
                styled.append("".join(cell.character for cell in cells), colour)
            styled.rstrip()
            self.console.print(styled, soft_wrap=True)
        if len(block.curves) > 1:
            self._legend(block)

    def _legend(self, block: Curves) -> None:
        marks, together = (ASCII_MARKS, ASCII_TOGETHER) if self.ascii else (MARKS, TOGETHER)
        legend = Styled()
        for place, curve in enumerate(block.curves):
            legend.append(f"{marks[place % len(marks)]} ", _COLOURS[place % len(_COLOURS)])
            legend.append(on_one_line(curve.name) + "   ")
        legend.append(f"{together} " + say(message("report.together"), self.lang))
        self.console.print(legend)

    def _strip(self, block: Strip) -> None:
        self.line(say(block.title, self.lang), "bold")
        shades = _ASCII_SHADES if self.ascii else _SHADES
        room = self.console.width
        cells = "".join(_shade(level, shades) for level in block.levels)
        for begin in range(0, len(cells), room):
            self.console.print(Styled(cells[begin : begin + room]), soft_wrap=True)
            if block.mark is not None and begin <= block.mark < begin + room:
                self.console.print(Styled(" " * (block.mark - begin) + "^", "bold red"), soft_wrap=True)
        if block.mark is not None and 0 <= block.mark < len(block.names):
            self.line(f"^ {on_one_line(block.names[block.mark])} ({number(block.levels[block.mark])})", "bold red")

    def _source(self, block: Source) -> None:
        place = f"{block.file}:{block.line}" + (f" ({block.side})" if block.side else "")
        self.line(on_one_line(place), "bold")
        digits = len(str(block.first + max(0, len(block.lines) - 1)))
        for at, text in enumerate(block.lines, block.first):
            marked = at == block.line
            line = f"{'>' if marked else ' '} {at:>{digits}} | {on_one_line(text.expandtabs(4))}"
            self.console.print(Styled(line, "bold red" if marked else ""), soft_wrap=True)

    def _tiles(self, block: Tiles) -> None:
        """A line for each: a terminal has no pictures, but it can say which they are."""
        self.line(say(block.title, self.lang), "bold")
        for tile in block.tiles:
            under = "  ".join(shown(line, self.lang) for line in tile.lines)
            content = self._content(tile)
            self.line(under + (f"  {content}" if content else ""), "red" if tile.marked else "", 2)

    def _content(self, tile: Tile) -> str:
        if tile.curve is not None:
            return self._cell(tile.curve)
        text = " ".join(shown(tile.text, self.lang).split())
        return text if len(text) <= _LONG_TEXT else text[:_LONG_TEXT] + "…"

    def _folded(self, block: Folded) -> None:
        if self.verbose:
            self.line(say(block.title, self.lang), "bold")
            for one in block.blocks:
                self.block(one)
            return
        title, rows = say(block.title, self.lang), row_count(block)
        folded = message("report.folded", title=title, rows=rows) if rows else None
        self.line(say(folded or message("report.folded_whole", title=title), self.lang), "dim")


def _fit(widths: Sequence[int], words: Sequence[int], room: int) -> list[int]:
    """The columns' widths in a table that fits: the widest give way first, short words and numbers stay whole."""
    fitting = list(widths)
    floors = [min(word, _WORD) for word in words]
    # The first column says what a row is about.
    floors[:1] = [min(width, _NAME) for width in widths[:1]]
    while sum(fitting) > room:
        above = [place for place, width in enumerate(fitting) if width > floors[place]]
        if not above:
            if all(floor == 1 for floor in floors):
                break
            floors = [1] * len(floors)
            continue
        fitting[max(above, key=lambda place: fitting[place])] -= 1
    return fitting


def _shade(level: float, shades: str) -> str:
    """Equal is the first shade, any difference at least the second; what is no number is ``!``."""
    if level != level:
        return "!"
    if level <= 0:
        return shades[0]
    return shades[min(len(shades) - 1, 1 + int(min(level, 1.0) * (len(shades) - 1)))]
