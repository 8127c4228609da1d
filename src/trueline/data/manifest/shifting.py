"""Two lists of the same files may begin elsewhere: one says ``train/a.png``, one ``/data/set/train/a.png``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

# So many names tell where both lists begin.
_SAMPLED_NAMES: Final = 2000


@dataclass(frozen=True, slots=True)
class Shift:
    """What is taken off the beginning of all names before they are compared; ends with a slash, or is empty."""

    reference: str = ""
    other: str = ""

    def of_reference(self, name: str) -> str:
        """A name of the reference as it is compared."""
        return name[len(self.reference) :]

    def of_other(self, name: str) -> str:
        """A name of the other list as it is compared."""
        return name[len(self.other) :]

    def __bool__(self) -> bool:
        return bool(self.reference or self.other)


def find_shift(reference: Sequence[str], other: Sequence[str]) -> Shift:
    """The shift under which most names agree; none where it does not bring more than names as they are."""
    if not reference or not other:
        return Shift()
    few, many, swapped = (reference, other, False) if len(reference) <= len(other) else (other, reference, True)
    step = max(1, len(few) // _SAMPLED_NAMES)
    looked_at, known = few[::step], set(many)
    best, most = ("", ""), sum(name in known for name in looked_at)
    if most == len(looked_at):
        return Shift()
    # Where both would lose something, a folder may simply have been renamed; names from the root are another matter.
    both = few[0].startswith("/") or many[0].startswith("/")
    for off_many in _beginnings(many):
        for off_few in _beginnings(few):
            if off_many and off_few and not both:
                continue
            count = sum(off_many + name[len(off_few) :] in known for name in looked_at)
            if count > most:
                best, most = (off_few, off_many), count
    return Shift(best[1], best[0]) if swapped else Shift(*best)


def _beginnings(names: Sequence[str]) -> list[str]:
    """The folders that all names lie in, from none to the deepest."""
    first, last = (name.split("/")[:-1] for name in (min(names), max(names)))
    found = [""]
    for one, other in zip(first, last, strict=False):
        if one != other:
            break
        found.append(f"{found[-1]}{one}/")
    return found
