"""The arguments of a call: which parameter each one is, and edits that rename, drop, change or add some of them."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trueline.migrate.rewrite.edits import Span
from trueline.migrate.rewrite.sheet import Sheet

Parameters = Sequence[tuple[str, str | None]]


@dataclass(frozen=True, slots=True)
class Bound:
    """The arguments of a call by parameter; ``rest`` is what a ``*parameter`` takes."""

    given: Mapping[str, ast.expr]
    rest: Sequence[ast.expr] = ()


class CannotBind(Exception):  # noqa: N818
    """A call whose arguments cannot be told, or which has none of these parameters; the argument's name."""


def bind(call: ast.Call, parameters: Parameters) -> Bound:
    """Which parameter gets which argument."""
    names = [name for name, _ in parameters if not name.startswith("*")]
    starred = next((place for place, (name, _) in enumerate(parameters) if name.startswith("*")), None)
    plain = names if starred is None else names[:starred]
    given: dict[str, ast.expr] = {}
    if starred is None and len(call.args) > len(plain):
        raise CannotBind("*")
    for name, value in zip(plain, call.args, strict=False):
        if isinstance(value, ast.Starred):
            raise CannotBind("*")
        given[name] = value
    rest = call.args[len(plain) :]
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg not in names or keyword.arg in given:
            raise CannotBind(keyword.arg or "**")
        given[keyword.arg] = keyword.value
    optional = [name for name, default in parameters if default is not None]
    required = [name for name, default in parameters if default is None and not name.startswith("*")]
    missing = [name for name in required if name not in given]
    if missing and optional and names.index(optional[0]) < names.index(missing[-1]):
        # ``randint(10, size)``: the first argument may be left out, and places shift.
        raise CannotBind(missing[-1])
    return Bound(given, rest)


def literal(node: ast.expr) -> tuple[bool, object]:
    """Whether a node is a literal, and its value."""
    try:
        return True, ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False, None


@dataclass(slots=True)
class _Entry:
    """One argument in the text."""

    span: Span
    node: ast.expr
    keyword: str | None
    name: str = ""
    value: str | None = None
    before: str = ""
    dropped: bool = False


@dataclass(slots=True)
class Rewriting:
    """The edits of one call's arguments."""

    sheet: Sheet
    call: ast.Call
    entries: list[_Entry] = field(init=False)
    inside: Span = field(init=False)

    def __post_init__(self) -> None:
        self.inside, spans = _split(self.sheet, self.call)
        ordered = sorted(
            [(self.sheet.at.of(node).start, node, None) for node in self.call.args]
            + [(self.sheet.at.of(one.value).start, one.value, one.arg) for one in self.call.keywords],
            key=lambda item: item[0],
        )
        if len(spans) != len(ordered):
            raise CannotBind("*")
        self.entries = [_Entry(span, node, keyword) for span, (_, node, keyword) in zip(spans, ordered, strict=True)]

    def entry(self, node: ast.expr) -> _Entry:
        """The argument of a node."""
        return next(one for one in self.entries if one.node is node)

    def finish(self, positional: Sequence[str], added: Sequence[tuple[str, str]]) -> None:
        """Make the edits; ``positional`` are the parameters of the call that is written, in order."""
        edits, at = self.sheet.edits, self.sheet.at
        kept = [one for one in self.entries if not one.dropped]
        by_name = False
        for place, one in enumerate(kept):
            by_name = by_name or one.keyword is not None or bool(one.before)
            fits = place < len(positional) and positional[place] == one.name
            if one.keyword is not None:
                if one.keyword != one.name:
                    start = one.span.start
                    edits.replace(Span(start, start + len(one.keyword)), one.before + one.name)
                elif one.before:
                    edits.insert(one.span.start, one.before)
            elif by_name or not fits:
                by_name = True
                edits.insert(one.span.start, f"{one.before}{one.name}=")
            if one.value is not None:
                span = at.of(one.node) if one.keyword is not None else one.span
                edits.replace(span, one.value)
        self._drop(kept)
        text = ", ".join(f"{name}={value}" for name, value in added)
        if text and kept:
            edits.insert(kept[-1].span.end, f", {text}")
        elif text:
            edits.replace(self.inside, text)

    def _drop(self, kept: Sequence[_Entry]) -> None:
        edits = self.sheet.edits
        if not kept:
            if self.entries:
                edits.replace(self.inside, "")
            return
        first = kept[0].span.start
        for place, one in enumerate(self.entries):
            if one.dropped and one.span.start > first:
                edits.replace(Span(self.entries[place - 1].span.end, one.span.end), "")
        if self.entries[0].dropped:
            edits.replace(Span(self.entries[0].span.start, first), "")


def _split(sheet: Sheet, call: ast.Call) -> tuple[Span, list[Span]]:
    """What stands between a call's brackets, and its arguments."""
    whole, name = sheet.at.of(call), sheet.at.of(call.func)
    opening = sheet.text.index("(", name.end)
    text = sheet.text[opening : whole.end]
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    spans: list[Span] = []
    depth, begin, end = 0, -1, -1
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.ENDMARKER):
            continue
        start = starts[token.start[0] - 1] + token.start[1]
        if token.type == tokenize.OP and token.string in ")]}":
            depth -= 1
        if (depth == 0 and start) or (depth == 1 and token.string == "," and token.type == tokenize.OP):
            if begin >= 0:
                spans.append(Span(opening + begin, opening + end))
            begin = -1
            if depth == 0:
                break
        elif depth >= 1:
            begin = start if begin < 0 else begin
            end = starts[token.end[0] - 1] + token.end[1]
        if token.type == tokenize.OP and token.string in "([{":
            depth += 1
    return Span(opening + 1, whole.end - 1), spans
