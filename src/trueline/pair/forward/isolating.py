"""From the forced runs to faults: modules that differ by themselves, and code between modules that does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from trueline.apitable.layers import layer_of_class
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.matching import Matched, match_calls
from trueline.pair.forward.forced import Called, Check, Checked, Reference, force, reference_of
from trueline.pair.forward.shorter import Shorter, allowed, shorter
from trueline.pair.sides.described import Described
from trueline.pair.sides.recorded import Call, Recording
from trueline.pair.sides.side import Side
from trueline.pair.sides.wire import Array
from trueline.pair.verify import COARSE

# A difference this many times beyond noise cannot vanish one level up by chance.
_FAR: Final = 30.0
_RECURRENT: Final = ("rnn", "gru", "lstm", "rnncell", "grucell", "lstmcell")


@dataclass(frozen=True)
class Fault:
    """A module of the port that differs by itself, or, ``between``, the code of one that calls others.

    ``at`` is the call whose inputs were not the benchmark's, None where it was what the module gave out. ``also`` are
    the same fault elsewhere: modules built by the same line, or of the same class.
    """

    matched: Matched
    between: bool
    checks: Sequence[Check]
    reference: Reference
    at: Matched | None = None
    floors: Mapping[str, float] = field(default_factory=dict)
    also: Sequence[Matched] = field(default_factory=tuple)

    @property
    def train(self) -> bool:
        """Whether it was seen in training mode."""
        return self.reference.recording.train

    @property
    def forward(self) -> bool:
        """Whether values differ, not only gradients."""
        return any(one.kind in ("in", "out") for one in self.checks)

    def exceeds_in(self, kind: str) -> bool:
        """Whether numbers of this kind differ."""
        return any(one.kind == kind for one in self.checks)

    @property
    def worst(self) -> Check:
        """The number that is furthest beyond noise."""
        return max(self.checks, key=lambda one: (not one.comparable, one.level / one.floor if one.floor else one.level))


@dataclass(frozen=True)
class Isolated:
    """One mode's forced runs: faults, and calls of the port that only together with others are the benchmark's."""

    reference: Reference
    checked: Sequence[Checked]
    faults: Sequence[Fault]
    together: frozenset[Called]
    shorter: Shorter | None = None


def isolate(
    sides: tuple[Side, Side],
    aligned: Aligned,
    recordings: tuple[Recording, Recording],
    inputs: Sequence[Array],
    together: frozenset[Called] = frozenset(),
) -> Isolated:
    """Judge every module and what lies between; work that is only divided otherwise among modules is no fault."""
    coarse = Coarse(sides, aligned, inputs)
    matched = match_calls(aligned, *recordings, without=together)
    reference = reference_of(sides[0], recordings[0], matched, inputs)
    checked = force(sides[1], aligned, reference, inputs)
    short = shorter(aligned, checked, reference)
    checked = allowed(checked, short)
    found = list(coarse.beyond(faults_of(checked, reference)))
    parted = {
        _called(one)
        for one in found
        if one.at is None and one.matched.port.parent is not None and one.exceeds_in("out")
    }
    if not parted:
        return Isolated(reference, checked, found, together, short)
    wider = match_calls(aligned, *recordings, without={*together, *parted})
    wide = reference_of(sides[0], recordings[0], wider, inputs)
    again = allowed(force(sides[1], aligned, wide, inputs), short)
    left = {_called(one) for one in coarse.beyond(faults_of(again, wide))}
    above = {_called_of(one) for one in wider}
    kept = [one for one in found if _nearest(recordings[1], one, above) in left or not one.forward or not _far(one)]
    alike = parted - {_called(one) for one in kept}
    return Isolated(reference, checked, kept, together | alike, short)


class Coarse:
    """Operators that a framework computes more coarsely than its number format; looked for only where it matters."""

    def __init__(self, sides: tuple[Side, Side], aligned: Aligned, inputs: Sequence[Array]) -> None:
        self._aligned = aligned
        frameworks = (aligned.bench.framework, aligned.port.framework)
        self._asked = [
            (side, *COARSE[framework]) for side, framework in zip(sides, frameworks, strict=True) if framework in COARSE
        ]
        self._inputs = inputs
        self._level: float | None = None

    def beyond(self, faults: Iterable[Fault]) -> Iterator[Fault]:
        """The faults that such an operator does not explain."""
        for one in faults:
            if not self._asked or not self._may(one) or any(not each.comparable for each in one.checks):
                yield one
            elif left := [each for each in one.checks if each.level > self._explained(each)]:
                yield replace(one, checks=left)

    def _may(self, one: Fault) -> bool:
        """Whether the operator can be in it: not in layers that are known to do without."""
        if one.between:
            return True
        classes = (self._aligned.bench.classes, self._aligned.port.classes)
        names = [
            known.get(call.path, "") for known, call in zip(classes, (one.matched.bench, one.matched.port), strict=True)
        ]
        kinds = [layer.kind for name in names if (layer := layer_of_class(name)) is not None]
        return not kinds or any(kind in _RECURRENT for kind in kinds)

    def _explained(self, check: Check) -> float:
        limit = max(off for _, _, off in self._asked)
        if check.level > limit:
            return 0.0
        if self._level is None:
            used = [off for side, name, off in self._asked if name in side.ops(self._inputs)]
            self._level = max(used, default=0.0)
        return self._level


def _called_of(one: Matched) -> Called:
    return one.port.path, one.port.call


def _called(one: Fault) -> Called:
    return _called_of(one.matched)


def _far(one: Fault) -> bool:
    """Whether a fault is large enough to show one level up if it is one."""
    return any(not each.comparable or each.level > _FAR * each.floor for each in one.checks)


def _nearest(recording: Recording, one: Fault, above: set[Called]) -> Called | None:
    """The innermost call that is still matched, around a fault or itself."""
    call: Call | None = recording.by_name[_called(one)]
    while call is not None and (call.path, call.call) not in above:
        call = recording.calls[call.parent] if call.parent is not None else None
    return (call.path, call.call) if call is not None else None


def faults_of(checked: Iterable[Checked], reference: Reference) -> Iterator[Fault]:
    """What one forced run shows, in the order in which it ran."""
    misshapen = False
    for one in checked:
        if one.matched.silent and not one.forced:
            continue
        if one.unfit:
            # Whatever gave it another shape is at fault, and was seen before.
            if not misshapen and one.parent is not None:
                yield Fault(one.parent, True, [one.unfit], reference, one.matched, _floors(one))
            misshapen = True
            continue
        for fault in _of(one, reference):
            misshapen = misshapen or any(not each.comparable for each in fault.checks)
            yield fault


def _of(one: Checked, reference: Reference) -> Iterator[Fault]:
    inputs = one.exceeding("in")
    if inputs and one.parent is not None:
        yield Fault(one.parent, True, inputs, reference, one.matched, _floors(one))
    if one.matched.unit:
        if own := one.exceeding("out", "gin", "grad", "buffer"):
            yield Fault(one.matched, False, own, reference, None, _floors(one))
    elif outputs := one.exceeding("out"):
        yield Fault(one.matched, True, outputs, reference, None, _floors(one))


def _floors(checked: Checked) -> dict[str, float]:
    """How far noise brings each kind of number at most."""
    found: dict[str, float] = {}
    for one in checked.checks:
        found[one.kind] = max(found.get(one.kind, 0.0), one.floor)
    return found


def merged(found: Iterable[Fault], port: Described) -> list[Fault]:
    """Each fault once: seen in several runs or calls, or in modules that one line of the port has built."""
    first: dict[object, Fault] = {}
    lines = {one.path: one.built_at for one in port.modules}
    types = port.classes
    for one in found:
        path = one.matched.port.path
        where = one.at.port.path.removeprefix(path) if one.at is not None else None
        line = lines.get(path)
        if one.between:
            fewer = len(one.matched.port.ins) < len(one.matched.bench.ins)
            key: object = ("between", types.get(path, path), where, one.forward, fewer)
        else:
            key = ("unit", (line.file, line.line) if line is not None else path, types.get(path), one.forward)
        if key not in first:
            first[key] = one
            continue
        before = first[key]
        known = {before.matched.port.path, *(each.port.path for each in before.also)}
        if path not in known:
            first[key] = replace(before, also=(*before.also, one.matched))
    return _without_repeated(list(first.values()))


def _without_repeated(found: Sequence[Fault]) -> list[Fault]:
    """A unit that differs in its values has other gradients too: that is one fault."""
    forward = {(one.matched.port.path, one.between) for one in found if one.forward}
    return [one for one in found if one.forward or (one.matched.port.path, one.between) not in forward]
