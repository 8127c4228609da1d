"""The weights of one step on several ranks."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.evidence.weights import weight_looks
from trueline.formats.run_folder.reader import Run


def apart_at_start(run: Run) -> tuple[str, int, int] | None:
    """A parameter that ranks start with different values of, the rank, and how many there are."""
    if len(run.ranks) < 2 or _sharded(run):
        return None
    first = {param.name: param for param in run.rank(run.ranks[0]).params if not param.buffer}
    for number in run.ranks[1:]:
        apart = [
            param.name
            for param in run.rank(number).params
            if (own := first.get(param.name)) is not None
            and own.initial is not None
            and param.initial is not None
            and own.shape == param.shape
            and own.trainable
            and own.initial.fingerprint != param.initial.fingerprint
        ]
        if apart:
            return apart[0], number, len(apart)
    return None


def apart_later(run: Run) -> Iterator[tuple[int, int, list[str]]]:
    """Steps after which a rank's parameters differ from the first rank's: (step, rank, names)."""
    if len(run.ranks) < 2 or _sharded(run):
        return
    lead = run.rank(run.ranks[0])
    names = {param.name for param in lead.params if not param.buffer and param.trainable}
    own = {look.step: look.fingerprints for look in weight_looks(lead)}
    for number in run.ranks[1:]:
        for look in weight_looks(run.rank(number)):
            here = own.get(look.step)
            if here is None:
                continue
            apart = sorted(name for name in names if name in look.fingerprints and name in here)
            apart = [name for name in apart if here[name] != look.fingerprints[name]]
            if apart:
                yield look.step, number, apart
                break


def compared_steps(run: Run) -> int:
    """How many steps have looks on the first two ranks."""
    if len(run.ranks) < 2 or _sharded(run):
        return 0
    steps = [{look.step for look in weight_looks(run.rank(number))} for number in run.ranks[:2]]
    return len(steps[0] & steps[1])


def _sharded(run: Run) -> bool:
    return any(look.sharded for number in run.ranks for look in weight_looks(run.rank(number))[:1])
