"""From the faults of one mode and size to blames: how layers are built, all of that put right, then operators."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from trueline.kernel.array import Array
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.blame import Blame, Cause
from trueline.pair.forward.causes import Causes
from trueline.pair.forward.corrections import PutRight, Together
from trueline.pair.forward.faults import Fault, merged
from trueline.pair.forward.isolating import Isolated
from trueline.pair.questions.recording import Recording
from trueline.pair.sides.side import Side

# A difference so many times what is left at the outputs does not vanish on its way there by chance.
_VANISHED: Final = 30.0

# A module of the port, and the one in it whose inputs differ; None is what the module gives out.
Place = tuple[str, str | None]


@dataclass(frozen=True)
class Judged:
    """``whole`` is the port put right, in evaluation; ``cleared`` are places that are no fault because it is equal."""

    blames: Sequence[Blame]
    whole: Together | None = None
    cleared: frozenset[Place] = frozenset()

    @property
    def prepared(self) -> frozenset[str]:
        """Layers of the port that are given something else than the benchmark's, which comes to the same."""
        return frozenset(at for _, at in self.cleared if at is not None)


def judge(
    sides: tuple[Side, Side],
    aligned: Aligned,
    isolated: Isolated,
    recordings: tuple[Recording, Recording],
    inputs: Sequence[Array],
    known: Sequence[Blame],
    below: str = "",
    *,
    tell: bool = False,
) -> Judged:
    """The causes of all faults; ``known`` are blames of other runs, ``below`` keeps to one module of the port.

    ``tell``: how far apart the outputs were before anything was put right will be asked for.

    What no layer's arguments explain is looked into only where the network, its layers put right, still differs.
    """
    faults = [
        fault
        for fault in merged(isolated.faults, aligned.port)
        if is_below(fault.matched.port.path, below) and (fault.at is None or fault.at.port.path not in aligned.unlike)
    ]
    causes = Causes(*sides, aligned, tuple(isolated.faults), isolated.together, isolated.reshaped)
    built = [causes.built(fault, recordings[1]) for fault in faults]
    left = [place for place, blames in enumerate(built) if not any(blame.confirmed for blame in blames)]

    wrong = {called.port.path for fault in isolated.faults for called in (fault.matched, *fault.also)}
    fine = {matched.port.path for matched in isolated.reference.matched if matched.unit} - wrong
    right = PutRight(sides, aligned, recordings, inputs, fine)
    before = right.before() if faults and tell else None

    def whole_with(found: Sequence[Sequence[Blame]]) -> Together | None:
        blames = [*known, *(blame for each in found for blame in each)]
        return right.with_all(blames, before) if faults else None

    whole = whole_with(built)
    cleared = {place for place in left if _is_nothing(faults[place], whole)}
    found = [[] if place in cleared else blames for place, blames in enumerate(built)]
    rest = [place for place in left if place not in cleared]
    for place in rest:
        found[place] = causes.inside(faults[place], recordings[1], built[place])
    if any(blame.confirmed for place in rest for blame in found[place]):
        # An operator of the framework's own layer is that layer's: put right as well, it may explain others.
        whole = whole_with(found)
        unexplained = {place for place in rest if not any(blame.confirmed for blame in found[place])}
        more = {place for place in unexplained if _is_nothing(faults[place], whole)}
        found = [
            [blame for blame in blames if blame.confirmed] if _is_nothing(faults[place], whole) else blames
            for place, blames in enumerate(found)
        ]
        cleared |= more
    # A layer whose tensors have other shapes was not given the benchmark's values.
    unlike = {pair.port_path.rpartition(".")[0] for pair in aligned.pairs if pair.layout is None}
    found = [
        [blame for blame in blames if blame.cause is not Cause.UNKNOWN or blame.module not in unlike]
        for blames in found
    ]
    places = frozenset(where for place in cleared for where in _places(faults[place]))
    more_blames = whole.elsewhere if whole is not None else ()
    return Judged([*(blame for blames in found for blame in blames), *more_blames], whole, places)


def _is_nothing(fault: Fault, whole: Together | None) -> bool:
    """Whether a difference in values cannot be one, since the outputs are equal without anything done about it."""
    return whole is not None and whole.equal and fault.forward and not fault.worst.level <= _VANISHED * whole.after


def _places(fault: Fault) -> list[Place]:
    at = fault.at.port.path if fault.at is not None else None
    first = fault.matched.port.path
    return [(first, at), *((other.port.path, _below(at, first, other.port.path)) for other in fault.also)]


def _below(at: str | None, path: str, other: str) -> str | None:
    """The same module in another block."""
    return other + at.removeprefix(path) if at is not None else None


def without(isolated: Isolated, cleared: Collection[Place]) -> Isolated:
    """A mode's run without differences in values at places that are no fault."""
    kept = [fault for fault in isolated.faults if not (fault.forward and _places(fault)[0] in cleared)]
    return replace(isolated, faults=kept)


def is_below(path: str, above: str) -> bool:
    """Whether a module is another or in it; all are in the whole network."""
    return not above or path == above or path.startswith(f"{above}.")
