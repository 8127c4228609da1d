"""What an item claims of the differences between two scripts: ``CLAIMS`` in the ``bench_script.py`` of its folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from trueline.model.location import Location
from trueline.script.diff.classification import Classified
from trueline.script.diff.difference import Difference
from trueline.script.diff.subject import Subject


@dataclass(frozen=True, slots=True)
class Claim:
    """Differences of this subject break the item that claims it."""

    subject: Subject
    # Only where another difference is of one of these, or where none is.
    beside: frozenset[Subject] = frozenset()
    unless: frozenset[Subject] = frozenset()
    # Only those that are large enough.
    when: Callable[[Difference], bool] | None = None

    def takes(self, classified: Classified) -> bool:
        """Whether a difference is one of these, whatever else differs."""
        if classified.subject is not self.subject or (self.when is not None and not self.when(classified.difference)):
            return False
        return classified.certain

    def holds_beside(self, subjects: frozenset[Subject]) -> bool:
        """Whether what else differs leaves it to this item."""
        return not self.unless & subjects and (not self.beside or bool(self.beside & subjects))


Claims = Mapping[str, Sequence[Claim]]


@dataclass(frozen=True, slots=True)
class Broken:
    """A difference, the item that it breaks, and the line of the script where."""

    code: str
    difference: Difference
    place: Location


def broken_items(differences: Iterable[Classified], claims: Claims) -> list[Broken]:
    """What a script breaks against its benchmark's: one line is one fault, in whatever order differences come."""
    taken = [
        (classified, code, claim)
        for classified in differences
        for code, own in sorted(claims.items())
        for claim in own
        if claim.takes(classified)
    ]
    subjects = frozenset(classified.subject for classified, _, _ in taken)
    broken: dict[tuple[str, int], Broken] = {}
    for classified, code, claim in sorted(taken, key=lambda entry: entry[0].difference.position):
        if claim.holds_beside(subjects):
            broken.setdefault(
                (classified.place.file, classified.place.line), Broken(code, classified.difference, classified.place)
            )
    return list(broken.values())
