"""The likely cause of a number that is not finite, from what the operator took and from the steps before."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from trueline.model.message import Message, message
from trueline.watch.locating import chain
from trueline.watch.nonfinite_causes import Cause, likely
from trueline.watch.seen import Given, Part, Seen
from trueline.watch.tracker import has_infinite

# Numbers this far above all others of a batch are no ordinary ones.
_LARGE_VALUE: Final = 1e4
_OUTLIER_RMS: Final = 4
# Norms that rise for so many steps, to so many times the smallest, are those of a training that diverges.
_RISING: Final = 5
_DIVERGED_FACTOR: Final = 30.0
_GROWING: Final = frozenset(("overflow", "other", "half_overflow", "exp_overflow", "inf_minus_inf"))
_FOLLOWING: Final = frozenset(("inf_minus_inf", "zero_times_inf", "division_by_zero", "overflow", "other"))
_EARLIER: Final = frozenset(("exp_overflow", "half_overflow"))


@dataclass(frozen=True, slots=True)
class Told:
    """A cause in words; ``leaf`` is the batch or weight that it comes from, ``samples`` are the rows at fault in it."""

    cause: str
    message: Message
    advice: Message
    leaf: Given | None = None
    samples: Sequence[int] = ()

    @classmethod
    def of(cls, cause: Cause) -> Told:
        """A cause that lies in the operator."""
        return cls(*cause)


def told(cause: str, **params: object) -> Told:
    """A cause that lies elsewhere than in the operator."""
    return Told(cause, Message(f"watch.cause_{cause}", params), message(f"watch.advice_{cause}"))


def bad_sample(field: str, rows: Callable[[str], Sequence[int]]) -> Told:
    """The cause that lies in a field of the batch; ``rows`` gives its odd samples."""
    samples = rows(field)
    return replace(told("bad_sample", field=field, rows=", ".join(map(str, samples)) or "?"), samples=samples)


def cause_of(seen: Seen, norms: Sequence[Sequence[float]], rows: Callable[[str], Sequence[int]]) -> Told:
    """What most likely made the numbers of an operator bad.

    ``norms`` are those of gradients and of weights in the steps before; ``rows`` gives the odd samples of a field.
    """
    leaf = next((given for given in seen.inputs if given.bad and given.part is not None and not given.deliberate), None)
    if leaf is not None and leaf.part is Part.WEIGHTS:
        found = told("bad_weight", name=leaf.name)
        return Told(found.cause, found.message, found.advice, leaf)
    before = [seen, *chain(seen)]
    data = leaf or next((given for at in before for given in at.inputs if _stands_out(given)), None)
    if data is not None:
        return replace(bad_sample(data.name, rows), leaf=data)
    diverges = any(map(grown, norms))
    if seen.part is Part.UPDATE and not seen.own:
        return told("divergence" if diverges else "optimizer_division")
    direct = _direct(seen)
    # A scale on the loss makes gradients grow too, up to the end of a short float.
    scaled = seen.part is Part.BACKWARD and direct.id == "half_overflow"
    if direct.id in _GROWING and diverges and not scaled:
        return told("divergence")
    if len(before) > 1 and direct.id in _FOLLOWING:
        earlier = _direct(before[-1])
        if earlier.id in _EARLIER:
            return Told.of(earlier)
    return Told.of(direct)


def _direct(seen: Seen) -> Cause:
    if seen.kind in ("mul", "div") and seen.nan and has_infinite(seen.settings):
        return Cause("zero_times_inf", message("nonfinite.zero_times_inf"), message("nonfinite.advice_zero_times_inf"))
    backward = seen.part is Part.BACKWARD and not seen.own
    at = seen.forward if backward and seen.forward is not None else seen
    given = [each.summary for each in at.inputs if each.summary is not None]
    return likely(at.kind, given, seen.outputs, [*(each.dtype for each in at.inputs), *seen.dtypes], backward=backward)


def _stands_out(given: Given) -> bool:
    """A batch whose largest number is far above what its numbers are in general."""
    summary = given.summary
    if given.part is not Part.DATA or summary is None or not summary.count:
        return False
    largest = max(abs(summary.minimum), abs(summary.maximum))
    return largest > _LARGE_VALUE and largest > _OUTLIER_RMS * abs(summary.l2) / math.sqrt(summary.count)


def grown(norms: Sequence[float]) -> bool:
    """Whether norms have risen for several steps, far above where they were."""
    finite = [norm for norm in norms if math.isfinite(norm) and norm > 0]
    if len(finite) < _RISING:
        return False
    last = finite[-_RISING:]
    rising = sum(after >= before for before, after in pairwise(last))
    return rising >= _RISING - 2 and last[-1] > _DIVERGED_FACTOR * min(finite)
