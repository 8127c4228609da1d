"""A comparison of weight files, folders of arrays or dumps, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from trueline.compare.align import Layout, Reason
from trueline.compare.array_findings import array_findings, namers
from trueline.compare.arrays import ArraysComparison, Part
from trueline.compare.floors import Basis, Floors
from trueline.compare.report.strips import height
from trueline.compare.report.tables import (
    View,
    doubtful,
    floor_json,
    floor_sentence,
    folded_rows,
    leftover_json,
    leftovers,
    row_json,
    row_table,
)
from trueline.compare.rows import Row
from trueline.compare.verdict import Verdict
from trueline.compare.wording import side_names
from trueline.formats.printable import printable
from trueline.model.finding import Conclusion
from trueline.model.message import Message, message
from trueline.model.report import Block, Report, Strip, Table, Text
from trueline.model.result import Exit, Result

_TOP: Final = 10
_AROUND: Final = 4
_STRIP: Final = 2000


def arrays_report(compared: ArraysComparison, floors: Floors, view: View) -> Report:
    """For people: the first or furthest difference on top, the rest folded."""
    names = side_names(compared.a, compared.b)
    title = message("compare.title", a=names[0], b=names[1])
    blocks = tuple(_blocks(compared, floors, view, names))
    return Report(title, arrays_conclusion(compared), array_findings(compared), blocks)


def arrays_result(compared: ArraysComparison, floors: Floors, view: View, kind: str) -> Result:
    """For programs."""
    found = array_findings(compared)
    rows = [row for part in compared.parts for row in part.tensors.rows]
    first = compared.first
    names = namers(compared)
    fields = {
        "kind": kind,
        "verdict": compared.verdict,
        "floor": floor_json(rows, floors, first),
        "first": _first_json(compared, first),
        "stopped_at": _stopped(compared),
        "compared": len(rows),
        "differing": sum(row.differs for row in rows),
        "tensors": [
            {**_place(part), **row_json(row)} for part in compared.parts for row in view.rows(part.tensors.rows)
        ]
        if view.listed
        else [],
        "only_a": [
            {**_place(part), **one}
            for part in compared.parts
            for one in leftover_json(part.tensors.alignment.only_a, *names)
        ],
        "only_b": [
            {**_place(part), **one}
            for part in compared.parts
            for one in leftover_json(part.tensors.alignment.only_b, *reversed(names))
        ],
        "sections_on_one_side": dict(compared.unmatched),
    }
    problem = any(finding.conclusion is Conclusion.FOUND for finding in found)
    return Result("compare", arrays_conclusion(compared), Exit.PROBLEM if problem else Exit.FINE, found, fields)


def arrays_conclusion(compared: ArraysComparison) -> Message:
    """In one sentence."""
    found = array_findings(compared)
    names = side_names(compared.a, compared.b)
    rows = [row for part in compared.parts for row in part.tensors.rows]
    if not rows:
        return message("compare.nothing_in_common", a=names[0], b=names[1])
    if found:
        return found[0].message
    if compared.verdict is Verdict.EQUAL:
        numbers, chosen = any(row.by_numbers for row in rows), _chosen(rows)
        if chosen and not numbers:
            return message("compare.arrays_equal_by_values", a=names[0], b=names[1], count=len(rows), chosen=chosen)
        id = "compare.arrays_equal_numbers" if numbers else "compare.arrays_equal"
    else:
        given = all(row.floor.basis is Basis.GIVEN for row in rows)
        id = "compare.arrays_within" if given else "compare.arrays_noise"
    return message(id, a=names[0], b=names[1], count=len(rows))


def _chosen(rows: Sequence[Row]) -> int:
    """How many were paired for their values."""
    return sum(row.pair.reason is Reason.VALUES for row in rows)


def _blocks(compared: ArraysComparison, floors: Floors, view: View, names: tuple[str, str]) -> Iterator[Block]:
    part = compared.main
    if part is None:
        return
    rows = part.tensors.rows
    if compared.in_order and 1 < len(rows) <= _STRIP:
        yield _strip(part)
    yield _table(compared, part, view, names)
    yield Text(floor_sentence(rows, floors, of_runs=False))
    yield from _notes(compared, names)
    if len(compared.parts) > 1:
        yield _parts(compared)
    for section, path in compared.unmatched.items():
        yield Text(message("compare.section_alone", section=section, path=path))
    for one in compared.parts:
        if one.section and one.name:
            continue
        yield from leftovers(one.tensors.alignment, names, namers(compared))
    for one in compared.parts:
        title = message("compare.rows_of", part=_part_name(one))
        yield from folded_rows(title, one.tensors.rows, view, _name)
        yield from doubtful(one.tensors.alignment)


def _notes(compared: ArraysComparison, names: tuple[str, str]) -> Iterator[Text]:
    """What a reader should know of the pairs."""
    rows = [row for part in compared.parts for row in part.tensors.rows]
    chosen = _chosen(rows)
    if chosen:
        yield Text(message("compare.by_values", chosen=chosen, count=len(rows)))
    transposed = [row for row in rows if row.pair.layout is Layout.TRANSPOSED and not row.differs]
    if transposed:
        name = printable(transposed[0].a.name)
        yield Text(message("compare.transposed_pairs", count=len(transposed), name=name))
    for part in compared.parts:
        only_a, only_b = len(part.tensors.alignment.only_a), len(part.tensors.alignment.only_b)
        if part.section and part.name and (only_a or only_b):
            sides = {"a": names[0], "b": names[1], "only_a": only_a, "only_b": only_b}
            yield Text(message("compare.left_elsewhere", section=part.name, **sides))


def _table(compared: ArraysComparison, part: Part, view: View, names: tuple[str, str]) -> Table:
    tensors = part.tensors
    if tensors.first is not None and compared.in_order and not view.only_differing:
        begin = max(0, tensors.first - _AROUND)
        rows = list(tensors.rows[begin : tensors.first + (view.top or _AROUND)])
        title = "compare.table_first"
    elif tensors.first is not None:
        rows = sorted(tensors.differing, key=lambda row: -row.level)[: view.top or _TOP]
        title = "compare.table_apart"
    else:
        rows = sorted(tensors.rows, key=lambda row: -row.level)[: view.top or _TOP]
        title = "compare.table_none"
    first = compared.first
    return row_table(message(title, a=names[0], b=names[1]), rows, _name, [first] if first is not None else [])


def _strip(part: Part) -> Strip:
    rows = part.tensors.rows
    return Strip(
        message("compare.strip_arrays"),
        [row.a.name for row in rows],
        [height(row) for row in rows],
        part.tensors.first,
        [[row_table(message("compare.rows_of", part=row.b.name), [row], _name)] for row in rows],
    )


def _parts(compared: ArraysComparison) -> Table:
    rows = []
    for part in compared.parts:
        first = part.tensors.first_row
        verdict = part.tensors.verdict
        word = message(f"compare.word_{verdict.value}") if verdict is not None else ""
        rows.append([_part_name(part), len(part.tensors.rows), word, first.b.name if first is not None else ""])
    columns = [message(f"compare.column_{name}") for name in ("part", "tensors", "verdict", "first")]
    marked = frozenset(place for place, part in enumerate(compared.parts) if part.tensors.first is not None)
    return Table(message("compare.parts"), columns, rows, marked)


def _part_name(part: Part) -> Message | str:
    if part.step is not None:
        return message("compare.step_and_rank", step=part.step, rank=part.rank)
    return part.name or message("compare.model_section" if part.section else "compare.tensors_section")


def _name(row: Row) -> str:
    return row.a.name


def _place(part: Part) -> Mapping[str, object]:
    if part.step is not None:
        return {"step": part.step, "rank": part.rank}
    return {"section": part.name}


def _stopped(compared: ArraysComparison) -> str | None:
    part = compared.main
    if part is None or part.tensors.first is None:
        return "structure" if compared.verdict is Verdict.DIFFERS else None
    return "tensors"


def _first_json(compared: ArraysComparison, first: Row | None) -> dict[str, object] | None:
    part = compared.main
    if first is None or part is None:
        return None
    return {
        "key": first.a.name,
        "other_key": first.b.name,
        "step": part.step,
        "kind": first.pair.b.kind.value,
        "inputs_agree": part.tensors.inputs_agree if compared.in_order and part.step is not None else None,
    }
