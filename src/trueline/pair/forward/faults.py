"""From the forced runs to faults: modules that differ by themselves, and code between modules that does."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from trueline.pair.aligning.matching import Matched
from trueline.pair.forward.forced import Called, Check, Checked, Reference
from trueline.pair.questions.described import Described


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
    def called(self) -> Called:
        """Which call of the port it is."""
        return self.matched.called

    @property
    def train(self) -> bool:
        """Whether it was seen in training mode."""
        return self.reference.recording.train

    @property
    def forward(self) -> bool:
        """Whether values differ, not only gradients."""
        return any(check.kind in ("in", "out") for check in self.checks)

    def exceeds_in(self, kind: str) -> bool:
        """Whether numbers of this kind differ."""
        return any(check.kind == kind for check in self.checks)

    @property
    def worst(self) -> Check:
        """The number that is furthest beyond noise."""
        return max(
            self.checks,
            key=lambda check: (not check.comparable, check.level / check.floor if check.floor else check.level),
        )


def faults_of(checked: Iterable[Checked], reference: Reference) -> Iterator[Fault]:
    """What one forced run shows, in the order in which it ran."""
    misshapen = False
    unfit: set[Called] = set()
    for call in checked:
        if call.matched.silent and not call.forced:
            continue
        if call.unfit:
            if call.comes_to_the_same:
                continue
            # Whatever gave it another shape is at fault, and was seen before.
            if not misshapen and call.parent is not None:
                yield Fault(call.parent, True, [call.unfit], reference, call.matched, _floors(call))
            misshapen = True
            unfit.add(call.matched.called)
            continue
        misshapen = misshapen or call.loose
        yield from _of(call, reference, unfit)


def _of(checked: Checked, reference: Reference, unfit: Collection[Called]) -> Iterator[Fault]:
    inputs = checked.exceeding("in")
    # Code that was not given the benchmark's values is not to blame for what it makes of others.
    if inputs and checked.parent is not None and checked.parent.called not in unfit:
        yield Fault(checked.parent, True, inputs, reference, checked.matched, _floors(checked))
    if checked.matched.unit:
        if own := checked.exceeding("out", "gin", "grad", "buffer"):
            yield Fault(checked.matched, False, own, reference, None, _floors(checked))
    elif outputs := checked.exceeding("out"):
        yield Fault(checked.matched, True, outputs, reference, None, _floors(checked))


def _floors(checked: Checked) -> dict[str, float]:
    """How far noise brings each kind of number at most."""
    found: dict[str, float] = {}
    for check in checked.checks:
        found[check.kind] = max(found.get(check.kind, 0.0), check.floor)
    return found


def merged(faults: Iterable[Fault], port: Described) -> list[Fault]:
    """Each fault once: seen in several runs or calls, or in modules that one line of the port has built."""
    first: dict[object, Fault] = {}
    lines = {module.path: module.built_at for module in port.modules}
    types = port.classes
    for fault in faults:
        path = fault.matched.port.path
        where = fault.at.port.path.removeprefix(path) if fault.at is not None else None
        line = lines.get(path)
        if fault.between:
            fewer = len(fault.matched.port.ins) < len(fault.matched.bench.ins)
            key: object = ("between", types.get(path, path), where, fault.forward, fewer)
        else:
            key = ("unit", (line.file, line.line) if line is not None else path, types.get(path), fault.forward)
        if key not in first:
            first[key] = fault
            continue
        before = first[key]
        known = {before.matched.port.path, *(matched.port.path for matched in before.also)}
        if path not in known:
            first[key] = replace(before, also=(*before.also, fault.matched))
    return _without_repeated(list(first.values()))


def _without_repeated(faults: Sequence[Fault]) -> list[Fault]:
    """A unit that differs in its values has other gradients too: that is one fault."""
    forward = {(fault.matched.port.path, fault.between) for fault in faults if fault.forward}
    return [fault for fault in faults if fault.forward or (fault.matched.port.path, fault.between) not in forward]
