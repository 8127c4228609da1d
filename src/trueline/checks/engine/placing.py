"""Where each fault is: one name for its file, and one finding for what several ways of looking say of it.

The line comes from the script, the step from the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from trueline.checks.engine.sources import Sources
from trueline.model.finding import PLACING, READING, READING_BOTH, Conclusion, Evidence, Finding, way_text

ALSO: Final = "also"


class Placed(NamedTuple):
    """A finding, and what each way of looking has said of it; the first is the one that the finding is told by."""

    finding: Finding
    sightings: tuple[Finding, ...]


def placed(findings: Sequence[Finding], sources: Sources) -> list[Placed]:
    """The findings with their files as the script calls them, those of one fault put together.

    Which are put together does not depend on their order; what comes out is in the order of what went in.
    """
    sightings = [_in_named_file(finding, sources) for finding in findings]
    faults: list[Placed] = []
    for sighting in sorted(sightings, key=_rank):
        if any(_is_repeated(fault.finding, sighting) for fault in faults):
            continue
        same = next((at for at, fault in enumerate(faults) if _is_same(fault.finding, sighting, sightings)), None)
        if same is None:
            faults.append(Placed(sighting, (sighting,)))
        else:
            finding, before = faults[same]
            faults[same] = Placed(_together(finding, sighting), (*before, sighting))
    merged = [fault.finding for fault in faults]
    first = {finding.code: at for at, finding in reversed(list(enumerate(sightings)))}
    came = {id(finding): at for at, finding in enumerate(sightings)}
    return sorted(
        (fault for fault in faults if not _is_settled(fault.finding, merged)),
        key=lambda fault: (
            first[fault.finding.code],
            _is_not_of_script(fault.sightings[0]),
            came[id(fault.sightings[0])],
        ),
    )


def _rank(finding: Finding) -> tuple[bool, list[int], str, int, str]:
    """An order of findings of their own: scripts first, and of the same evidence by place and sentence."""
    kinds = [list(Evidence).index(kind) for way in finding.seen_by for kind in Evidence if kind in way]
    where = finding.where
    rest = repr((where, finding.message, finding.because, finding.conclusion))
    return _is_not_of_script(finding), kinds, where.file, where.line, rest


def _in_named_file(finding: Finding, sources: Sources) -> Finding:
    file = sources.name_of_file(finding)
    return finding if file == finding.where.file else replace(finding, where=replace(finding.where, file=file))


def _is_settled(finding: Finding, findings: Sequence[Finding]) -> bool:
    """What one way only suspects and another has found on the same line."""
    if finding.conclusion is not Conclusion.SUSPECT or not finding.where.line:
        return False
    place = (finding.code, finding.where.file, finding.where.line)
    return any(
        finding.conclusion is Conclusion.FOUND and (finding.code, finding.where.file, finding.where.line) == place
        for finding in findings
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


def _is_not_of_script(finding: Finding) -> bool:
    # A script names the line, alone or with what a run has measured.
    return finding.seen_by not in ((READING,), (PLACING,))


def _is_same(first: Finding, second: Finding, findings: Sequence[Finding]) -> bool:
    """Both found, by different ways: on one line; or reading has named one line, and what ran shows one fault."""
    both_found = first.conclusion is second.conclusion is Conclusion.FOUND
    if not both_found or first.code != second.code or first.where.side != second.where.side:
        return False
    if not first.where.line or first.seen_by == second.seen_by:
        return False
    if (first.where.file, first.where.line) == (second.where.file, second.where.line):
        return True
    problems = [
        finding for finding in findings if finding.code == first.code and finding.conclusion is Conclusion.FOUND
    ]
    read = {(finding.where.file, finding.where.line) for finding in problems if not _is_not_of_script(finding)}
    # A script names the line at fault, a run the one where it shows.
    ran = {(finding.where.file, finding.where.line) for finding in problems if _is_not_of_script(finding)}
    return len(read) == 1 and Evidence.SCRIPT in first.seen_by[0] and (not second.where.line or len(ran) == 1)


def _together(first: Finding, second: Finding) -> Finding:
    own, place = first.where, second.where
    if first.seen_by == (READING,) and second.seen_by == (READING_BOTH,) and not _is_missing(second):
        # Beside a benchmark the line is known that differs; alone, one of those that the fault shows in.
        own = replace(own, file=place.file, line=place.line)
    where = replace(
        own,
        step=own.step if own.step is not None else place.step,
        module=own.module if own.module is not None else place.module,
        rank=own.rank if own.rank is not None else place.rank,
        sample=own.sample if own.sample is not None else place.sample,
    )
    measured = first.measured is None
    return replace(
        first,
        where=where,
        measured=second.measured if measured else first.measured,
        limit=second.limit if measured else first.limit,
        evidence=[*first.evidence, *second.evidence],
        seen_by=tuple(dict.fromkeys((*first.seen_by, *second.seen_by))),
        extra={**first.extra, ALSO: [*first.extra.get(ALSO, []), _also(second)]},
    )


def _is_missing(finding: Finding) -> bool:
    """What only the benchmark has, or has elsewhere, stands nowhere here: there is no line to take over."""
    return any(isinstance(seen, dict) and seen.get("kind") in ("missing", "order") for seen in finding.evidence)


def _also(finding: Finding) -> dict[str, object]:
    """What another way has said of it, and of where."""
    by = ", ".join(map(way_text, finding.seen_by))
    return {"by": by, "message": finding.message.text(), "where": finding.where.to_json()}
