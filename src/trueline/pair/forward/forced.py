"""The forced run: each module of the port on the benchmark's own inputs, and the floor of each number compared."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Final

from trueline.adapters.guest.trouble import SideTrouble
from trueline.compare.noise import epsilon, tensor_floor, unit
from trueline.kernel.array import Array
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.matching import Matched
from trueline.pair.questions.forced import CallSpec, Force, ForcedRun, Measured, Shape
from trueline.pair.questions.recording import Call, Recording
from trueline.pair.sides.side import Side

# Measured noise is the furthest of a few tries, each moved by one rounding unit; another library rounds elsewhere too.
_NOISE_MARGIN: Final = 10.0
# A silent call is forced only where its inputs agree up to this relative error.
_SILENT_LEVEL: Final = 0.05
# A shorter float rounds once after each operator, where float32's kernels differ by many roundings: measured on right
# ports, outputs and gradients lie within two of them, and within what as many of them do to the benchmark.
_SHORT_UNIT: Final = 1e-5
_SHORT_MARGIN: Final = 4.0
_SHORT_ULPS: Final[Mapping[str, float]] = {"in": 4.0, "out": 4.0}
_SHORT_GRADIENT_ULPS: Final = 8.0

Called = tuple[str, int]
Where = tuple[str, int, str, str]


@dataclass(frozen=True, slots=True)
class Check:
    """One number compared: what of the call it was, how far apart, how far noise brings it.

    ``ulps`` is how many of its roundings one rounding at every value brought the benchmark's own.
    """

    kind: str
    index: str
    level: float
    scale: float
    comparable: bool
    dtype: str
    floor: float
    ulps: float = 0.0

    @property
    def exceeds(self) -> bool:
        """Whether noise does not explain it."""
        return not self.comparable or not self.level <= self.floor


@dataclass(frozen=True, slots=True)
class Checked:
    """One matched call of the port after the forced run; ``parent`` is the matched call that it was made in.

    ``doubted`` are masks that are written otherwise, and right only if whoever takes them reads them so.
    """

    matched: Matched
    parent: Matched | None
    checks: Sequence[Check]
    forced: bool
    unfit_shapes: tuple[Sequence[Shape], Sequence[Shape]] | None = None
    loose: bool = False
    doubted: Sequence[int] = ()

    @property
    def unfit(self) -> Check | None:
        """Inputs of other shapes than the benchmark's, which could not be given."""
        shapes = self.unfit_shapes
        if shapes is None or self.matched.silent or len(shapes[0]) != len(shapes[1]):
            return None
        return Check("in", "0", 1.0, 0.0, False, "", 0.0)

    @property
    def given(self) -> bool:
        """Whether the call got the benchmark's inputs, in the shapes in which the port's code gives it its own."""
        return self.forced and self.unfit_shapes is None

    @property
    def comes_to_the_same(self) -> bool:
        """Whether it makes the benchmark's outputs of inputs of another shape: then these are what it is to be given.

        As a convolution without padding does of an image with a border, or a linear layer of the patches of one.
        """
        outputs = [check for check in self.checks if check.kind == "out"]
        return self.unfit_shapes is not None and bool(outputs) and not self.exceeding("out")

    def exceeding(self, *kinds: str) -> list[Check]:
        """What noise does not explain, of these kinds."""
        return [check for check in self.checks if check.kind in kinds and check.exceeds]


@dataclass
class Reference:
    """The benchmark's recording with the gradients and buffers of its units, and what noise does to each number.

    ``masks`` are its masks as the port writes its own, by the port's calls and the places of their inputs.
    """

    recording: Recording
    matched: Sequence[Matched]
    arrays: list[Array]
    places: dict[Called, dict[str, dict[str, int]]] = field(default_factory=dict)
    noise: dict[Where, float] = field(default_factory=dict)
    # Calls of the port whose counterparts' noise has been measured.
    measured: set[Called] = field(default_factory=set)
    masks: dict[Called, Mapping[int, Array]] = field(default_factory=dict)

    def array(self, path: str, call: int, kind: str, index: str) -> Array | None:
        """What the benchmark had there: kind is in, out, gout, gin, grad or buffer."""
        place = self.places.get((path, call), {}).get(kind, {}).get(index)
        return self.arrays[place] if place is not None else None

    def all(self, path: str, call: int, kind: str) -> dict[str, Array]:
        """All of one kind that a call of the benchmark had, by index or name."""
        found = self.places.get((path, call), {}).get(kind, {})
        return {index: self.arrays[place] for index, place in found.items()}

    def put(self, path: str, call: int, kind: str, index: str, place: int) -> None:
        """Remember where an array is."""
        self.places.setdefault((path, call), {}).setdefault(kind, {})[index] = place


def reference_of(
    bench: Side,
    recording: Recording,
    matched: Sequence[Matched],
    inputs: Sequence[Array],
    known: Reference | None = None,
) -> Reference:
    """Run the benchmark unit by unit for its own gradients.

    ``known`` is a reference for the same recording: what a unit gave then it would give again.
    """
    # The benchmark's process has kept what was collected before: places go on from there.
    arrays = recording.arrays if known is None else known.arrays
    reference, backward = Reference(recording, matched, list(arrays)), recording.backward
    for call_pair in matched:
        _place(reference, call_pair)
        if known is not None and call_pair.unit:
            _take_over(reference, known, call_pair)
    new = [spec for spec in _specs(reference) if spec.unit and not (spec.gin or spec.grad or spec.buffer)]
    if recording.train and new:
        run = bench.answer(Force(inputs, None, new, recording.train, True, backward=backward))
        for unit in run.collected:
            reference.put(unit.path, unit.call, unit.kind, unit.name, len(reference.arrays))
            reference.arrays.append(unit.array)
    return reference


def _take_over(reference: Reference, known: Reference, matched: Matched) -> None:
    """What a unit's gradients and buffers were before, if it was one."""
    path, call = matched.bench.path, matched.bench.call
    before = known.places.get((path, call), {})
    for kind in ("gin", "grad", "buffer"):
        for index, place in before.get(kind, {}).items():
            reference.put(path, call, kind, index, place)


def roughen(
    bench: Side, reference: Reference, inputs: Sequence[Array], doubtful: Collection[Called], rounds: int = 3
) -> None:
    """Raise the noise to that of more runs, in which every operator between the calls rounds otherwise too."""
    question = _moved(reference, inputs, doubtful)
    for seed in range(2, rounds + 2):
        _note_noise(reference, bench.answer(replace(question, perturbed=seed, operators=True)))


def _moved(reference: Reference, inputs: Sequence[Array], doubtful: Collection[Called]) -> Force:
    """The benchmark's own run with everything moved by a rounding; only what is doubtful has to be run for that."""
    recording = reference.recording
    specs = [
        replace(_spec(reference, matched, matched.bench), given=matched.unit and matched.called not in doubtful)
        for matched in reference.matched
    ]
    return Force(inputs, None, specs, recording.train, perturbed=1, backward=recording.backward)


def _note_noise(reference: Reference, run: ForcedRun) -> None:
    for call in run.calls:
        for check in call.checks:
            where = (call.path, call.call, check.kind, check.index)
            if check.comparable:
                reference.noise[where] = max(reference.noise.get(where, 0.0), check.level)


@dataclass(frozen=True)
class Forced:
    """The port's forced run, to be read with what noise is known to do by then."""

    reference: Reference
    aligned: Aligned
    run: ForcedRun

    def settled(self, bench: Side, inputs: Sequence[Array]) -> list[Checked]:
        """What was compared, the noise of what exceeds the least floor measured before."""
        checked = self.checked()
        doubtful = exceeding(checked) - self.reference.measured
        if not doubtful:
            return checked
        _note_noise(self.reference, bench.answer(_moved(self.reference, inputs, doubtful)))
        self.reference.measured |= doubtful
        return self.checked()

    def checked(self) -> list[Checked]:
        """What was compared, in the order it ran."""
        reference, aligned = self.reference, self.aligned
        reference.masks.update({(call.path, call.call): call.masks for call in self.run.calls if call.masks})
        by_call = {(matched.port.path, matched.port.call): matched for matched in reference.matched}
        order = [by_call[call.path, call.call] for call in self.run.calls]
        found = [
            Checked(
                matched,
                order[call.parent] if call.parent is not None else None,
                [_check(reference, aligned, matched, measured) for measured in call.checks],
                call.forced,
                call.unfit,
                call.loose,
                call.doubted,
            )
            for call, matched in zip(self.run.calls, order, strict=True)
        ]
        return [_masked_rightly(call, found) if call.doubted else call for call in found]


def _masked_rightly(call: Checked, every: Sequence[Checked]) -> Checked:
    """A call without what was noted of its masks, if with them as they are all is well in it.

    Whether ones hide or show is for whoever takes them to know.
    """
    inside = [other for other in every if other.parent is call.matched]
    if call.exceeding("out") or any(other.exceeding("in", "out") or other.unfit for other in inside):
        return call
    checks = [
        replace(check, level=0.0) if check.kind == "in" and int(check.index) in call.doubted else check
        for check in call.checks
    ]
    return replace(call, checks=checks)


def exceeding(checked: Sequence[Checked]) -> set[Called]:
    """The calls with a number that noise, as far as it is known, does not explain."""
    return {call.matched.called for call in checked if any(check.exceeds for check in call.checks)}


def force(
    port: Side,
    aligned: Aligned,
    reference: Reference,
    inputs: Sequence[Array],
    free: Collection[Called] = (),
    fine: Collection[Called] = (),
) -> Forced:
    """Run the port once, each matched call on the benchmark's inputs.

    ``free`` calls get the benchmark's inputs and pass on what they make of them themselves; ``fine`` units are known to
    make the benchmark's outputs, which are handed on.
    """
    sending = _Sending(reference)
    specs = [_sent(reference, aligned, matched, sending) for matched in reference.matched]
    specs = [
        replace(
            spec,
            free=(spec.path, spec.call) in free,
            given=spec.unit and (spec.path, spec.call) in fine and (spec.path, spec.call) not in free,
        )
        for spec in specs
    ]
    recording = reference.recording
    question = Force(inputs, sending.arrays, specs, recording.train, reshaped=True, backward=recording.backward)
    try:
        run = port.answer(question)
    except SideTrouble as trouble:
        if trouble.message.id != "side.raised_running":
            raise
        # Code that was written for its own layer's size may not run on the benchmark's.
        run = port.answer(replace(question, reshaped=False))
    return Forced(reference, aligned, run)


def _specs(reference: Reference) -> list[CallSpec]:
    """The benchmark's own calls."""
    return [_spec(reference, matched, matched.bench) for matched in reference.matched]


def _place(reference: Reference, matched: Matched) -> None:
    bench = matched.bench
    path, call = bench.path, bench.call
    outs = bench.outs if matched.own is None else (matched.own,)
    for kind, places in (("in", bench.ins), ("out", outs)):
        for index, place in enumerate(places):
            reference.put(path, call, kind, str(index), place)
    for index, place in enumerate(outs):
        gout = reference.recording.gout(place)
        if gout is not None:
            reference.put(path, call, "gout", str(index), gout)


def _spec(reference: Reference, matched: Matched, at: Call) -> CallSpec:
    """A matched call as it is forced at ``at``, the benchmark's or the port's."""
    recording, bench = reference.recording, matched.bench
    gathered = reference.places.get((bench.path, bench.call), {})
    of_port = at is matched.port
    outs = (matched.own,) if matched.own is not None and of_port else bench.outs
    gin = gathered.get("gin", {})
    if of_port and matched.taken is not None:
        places = enumerate(matched.taken)
        gin = {str(place): gin[str(there)] for place, there in places if str(there) in gin}
    return CallSpec(
        at.path,
        at.call,
        matched.ins if of_port else bench.ins,
        outs,
        [recording.gout(place) for place in outs if recording.is_float(place)],
        matched.unit,
        matched.silent,
        _SILENT_LEVEL,
        gin,
        gathered.get("grad", {}),
        gathered.get("buffer", {}),
    )


class _Sending:
    """The arrays that go to the port, each once."""

    def __init__(self, reference: Reference) -> None:
        self._reference = reference
        self._places: dict[int, int] = {}
        self.arrays: list[Array] = []

    def at(self, place: int) -> int:
        """Where an array of the reference is in what is sent."""
        if place not in self._places:
            self._places[place] = self.add(self._reference.arrays[place])
        return self._places[place]

    def add(self, array: Array) -> int:
        """One more array."""
        self.arrays.append(array)
        return len(self.arrays) - 1


def _sent(reference: Reference, aligned: Aligned, matched: Matched, sending: _Sending) -> CallSpec:
    """A call's spec for the port: places in what is sent, parameters under the port's names and in its layout."""
    here, there = matched.port.path, matched.bench.path

    def named(places: Mapping[str, int]) -> dict[str, int]:
        return {
            pair.port_path[len(here) + bool(here) :]: sending.add(pair.laid(reference.arrays[place]))
            for name, place in places.items()
            if (pair := aligned.by_bench_path.get(_joined(there, name))) is not None
            and pair.layout is not None
            and _inside(pair.port_path, here)
        }

    spec = _spec(reference, matched, matched.port)
    return replace(
        spec,
        ins=[sending.at(place) for place in spec.ins],
        outs=[sending.at(place) for place in spec.outs],
        gouts=[sending.at(place) if place is not None else None for place in spec.gouts],
        gin={index: sending.at(place) for index, place in spec.gin.items()},
        grad=named(spec.grad),
        buffer=named(spec.buffer),
    )


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _inside(path: str, above: str) -> bool:
    return not above or path.startswith(f"{above}.")


def _check(
    reference: Reference,
    aligned: Aligned,
    matched: Matched,
    measured: Measured,
) -> Check:
    path, call, kind = matched.bench.path, matched.bench.call, measured.kind
    there = measured.index
    if kind in ("in", "gin") and matched.taken is not None and int(there) < len(matched.taken):
        there = str(matched.taken[int(there)])
    if kind in ("grad", "buffer"):
        pair = aligned.by_port_path[_joined(matched.port.path, measured.index)]
        there = pair.bench_path[len(path) + bool(path) :]
    own = reference.array(path, call, kind, there)
    dtypes = (measured.dtype, own.dtype.name if own is not None else measured.dtype)
    noise = reference.noise.get((path, call, kind, there), 0.0)
    rounding = unit(dtypes)
    # Values are moved by a rounding of their own format, those of float64 by one of float32.
    ulps = noise / max(epsilon(dtypes[1]), epsilon("float32"))
    floor = (
        short_floor(kind, rounding, ulps)
        if rounding > _SHORT_UNIT
        else max(_least(reference, matched, kind, dtypes), _NOISE_MARGIN * noise)
    )
    return Check(kind, measured.index, measured.level, measured.scale, measured.comparable, measured.dtype, floor, ulps)


def short_floor(kind: str, rounding: float, ulps: float) -> float:
    """How far one module in a shorter float may lie from the benchmark's; ``ulps`` is how far one rounding moves it."""
    return rounding * max(_SHORT_ULPS.get(kind, _SHORT_GRADIENT_ULPS), _SHORT_MARGIN * ulps)


def _least(reference: Reference, matched: Matched, kind: str, dtypes: tuple[str, str]) -> float:
    """What two libraries' kernels may differ by, whatever the noise of these very numbers."""
    recording = reference.recording
    shapes = [recording.shapes[place][1] for place in (*matched.bench.ins, *matched.bench.outs)]
    longest = max((prod(shape[1:]) for shape in shapes), default=1)
    terms = max((prod(shape) for shape in shapes), default=1) if kind == "grad" else longest
    return tensor_floor(dtypes, 0, reduction=terms)
