"""Edits of a text by position: nested edits are rendered from the inside out, all other text stays as it is."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """From a character to another one, which is not in it."""

    start: int
    end: int

    def holds(self, other: Span) -> bool:
        """Whether another span is within this one."""
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True)
class Moved:
    """Whole lines that stand at another place than their own, with their edits, by so many spaces further right."""

    span: Span
    deeper: int = 0


class Edits:
    """What is to stand in place of parts of a text; a piece that is a Span is that part with its own edits."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._made: dict[Span, tuple[str | Span | Moved, ...]] = {}

    def replace(self, span: Span, *pieces: str | Span | Moved) -> None:
        """Put pieces in place of a span; the last one wins where it is the same span."""
        self._made[span] = pieces

    def insert(self, place: int, text: str) -> None:
        """Put text before a character, after what was put there already."""
        span = Span(place, place)
        self._made[span] = (*self._made.get(span, ()), text)

    def prepend(self, span: Span, text: str) -> None:
        """Put text before what stands in place of a span."""
        self._made[span] = (text, *self._made.get(span, ()))

    def touches(self, span: Span) -> bool:
        """Whether anything within a span was changed."""
        return any(span.holds(made) for made in self._made)

    def shows(self, span: Span) -> bool:
        """Whether the text of a span is still to be seen somewhere."""
        moved = self._moved()
        for made, pieces in self._made.items():
            if made.holds(span) and made != Span(made.start, made.start) and made not in moved:
                inner = [piece for piece in pieces if isinstance(piece, Span)]
                if not any(piece.holds(span) for piece in inner):
                    return False
        return True

    def undo(self, span: Span) -> None:
        """Forget the edits within a span."""
        for made in [made for made in self._made if span.holds(made)]:
            del self._made[made]

    def render(self, span: Span | None = None) -> str:
        """The text of a span with all edits that are in it."""
        whole = span or Span(0, len(self.text))
        return self._render(whole, [made for made in self._ordered() if whole.holds(made)])

    def _ordered(self) -> list[Span]:
        """Insertions come before what begins at the same place, wide spans before narrow ones."""
        return sorted(self._made, key=lambda made: (made.start, made.end != made.start, -made.end))

    def _moved(self) -> set[Span]:
        """The lines that stand elsewhere."""
        return {piece.span for pieces in self._made.values() for piece in pieces if isinstance(piece, Moved)}

    def _render(self, whole: Span, inner: Sequence[Span], but: Span | None = None) -> str:
        found: list[str] = []
        place = whole.start
        # What was inserted before lines that moved goes with them.
        gone = {Span(one.start, one.start) for one in self._moved() if one != but}
        for made in inner:
            if made == but or made in gone or made.start < place or not whole.holds(made):
                continue
            found.append(self.text[place : made.start])
            within = [one for one in inner if made.holds(one)]
            for piece in self._made[made]:
                if isinstance(piece, Moved):
                    held = [one for one in self._ordered() if piece.span.holds(one)]
                    found.append(_indented(self._render(piece.span, held, piece.span), piece.deeper))
                else:
                    found.append(piece if isinstance(piece, str) else self._render(piece, within, made))
            place = made.end
        found.append(self.text[place : whole.end])
        return "".join(found)


def _indented(text: str, deeper: int) -> str:
    """Lines further right, but for those that go on with a string."""
    if not deeper:
        return text
    head = "if True:\n" if text[:1].isspace() else ""
    try:
        fixed = Positions(head + text).unbreakable
    except (tokenize.TokenError, SyntaxError):
        # What cannot be read is seen when the whole draft is parsed.
        fixed = frozenset()
    first = 2 if head else 1
    lines = text.split("\n")
    return "\n".join(
        " " * deeper + line if line.strip() and number not in fixed else line
        for number, line in enumerate(lines, first)
    )


class Positions:
    """Where the nodes of a tree are in its text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def place(self, line: int, column: int) -> int:
        """A character by line, from 1, and column in UTF-8, as trees have it."""
        text = self.lines[line - 1]
        column = column if text.isascii() else len(text.encode()[:column].decode(errors="ignore"))
        return self._starts[line - 1] + column

    def of(self, node: ast.AST) -> Span:
        """The span of a node."""
        where: ast.expr = node  # type: ignore[assignment]  # statements and arguments have positions too
        assert where.end_lineno is not None and where.end_col_offset is not None
        return Span(self.place(where.lineno, where.col_offset), self.place(where.end_lineno, where.end_col_offset))

    def source(self, node: ast.AST) -> str:
        """The text of a node."""
        span = self.of(node)
        return self.text[span.start : span.end]

    def line_start(self, line: int) -> int:
        """Where a line begins."""
        return self._starts[line - 1]

    def line_of(self, place: int) -> int:
        """The line of a character."""
        return self.text.count("\n", 0, place) + 1

    def whole_lines(self, first: int, last: int) -> Span:
        """Lines with their ends."""
        return Span(self._starts[first - 1], min(self._starts[last], len(self.text)))

    def indent(self, line: int) -> str:
        """The white space that a line begins with."""
        text = self.lines[line - 1]
        return text[: len(text) - len(text.lstrip())]

    @cached_property
    def unbreakable(self) -> frozenset[int]:
        """Lines that no line may be put before: they go on with a string or after a backslash."""
        found: set[int] = set()
        starts: list[int] = []
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            name = tokenize.tok_name[token.type]
            if name == "FSTRING_START":
                starts.append(token.start[0])
            elif name == "FSTRING_END":
                found.update(range(starts.pop() + 1, token.end[0] + 1))
            elif token.type == tokenize.STRING:
                found.update(range(token.start[0] + 1, token.end[0] + 1))
        found.update(number + 2 for number, line in enumerate(self.lines) if line.endswith("\\"))
        return frozenset(found)

    def comments(self, span: Span) -> list[Span]:
        """The comments that begin within a span."""
        found = []
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type == tokenize.COMMENT:
                start = self._starts[token.start[0] - 1] + token.start[1]
                if span.start <= start < span.end:
                    found.append(Span(start, start + len(token.string)))
        return found
