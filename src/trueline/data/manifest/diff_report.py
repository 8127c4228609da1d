"""How lists of files differ from the reference, for people and for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

from trueline.data.manifest.difference import Changed, Difference, Renamed, differ, duplicates
from trueline.data.manifest.report import names_of, unread_json, unread_table, why
from trueline.data.manifest.sides import Side
from trueline.model.finding import Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.report import Block, Report, Table, Text
from trueline.model.result import Exit, Result

_CODE: Final = "ds.04"
_ROWS: Final = 20
_KINDS: Final = ("missing", "extra", "changed", "renamed", "unread")
_GROUPS: Final = 50


class Differences:
    """The reference, and every other side held against it."""

    def __init__(self, sides: Sequence[Side]) -> None:
        self.reference, *self.others = sides
        self.found = [differ(self.reference.manifest, side.manifest) for side in self.others]
        self.doubled = [duplicates(side.manifest) for side in sides]

    @property
    def sides(self) -> list[Side]:
        """All, the reference first."""
        return [self.reference, *self.others]


_Entry = TypeVar("_Entry")


def result(all: Differences) -> Result:
    """For programs."""
    fields = {
        "reference": all.reference.name,
        "sides": [
            {
                "name": side.name,
                "files": len(side.manifest.paths),
                "duplicates": [list(group) for group in doubled[:_GROUPS]],
                "duplicate_groups": len(doubled),
                "skipped": [unread_json(unread) for unread in side.manifest.unread],
            }
            for side, doubled in zip(all.sides, all.doubled, strict=True)
        ],
        "differences": [_json(side, difference) for side, difference in zip(all.others, all.found, strict=True)],
    }
    exit = Exit.PROBLEM if any(difference.count for difference in all.found) else Exit.FINE
    return Result("data diff", _conclusion(all), exit, _findings(all), fields)


def _json(side: Side, found: Difference) -> dict[str, object]:
    return {
        "side": side.name,
        "same": found.same,
        "compared_by": dict(found.by),
        "missing": [{"path": lone.path, "same_as": lone.twin} for lone in found.missing],
        "extra": [{"path": lone.path, "same_as": lone.twin} for lone in found.extra],
        "changed": [
            {"path": changed.path, "size": changed.size, "other_size": changed.other_size} for changed in found.changed
        ],
        "renamed": [{"path": renamed.path, "other_path": renamed.other_path} for renamed in found.renamed],
        "unread": [unread_json(unread) for unread in found.unread],
        "names_without": {"reference": found.shift.reference, "side": found.shift.other},
    }


def report(all: Differences) -> Report:
    """For people."""
    others = ", ".join(side.name for side in all.others)
    title = message("manifest.diff_title", reference=all.reference.name, others=others)
    return Report(title, _conclusion(all), _findings(all), tuple(_blocks(all)))


def _conclusion(all: Differences) -> Message:
    differing = [side.name for side, difference in zip(all.others, all.found, strict=True) if difference.count]
    if differing:
        return message("manifest.differ", names=", ".join(differing), reference=all.reference.name)
    others = ", ".join(side.name for side in all.others)
    params = {"names": others, "reference": all.reference.name, "count": len(all.reference.manifest.paths)}
    weakest = _weakest(all.found)
    return message(f"manifest.same_by_{weakest}", **params)


def _weakest(found: Sequence[Difference]) -> str:
    by = {kind for difference in found for kind in difference.by}
    return "name" if "name" in by else "size" if "size" in by else "content"


def _findings(all: Differences) -> list[Finding]:
    return [_finding(all.reference, side, difference) for side, difference in zip(all.others, all.found, strict=True)]


def _finding(reference: Side, side: Side, found: Difference) -> Finding:
    where = Location(side=side.name)
    if not found.count:
        params = {"side": side.name, "reference": reference.name, "count": found.same}
        return Finding(_CODE, Conclusion.NONE, message("manifest.finding_same", **params), where=where)
    counts = {kind: len(getattr(found, kind)) for kind in _KINDS}
    words = {**{kind: kind for kind in _KINDS}, "missing": "unopened" if side.opened else "missing"}
    counted = _list([message(f"manifest.count_{words[kind]}", count=count) for kind, count in counts.items() if count])
    advice = "manifest.advice_unopened" if side.opened else "manifest.advice"
    return Finding(
        _CODE,
        Conclusion.FOUND,
        message("manifest.finding", side=side.name, reference=reference.name, told=counted),
        advice=message(advice, names=names_of(list(_names(found))), reference=reference.name),
        where=where,
        evidence=[{kind: [entry.path for entry in getattr(found, kind)[:_ROWS]]} for kind in _KINDS if counts[kind]],
    )


def _names(found: Difference) -> Iterator[str]:
    for kind in ("changed", "missing", "unread", "renamed", "extra"):
        yield from (entry.path for entry in getattr(found, kind))


def _list(parts: Sequence[Message]) -> Message:
    first, *rest = parts
    return message("manifest.and", first=first, rest=_list(rest)) if rest else first


def _blocks(all: Differences) -> Iterator[Block]:
    for side, found in zip(all.others, all.found, strict=True):
        if found.shift:
            shift = found.shift
            params = {"reference": all.reference.name, "off": shift.reference, "side": side.name, "other": shift.other}
            yield Text(message("manifest.shifted", **params))
        yield from _tables(side, found)
    for side, doubled in zip(all.sides, all.doubled, strict=True):
        yield from (Text(note) for note in side.manifest.notes)
        yield from unread_table(side.manifest.unread)
        if doubled:
            rows = [[len(group), names_of(group)] for group in doubled[:_ROWS]]
            columns = [message("manifest.column_count"), message("manifest.column_names")]
            yield Table(message("manifest.duplicates", side=side.name, count=len(doubled)), columns, rows)


def _tables(side: Side, found: Difference) -> Iterator[Block]:
    yield from _table("changed", side, found.changed, ["path", "size", "other_size"], _changed_row)
    missing = "unopened" if side.opened else "missing"
    yield from _table(missing, side, found.missing, ["path", "same_as"], lambda lone: [lone.path, lone.twin])
    yield from _table("unread", side, found.unread, ["path", "reason"], lambda unread: [unread.path, why(unread)])
    yield from _table("renamed", side, found.renamed, ["path", "other_path"], _renamed_row)
    yield from _table("extra", side, found.extra, ["path", "same_as"], lambda lone: [lone.path, lone.twin])


def _changed_row(changed: Changed) -> list[object]:
    return [changed.path, changed.size, changed.other_size]


def _renamed_row(renamed: Renamed) -> list[object]:
    return [renamed.path, renamed.other_path]


def _table(
    kind: str, side: Side, found: Sequence[_Entry], columns: Sequence[str], row: Callable[[_Entry], Sequence[object]]
) -> Iterator[Block]:
    if not found:
        return
    rows = [row(entry) for entry in found[:_ROWS]]
    # A column in which there is nothing says nothing.
    kept = [place for place in range(len(columns)) if place == 0 or any(cells[place] is not None for cells in rows)]
    yield Table(
        message(f"manifest.table_{kind}", side=side.name, count=len(found)),
        [message(f"manifest.column_{columns[place]}") for place in kept],
        [[cells[place] for place in kept] for cells in rows],
    )
    if len(found) > _ROWS:
        yield Text(message("manifest.more_here", count=len(found) - _ROWS))
