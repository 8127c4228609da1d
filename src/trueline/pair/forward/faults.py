"""From the forced runs to faults: modules that differ by themselves, and code between modules that does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
        return any(one.kind in ("in", "out") for one in self.checks)

    def exceeds_in(self, kind: str) -> bool:
        """Whether numbers of this kind differ."""
        return any(one.kind == kind for one in self.checks)

    @property
    def worst(self) -> Check:
        """The number that is furthest beyond noise."""
        return max(self.checks, key=lambda one: (not one.comparable, one.level / one.floor if one.floor else one.level))


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
        misshapen = misshapen or one.loose
        yield from _of(one, reference)


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
