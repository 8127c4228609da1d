"""When a finding follows from another one: the conditions that items name in their ``follows``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trueline.model.finding import MEASURING_BOTH, READING, READING_BOTH, Finding
from trueline.model.location import Location


def not_later(root: Location, place: Location) -> bool:
    """The root was there when the other one showed; what has no step was there from the beginning."""
    return place.step is None or (root.step or 0) <= place.step


def written(root: Finding, finding: Finding) -> bool:
    """The root is a number that the source itself shows to be absurd, and the other one was only seen to happen."""
    return is_read(root) and happened(root, finding)


def happened(root: Finding, finding: Finding) -> bool:
    """The other one was seen to happen: what is absurd or another as it is written follows from nothing."""
    del root
    return not finding.seen_by or any(way not in (READING, READING_BOTH) for way in finding.seen_by)


def is_read(finding: Finding) -> bool:
    """The source alone shows it."""
    return finding.seen_by == (READING,)


def compared(root: Finding, finding: Finding) -> bool:
    """The other one is only a difference from the benchmark's script."""
    del root
    return finding.seen_by == (READING_BOTH,)


def same_line(root: Location, place: Location) -> bool:
    """One line is at fault; what only a run has seen of it has another place, or none."""
    return (root.file, root.line) == (place.file, place.line) or place.step is not None


def began_before(root: Location, place: Location) -> bool:
    """The root was there before a run has seen the other one: by the script, or in a step before."""
    return place.step is not None and (root.step is None or root.step < place.step)


def seen_later(root: Location, place: Location) -> bool:
    """The root was there when a run has seen the other one."""
    return place.step is not None and not_later(root, place)


def shows_in_run(root: Location, place: Location) -> bool:
    """What a run has shown; what reading has found has a line of its own to answer for."""
    del root
    return place.step is not None


def beside_a_run(root: Finding, finding: Finding) -> bool:
    """The other one is only that two runs are not alike: whatever is wrong makes them so."""
    return finding.seen_by == (MEASURING_BOTH,) and root.seen_by != (MEASURING_BOTH,)


def is_beside_a_script(finding: Finding) -> bool:
    """It is only a difference from the benchmark's script."""
    return finding.seen_by == (READING_BOTH,)


@dataclass(frozen=True, slots=True)
class Rule:
    """An item's findings follow from those of ``root`` where places and what they are allow it (root, other)."""

    root: str
    when: Callable[[Location, Location], bool] | None = None
    given: Callable[[Finding, Finding], bool] | None = None
    # Only where the root is one of these sentences.
    said: Sequence[str] = ()
