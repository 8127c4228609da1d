"""What a run has measured, at the line of the script that makes it: the run alone names who felt it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from trueline.checks.engine.check import undecided
from trueline.model.finding import Conclusion, Finding
from trueline.model.location import Location


def at_lines(
    read: Iterable[Finding], measured: Iterable[Finding], line_of: Callable[[Finding], Location | None], said: str
) -> Iterator[Finding]:
    """The problems of a run with lines of the script; none where reading has found some itself. ``said``: no others."""
    placed = 0
    if not any(finding.conclusion is Conclusion.FOUND for finding in read):
        for finding in measured:
            line = line_of(finding) if finding.conclusion is Conclusion.FOUND else None
            if line is not None:
                placed += 1
                yield replace(finding, where=replace(finding.where, file=line.file, line=line.line))
    if not placed:
        yield undecided(said)
