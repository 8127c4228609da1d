"""What all reports of comparisons share: rows of numbers, leftovers, the sentence on the floor."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from trueline.compare.align import Alignment, Leftover, Pair, Reason
from trueline.compare.floors import Basis, Floors
from trueline.compare.rows import Row, floor_bases
from trueline.model.finding import Certainty
from trueline.model.key import Key
from trueline.model.message import Message, message
from trueline.model.numbers import encode
from trueline.model.report import Block, Folded, Table, Text

Namer: TypeAlias = Callable[[Key], str]
Namers: TypeAlias = tuple[Namer, Namer]

_NUMBERS: Final = ("max_abs", "relative_max", "relative_l2", "cosine", "floor", "verdict")
_LEFTOVERS: Final = 200
_FOLDED_ROWS: Final = 5000


@dataclass(frozen=True, slots=True)
class View:
    """How much is shown: ``top`` rows, only those that differ; ``listed`` says whether programs get a list too."""

    top: int | None = None
    only_differing: bool = False
    listed: bool = True

    def rows(self, rows: Sequence[Row]) -> list[Row]:
        """The rows a list of all of them shows."""
        return [row for row in rows if row.differs or not self.only_differing][: self.top]


def row_table(title: Message, rows: Sequence[Row], name: Callable[[Row], str], marked: Iterable[Row] = ()) -> Table:
    """Rows of numbers; what is called otherwise in the benchmark gets a column of its own."""
    renamed = any(row.a.name != row.b.name for row in rows)
    columns = ["tensor", *(["other"] if renamed else []), *_NUMBERS]
    chosen = {id(row) for row in marked}
    return Table(
        title,
        [message(f"compare.column_{column}") for column in columns],
        [[name(row), *([_other(row)] if renamed else []), *_numbers(row)] for row in rows],
        frozenset(place for place, row in enumerate(rows) if id(row) in chosen),
    )


def _other(row: Row) -> str:
    return short(row.pair.b, row.b.name) if row.a.name != row.b.name else ""


def short(key: Key, name: str) -> str:
    """A tensor's name; a key of a run without its phase, which the title's step implies."""
    return name.partition("/")[2] if name == str(key) else name


def _numbers(row: Row) -> list[object]:
    found = row.distance
    if not found.comparable:
        shapes = message("compare.shapes", a=list(found.shape_a), b=list(found.shape_b))
        return [shapes, "", "", "", "", message("compare.word_differs")]
    numbers = (found.max_abs, found.relative_max, found.relative_l2)
    cosine = f"{found.cosine:.4f}" if math.isfinite(found.cosine) else "-"
    return [*(f"{number:.1e}" for number in numbers), cosine, f"{row.floor.value:.1e}", word(row)]


def word(row: Row) -> Message:
    """A row's verdict, with how many times the floor it is."""
    if row.differs and math.isfinite(row.times) and row.floor.basis is not Basis.GIVEN:
        return message("compare.word_differs_times", times=_times(row.times))
    return message(f"compare.word_{row.verdict.value}")


def _times(times: float) -> str:
    """Two digits are plenty, and large numbers are written out as far as they stay short."""
    return f"{float(f'{times:.2g}'):g}" if times >= 1e6 else f"{float(f'{times:.2g}'):.10g}"


def floor_sentence(rows: Iterable[Row], floors: Floors, *, of_runs: bool = True) -> Message:
    """Which floor was used."""
    bases = floor_bases(rows)
    if floors.given:
        rtol, atol = floors.tolerance
        return message("compare.floor_given", rtol=rtol, atol=atol)
    measured, estimated = bases.get(Basis.MEASURED, 0), bases.get(Basis.ESTIMATED, 0)
    if measured and floors.noise is not None:
        return message("compare.floor_measured", tries=floors.noise.tries, count=measured, estimated=estimated)
    return message("compare.floor_estimated" if of_runs else "compare.floor_estimated_files")


def folded_rows(title: Message, rows: Sequence[Row], view: View, name: Callable[[Row], str]) -> Iterator[Block]:
    """All rows, to be opened by who wants them."""
    shown = view.rows(rows)
    if shown:
        table = row_table(title, shown[:_FOLDED_ROWS], name, [row for row in shown if row.differs])
        many = "compare.all_rows" if len(shown) == len(rows) else "compare.some_rows"
        yield Folded(message(many, part=title, count=len(shown), all=len(rows)), [table])


def doubtful(alignment: Alignment) -> Iterator[Block]:
    """The pairs that are not the same by name: what was taken for what, and why."""
    pairs = [pair for pair in alignment.pairs if pair.reason not in (Reason.NAME, Reason.MAP)]
    if not pairs:
        return
    rows = [[_named(pair.a), _named(pair.b), *_why(pair)] for pair in pairs[:_FOLDED_ROWS]]
    marked = frozenset(place for place, pair in enumerate(pairs) if pair.certainty is Certainty.POSSIBLE)
    columns = [message(f"compare.column_{name}") for name in ("tensor", "other", "reason", "sure")]
    table = Table(message("compare.pairs"), columns, rows, marked)
    yield Folded(message("compare.pairs_count", count=len(pairs)), [table])


def _why(pair: Pair) -> list[Message]:
    return [message(f"align.reason_{pair.reason.value}"), message(f"compare.sure_{pair.certainty.value}")]


def _named(key: Key) -> str:
    return str(key).partition("/")[2]


def leftovers(alignment: Alignment, names: tuple[str, str], of: Namers) -> Iterator[Block]:
    """What only one side has, with the nearest on the other."""
    for place, left in enumerate((alignment.only_a, alignment.only_b)):
        if not left:
            continue
        side, other, name, near = names[place], names[1 - place], of[place], of[1 - place]
        columns = [message("compare.column_tensor"), message("compare.column_nearest", side=other)]
        rows = [
            [name(leftover.key), near(leftover.nearest) if leftover.nearest is not None else ""]
            for leftover in left[:_LEFTOVERS]
        ]
        yield Table(message("compare.only", side=side, count=len(left)), columns, rows)
        if len(left) > _LEFTOVERS:
            yield Text(message("compare.more_left", count=len(left) - _LEFTOVERS))


def row_json(row: Row) -> dict[str, object]:
    """A row for programs."""
    return {
        "name": row.a.name,
        "other_name": row.b.name,
        "reason": row.pair.reason.value,
        "certainty": row.pair.certainty.value,
        "layout": row.pair.layout.value,
        "verdict": row.verdict.value,
        "level": encode(row.level),
        "floor": encode(row.floor.value),
        "basis": row.floor.basis.value,
        "times": encode(row.times),
        "by_numbers": row.by_numbers,
        **row.distance.to_json(),
    }


def leftover_json(left: Sequence[Leftover], name: Namer, near: Namer) -> list[dict[str, object]]:
    """What only one side has, for programs."""
    return [
        {"name": name(leftover.key), "nearest": near(leftover.nearest) if leftover.nearest is not None else None}
        for leftover in left
    ]


def floor_json(rows: Sequence[Row], floors: Floors, first: Row | None) -> dict[str, object]:
    """The floor that was used, for programs."""
    bases = floor_bases(rows)
    rtol, atol = floors.tolerance
    main = Basis.GIVEN if floors.given else max(bases, key=lambda base: bases[base], default=Basis.ESTIMATED)
    return {
        "basis": main.value,
        "estimated": main is Basis.ESTIMATED,
        "tries": floors.noise.tries if floors.noise is not None else None,
        "rtol": rtol if floors.given else None,
        "atol": atol if floors.given else None,
        "first": encode(first.floor.value) if first is not None else None,
    }
