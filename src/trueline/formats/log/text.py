"""Curves out of the plain text that trainers print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from trueline.formats.log.rows import Rows, counter
from trueline.formats.log.running import NONE
from trueline.formats.log.shape import NUMBER, VALUE, Shape, Span, shape_of
from trueline.formats.log.stream import decoded, lines_of

# Lines that differ only in these bytes most likely have their numbers in the same places.
_FREE: Final = b"0123456789.+- \t"
_MOST_PLANS: Final = 2000
# A plan for a longer line would take longer to make than it saves.
_LONGEST_PLANNED: Final = 1000
_TRIGGER: Final = re.compile(
    r"(?i)loss|epoch|step|iter|batch|updat|lr\b|rate|acc|top[15]|ppl|perpl|norm|miou|map\b|train|test|val|\d\s*/\s*\d"
    r"|[\u4e00-\u9fff]"
)
_TOKEN: Final = re.compile(rf"{NUMBER}|\s+|[^\s\d]".encode())
_SLOTS: Final = {"": f"({VALUE})".encode(), "rank": rb"(\d{1,6})"}
_COUNTER_SLOT: Final = rb"(\d{1,15})"
# A whole number may be a counter where another number is none: a plan does not take one for the other.
_WHOLE: Final = re.compile(rb"[-+]?+\d{1,15}+")
_WHOLE_NUMBER: Final = rb"[-+]?+\d{1,15}+(?![\d.])"
_OTHER_NUMBER: Final = rb"(?![-+]?+\d{1,15}+(?![\d.eE]))" + NUMBER.encode()


class Plan:
    """A line's shape as an expression that takes the same numbers out of the next such line."""

    __slots__ = ("epoch", "match", "names", "rank", "step", "total")

    def __init__(self, shape: Shape, line: bytes, text: str, encoding: str) -> None:
        counters = {"step": shape.step, "total": shape.total, "epoch": shape.epoch, "rank": shape.rank}
        wanted: list[tuple[Span, str, str]] = [(span, "", name) for name, span in shape.scalars.items()]
        wanted += [(span, what, "") for what, span in counters.items() if span is not None]
        wanted.sort()
        parts: list[bytes] = []
        at = 0
        for (start, end), what, _ in wanted:
            first = len(text[:start].encode(encoding))
            parts += [_literal(line[at:first]), _SLOTS.get(what, _COUNTER_SLOT)]
            at = first + end - start
        parts.append(_literal(line[at:]))
        self.match = re.compile(b"".join(parts)).fullmatch
        self.names = [(name, place) for place, (_, what, name) in enumerate(wanted) if not what]
        places = {what: place for place, (_, what, _) in enumerate(wanted) if what}
        self.step = places.get("step")
        self.total = places.get("total")
        self.epoch = places.get("epoch")
        self.rank = places.get("rank")


def _literal(part: bytes) -> bytes:
    pieces: list[bytes] = []
    before = b""
    for token in _TOKEN.findall(part):
        if token.isspace():
            # Without its space a number would belong to the word before it.
            pieces.append(rb"\s++" if before.isalnum() or before >= b"\x80" else rb"\s*+")
        elif token[-1:].isdigit() or (token[-1:] == b"." and len(token) > 1):
            pieces.append(_WHOLE_NUMBER if _WHOLE.fullmatch(token) else _OTHER_NUMBER)
        else:
            pieces.append(re.escape(token))
        before = token[-1:]
    return b"".join(pieces)


class TextReader:
    """Reads lines one after another; a counter on a line of its own holds for the lines after it."""

    def __init__(self) -> None:
        self.rows = Rows()
        self._plans: dict[bytes, Plan | None] = {}
        self._seen: set[bytes] = set()
        self._epoch = NONE
        self._step = NONE
        self._total = NONE

    def read(self, lines: list[bytes]) -> None:
        """Take the numbers out of some lines."""
        plans = self._plans
        current: Plan | None = None
        run: list[tuple[bytes, ...]] = []
        for line in lines:
            # Most lines are like the one before.
            if current is not None:
                found = current.match(line)
                if found is not None:
                    run.append(found.groups())
                    continue
            outline = line.translate(None, _FREE)
            try:
                plan = plans[outline]
            except KeyError:
                self._flush(current, run)
                self._learn(line, outline)
                continue
            if plan is None:
                continue
            self._flush(current, run)
            found = plan.match(line)
            if found is None:
                self._parse(line)
            else:
                current = plan
                run.append(found.groups())
        self._flush(current, run)

    def _flush(self, plan: Plan | None, run: list[tuple[bytes, ...]]) -> None:
        """Keep the numbers of a run of lines that have one shape."""
        if plan is None or not run:
            return
        columns = list(zip(*run, strict=True))
        count = len(run)
        run.clear()
        epochs = list(map(int, columns[plan.epoch])) if plan.epoch is not None else [self._epoch] * count
        self._epoch = epochs[-1]
        steps = list(map(int, columns[plan.step])) if plan.step is not None else None
        totals = list(map(int, columns[plan.total])) if plan.total is not None else [NONE] * count
        if not plan.names:
            if steps is not None:
                self._step, self._total = steps[-1], totals[-1]
            return
        if steps is None:
            steps = [self._step] + [NONE] * (count - 1)
            totals[0] = self._total
        self._step = self._total = NONE
        self.rows.extend(
            count,
            [(name, map(float, columns[place])) for name, place in plan.names],
            epochs=epochs,
            steps=steps,
            totals=totals,
            ranks=map(int, columns[plan.rank]) if plan.rank is not None else [NONE] * count,
        )

    def _learn(self, line: bytes, outline: bytes) -> None:
        """Look closely at a line of a new kind; the second of its kind makes the plan for the others."""
        if len(self._plans) >= _MOST_PLANS:
            self._plans.clear()
        if len(self._seen) >= _MOST_PLANS:
            self._seen.clear()
        text, encoding = decoded(line)
        if _TRIGGER.search(text) is None:
            self._plans[outline] = None
            return
        shape = self._parse(line)
        if len(line) <= _LONGEST_PLANNED and encoding and outline in self._seen and shape.apart:
            self._plans[outline] = Plan(shape, line, text, encoding)
        self._seen.add(outline)

    def _parse(self, line: bytes) -> Shape:
        text = decoded(line)[0]
        shape = shape_of(text)
        if not shape.empty:
            self._take(
                [(name, float(text[start:end])) for name, (start, end) in shape.scalars.items()],
                *(
                    counter(text[span[0] : span[1]]) if span is not None else NONE
                    for span in (shape.step, shape.total, shape.epoch, shape.rank)
                ),
            )
        return shape

    def _take(self, scalars: list[tuple[str, float]], step: int, total: int, epoch: int, rank: int) -> None:
        if epoch != NONE:
            self._epoch = epoch
        if not scalars:
            if step != NONE:
                self._step, self._total = step, total
            return
        if step == NONE:
            step, total = self._step, self._total
        self._step = self._total = NONE
        self.rows.add(scalars, epoch=self._epoch, step=step, total=total, rank=rank)


def text_rows(path: Path) -> Rows:
    """What a text log says."""
    reader = TextReader()
    for lines in lines_of(path):
        reader.read(lines)
    return reader.rows


def texts_of(path: Path, most: int) -> Iterator[str]:
    """A log's lines as text."""
    for lines in lines_of(path, most):
        for line in lines:
            yield decoded(line)[0]
