"""The forced runs of one mode: every module and what lies between judged, work divided otherwise left aside."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from trueline.apitable.layers import layer_of_class
from trueline.kernel.array import Array
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.matching import match_calls
from trueline.pair.coarse import Coarse
from trueline.pair.forward.dividing import divided
from trueline.pair.forward.faults import Fault, faults_of
from trueline.pair.forward.forced import Called, Checked, Reference, exceeding, force, reference_of, roughen
from trueline.pair.forward.precision import Shorter, allowed, shorter
from trueline.pair.questions.recording import Call, Recording
from trueline.pair.sides.side import Side

# A difference this many times beyond noise cannot vanish one level up by chance.
_MIN_EXCESS: Final = 30.0
# The sine of a large angle, or a difference of near values, brings single roundings as far as this.
_ROUNDED: Final = 1e-2
_RECURRENT: Final = ("rnn", "gru", "lstm", "rnncell", "grucell", "lstmcell")


@dataclass(frozen=True)
class Isolated:
    """One mode's forced runs: faults, and calls of the port that only together with others are the benchmark's."""

    reference: Reference
    checked: Sequence[Checked]
    faults: Sequence[Fault]
    together: frozenset[Called]
    shorter: Shorter | None = None

    @property
    def not_given(self) -> frozenset[Called]:
        """Calls of the port that could not be given the benchmark's inputs."""
        return frozenset(call.matched.called for call in self.checked if not call.given)

    @property
    def reshaped(self) -> frozenset[str]:
        """Layers of the benchmark whose inputs the port's code has in another shape, and rightly so."""
        return frozenset(call.matched.bench.path for call in self.checked if call.comes_to_the_same)


def isolate(
    sides: tuple[Side, Side],
    aligned: Aligned,
    recordings: tuple[Recording, Recording],
    inputs: Sequence[Array],
    before: Sequence[Isolated] = (),
) -> Isolated:
    """Judge every module and what lies between; work that is only divided otherwise among modules is no fault.

    ``before`` is what other runs have shown: what is divided otherwise, and what is a fault by itself.
    """
    together = before[0].together if before else frozenset[Called]()
    coarse = coarse_of(sides, aligned, inputs)
    matched = match_calls(aligned, *recordings, without=together)
    reference = reference_of(sides[0], recordings[0], matched, inputs)
    forced = force(sides[1], aligned, reference, inputs)
    checked = forced.settled(sides[0], inputs)
    if any(map(_may_be_rounding, faults_of(checked, reference))):
        roughen(sides[0], reference, inputs, exceeding(checked))
        checked = forced.checked()
    short = shorter(aligned, checked, reference)
    checked = allowed(aligned, checked, short)
    elsewhere = frozenset[Called]().union(*(isolated.together for isolated in before)) - together
    found = [
        fault
        for fault in beyond(coarse, aligned, faults_of(checked, reference))
        if fault.called not in elsewhere or not fault.forward or not _far(fault)
    ]
    parted = {
        fault.called
        for fault in found
        if fault.at is None and fault.matched.port.parent is not None and fault.exceeds_in("out")
    }
    known = {_key(fault) for isolated in before for fault in isolated.faults}
    if not parted or all(_key(fault) in known for fault in found if fault.forward):
        return Isolated(reference, checked, found, together, short)
    wider = match_calls(aligned, *recordings, without={*together, *parted})
    wide = reference_of(sides[0], recordings[0], wider, inputs, reference)
    fine = _fine(recordings, checked)
    again = allowed(aligned, force(sides[1], aligned, wide, inputs, fine=fine).settled(sides[0], inputs), short)
    left = {fault.called for fault in beyond(coarse, aligned, faults_of(again, wide))}
    above = {call_pair.called for call_pair in wider}
    kept = [
        fault
        for fault in found
        if _nearest(recordings[1], fault, above) in left or not fault.forward or not _far(fault)
    ]

    def freed(calls: Collection[Called]) -> list[Fault]:
        run = force(sides[1], aligned, reference, inputs, calls, fine)
        loose = allowed(aligned, run.settled(sides[0], inputs), short)
        return list(beyond(coarse, aligned, faults_of(loose, reference)))

    kept = divided(kept, checked, aligned.port, freed)
    alike = parted - {fault.called for fault in kept}
    return Isolated(reference, checked, kept, together | alike, short)


def _fine(recordings: tuple[Recording, Recording], checked: Sequence[Checked]) -> set[Called]:
    """The units that need not be run again: they gave out what the benchmark's did, in the same shapes."""
    bench, port = recordings
    doubtful = exceeding(checked)
    return {
        call.matched.called
        for call in checked
        if call.matched.unit
        and call.given
        and call.matched.own is None
        and call.matched.called not in doubtful
        and [bench.shapes[place][1] for place in call.matched.bench.outs]
        == [port.shapes[place][1] for place in call.matched.port.outs]
    }


def _key(fault: Fault) -> tuple[Called, Called | None, bool]:
    return fault.called, fault.at.called if fault.at is not None else None, fault.between


def _may_be_rounding(fault: Fault) -> bool:
    """Whether roundings may explain a fault that one try of moving them has not.

    In code between modules where the difference is small; in gradients, which may be sums of what cancels out.
    """
    small = (check.comparable and check.level <= _ROUNDED for check in fault.checks)
    return not fault.forward or (fault.between and any(small))


def coarse_of(sides: tuple[Side, Side], aligned: Aligned, inputs: Sequence[Array]) -> Coarse:
    """What coarse operators of the two networks explain."""
    return Coarse(sides, (aligned.bench.framework, aligned.port.framework), inputs)


def beyond(coarse: Coarse, aligned: Aligned, faults: Iterable[Fault]) -> Iterator[Fault]:
    """The faults that a coarse operator does not explain."""
    for fault in faults:
        if not coarse.possible or not _may_be_in(aligned, fault) or any(not check.comparable for check in fault.checks):
            yield fault
        elif left := [check for check in fault.checks if check.level > _explained(coarse, fault, check.level)]:
            yield replace(fault, checks=left)


def _explained(coarse: Coarse, fault: Fault, level: float) -> float:
    """What such an operator explains that runs in the module at fault, and not in a layer that is judged by itself."""
    matched = fault.matched
    inner = fault.reference.matched if fault.between else ()
    apart = {call.path for other in inner if other.unit for call in (other.bench, other.port)}
    return coarse.explained(level, (matched.bench.path, matched.port.path), apart)


def _may_be_in(aligned: Aligned, fault: Fault) -> bool:
    """Whether such an operator can be in it: not in layers that are known to do without."""
    if fault.between:
        return True
    classes = (aligned.bench.classes, aligned.port.classes)
    names = [
        known.get(call.path, "") for known, call in zip(classes, (fault.matched.bench, fault.matched.port), strict=True)
    ]
    kinds = [layer.kind for name in names if (layer := layer_of_class(name)) is not None]
    return not kinds or any(kind in _RECURRENT for kind in kinds)


def _far(fault: Fault) -> bool:
    """Whether a fault is large enough to show one level up if it is one."""
    return any(not check.comparable or check.level > _MIN_EXCESS * check.floor for check in fault.checks)


def _nearest(recording: Recording, fault: Fault, above: set[Called]) -> Called | None:
    """The innermost call that is still matched, around a fault or itself."""
    call: Call | None = recording.by_name[fault.called]
    while call is not None and (call.path, call.call) not in above:
        call = recording.calls[call.parent] if call.parent is not None else None
    return (call.path, call.call) if call is not None else None
