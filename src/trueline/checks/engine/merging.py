"""What several ways of looking say of one fault is one finding: its line from the script, its step from the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from trueline.model.finding import PLACING, READING, READING_BOTH, Conclusion, Evidence, Finding, way_text

ALSO: Final = "also"


def once(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, with those that speak of the same place, or of a code's only fault, put together."""
    kept: list[Finding] = []
    for one in sorted(findings, key=_is_not_of_script):
        if any(_is_repeated(other, one) for other in kept):
            continue
        at = next((place for place, other in enumerate(kept) if _is_same(other, one, findings)), None)
        if at is None:
            kept.append(one)
        else:
            kept[at] = _together(kept[at], one)
    kept = [one for one in kept if not _is_settled(one, kept)]
    order = {one.code: place for place, one in reversed(list(enumerate(findings)))}
    return sorted(kept, key=lambda one: order[one.code])


def _is_settled(one: Finding, findings: Sequence[Finding]) -> bool:
    """What one way only suspects and another has found on the same line."""
    if one.conclusion is not Conclusion.SUSPECT or not one.where.line:
        return False
    place = (one.code, one.where.file, one.where.line)
    return any(
        other.conclusion is Conclusion.FOUND and (other.code, other.where.file, other.where.line) == place
        for other in findings
    )


def _is_repeated(first: Finding, second: Finding) -> bool:
    """The same sentence of the same line, as of a loader that several loops go through."""
    if first.conclusion is not Conclusion.FOUND or not first.where.line:
        return False
    return (first.code, first.where, first.message, first.because, first.seen_by) == (
        second.code,
        second.where,
        second.message,
        second.because,
        second.seen_by,
    )


def _is_not_of_script(one: Finding) -> bool:
    # A script names the line, alone or with what a run has measured.
    return one.seen_by not in ((READING,), (PLACING,))


def _is_same(first: Finding, second: Finding, findings: Sequence[Finding]) -> bool:
    """Both found, by different ways: on one line; or reading has named one line, and what ran shows one fault."""
    both_found = first.conclusion is second.conclusion is Conclusion.FOUND
    if not both_found or first.code != second.code or first.where.side != second.where.side:
        return False
    if not first.where.line or first.seen_by == second.seen_by:
        return False
    if (first.where.file, first.where.line) == (second.where.file, second.where.line):
        return True
    found = [one for one in findings if one.code == first.code and one.conclusion is Conclusion.FOUND]
    read = {(one.where.file, one.where.line) for one in found if not _is_not_of_script(one)}
    # A script names the line at fault, a run the one where it shows.
    ran = {(one.where.file, one.where.line) for one in found if _is_not_of_script(one)}
    return len(read) == 1 and Evidence.SCRIPT in first.seen_by[0] and (not second.where.line or len(ran) == 1)


def _together(first: Finding, second: Finding) -> Finding:
    own, other = first.where, second.where
    if first.seen_by == (READING,) and second.seen_by == (READING_BOTH,) and not _is_missing(second):
        # Beside a benchmark the line is known that differs; alone, one of those that the fault shows in.
        own = replace(own, file=other.file, line=other.line)
    where = replace(
        own,
        step=own.step if own.step is not None else other.step,
        module=own.module if own.module is not None else other.module,
        rank=own.rank if own.rank is not None else other.rank,
        sample=own.sample if own.sample is not None else other.sample,
    )
    measured = first.measured is None
    return replace(
        first,
        where=where,
        because=first.because if second.because is not None else None,
        measured=second.measured if measured else first.measured,
        limit=second.limit if measured else first.limit,
        evidence=[*first.evidence, *second.evidence],
        seen_by=tuple(dict.fromkeys((*first.seen_by, *second.seen_by))),
        extra={**first.extra, ALSO: [*first.extra.get(ALSO, []), _also(second)]},
    )


def _is_missing(one: Finding) -> bool:
    """What only the benchmark has, or has elsewhere, stands nowhere here: there is no line to take over."""
    return any(isinstance(each, dict) and each.get("kind") in ("missing", "order") for each in one.evidence)


def _also(one: Finding) -> dict[str, Any]:
    """What another way has said of it, and of where."""
    return {"by": ", ".join(map(way_text, one.seen_by)), "message": one.message.text(), "where": one.where.to_json()}
