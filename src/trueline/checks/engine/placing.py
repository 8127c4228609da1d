"""The line of the script at which what a run has measured is made, where the run alone names who felt it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from trueline.checks.engine.check import undecided
from trueline.model.finding import Conclusion, Finding
from trueline.model.location import Location


def placed(
    read: Iterable[Finding], measured: Iterable[Finding], place: Callable[[Finding], Location | None], said: str
) -> Iterator[Finding]:
    """The problems of a run with lines of the script; none where reading has found some itself. ``said``: no others."""
    told = False
    if not any(one.conclusion is Conclusion.FOUND for one in read):
        for one in measured:
            at = place(one) if one.conclusion is Conclusion.FOUND else None
            if at is not None:
                told = True
                where = at
                yield replace(one, where=replace(one.where, file=where.file, line=where.line))
    if not told:
        yield undecided(said)
