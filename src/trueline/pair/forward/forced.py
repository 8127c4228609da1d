"""The forced run: each module of the port on the benchmark's own inputs, and the floor of each number compared."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final

from trueline.adapters.guest.trouble import SideTrouble
from trueline.compare.noise import tensor_floor, unit
from trueline.kernel.array import Array
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.matching import Matched
from trueline.pair.sides.recorded import Recording
from trueline.pair.sides.side import Side

# Measured noise is the furthest of a few tries, each moved by one rounding unit; another library rounds elsewhere too.
_MARGIN: Final = 10.0
_WIDEST: Final = 0.05
# Noise is moved by float32's roundings, which says nothing of what a shorter float rounds on the way.
_SHORT_UNIT: Final = 1e-5
_SHORT: Final = 4.0

Called = tuple[str, int]
Where = tuple[str, int, str, str]


@dataclass(frozen=True, slots=True)
class Check:
    """One number compared: what of the call it was, how far apart, how far noise brings it.

    ``noise`` is how far one rounding in float32 at every value brought the benchmark's own.
    """

    kind: str
    index: str
    level: float
    scale: float
    comparable: bool
    dtype: str
    floor: float
    noise: float = 0.0

    @property
    def exceeds(self) -> bool:
        """Whether noise does not explain it."""
        return not self.comparable or not self.level <= self.floor


@dataclass(frozen=True, slots=True)
class Checked:
    """One matched call of the port after the forced run; ``parent`` is the matched call that it was made in."""

    matched: Matched
    parent: Matched | None
    checks: Sequence[Check]
    forced: bool
    told: Mapping[str, Any] = field(default_factory=dict)

    @property
    def unfit(self) -> Check | None:
        """Inputs of other shapes than the benchmark's, which could not be given."""
        found = self.told.get("unfit")
        if found is None or self.matched.silent or len(found[0]) != len(found[1]):
            return None
        return Check("in", "0", 1.0, 0.0, False, "", 0.0)

    def exceeding(self, *kinds: str) -> list[Check]:
        """What noise does not explain, of these kinds."""
        return [one for one in self.checks if one.kind in kinds and one.exceeds]


@dataclass
class Reference:
    """The benchmark's recording with the gradients and buffers of its units, and what noise does to each number."""

    recording: Recording
    matched: Sequence[Matched]
    arrays: list[Array]
    places: dict[Called, dict[str, dict[str, int]]] = field(default_factory=dict)
    noise: dict[Where, float] = field(default_factory=dict)

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
    bench: Side, recording: Recording, matched: Sequence[Matched], inputs: Sequence[Array], *, rounds: int = 1
) -> Reference:
    """Run the benchmark unit by unit for its own gradients, then again with everything moved by a rounding."""
    found = Reference(recording, matched, list(recording.arrays))
    for one in matched:
        _place(found, one)
    asked = {"do": "force", "own": True, "inputs": len(inputs), "train": recording.train, "reshaped": False}
    if recording.train:
        specs = [_spec(found, one, one.bench.path, one.bench.call) for one in matched]
        told, arrays = bench.ask({**asked, "collect": True, "perturbed": None, "calls": specs}, inputs)
        for (path, call, kind, name), array in zip(told["collected"], arrays, strict=True):
            found.put(path, call, kind, name, len(found.arrays))
            found.arrays.append(array)
    specs = [_spec(found, one, one.bench.path, one.bench.call) for one in matched]
    for seed in range(1, rounds + 1):
        told, _ = bench.ask({**asked, "collect": False, "perturbed": seed, "calls": specs}, inputs)
        for one in told["calls"]:
            for kind, index, level, _scale, comparable, _dtype in one["checks"]:
                where = (one["path"], one["call"], kind, index)
                if comparable:
                    found.noise[where] = max(found.noise.get(where, 0.0), level)
    return found


def force(
    port: Side, aligned: Aligned, reference: Reference, inputs: Sequence[Array], free: Collection[Called] = ()
) -> list[Checked]:
    """Run the port once, each matched call on the benchmark's inputs; what was compared, in the order it ran.

    ``free`` calls get the benchmark's inputs and pass on what they make of them themselves.
    """
    sending = _Sending(reference)
    specs = [_sent(reference, aligned, one, sending) for one in reference.matched]
    specs = [{**one, "free": (one["path"], one["call"]) in free} for one in specs]
    content = {"do": "force", "own": False, "inputs": len(inputs), "train": reference.recording.train}
    content |= {"collect": False, "perturbed": None, "calls": specs}
    given = [*inputs, *sending.arrays]
    try:
        told, _ = port.ask({**content, "reshaped": True}, given)
    except SideTrouble as trouble:
        if trouble.message.id != "side.raised_running":
            raise
        # Code that was written for its own layer's size may not run on the benchmark's.
        told, _ = port.ask({**content, "reshaped": False}, given)
    by_call = {(one.port.path, one.port.call): one for one in reference.matched}
    order = [by_call[one["path"], one["call"]] for one in told["calls"]]
    return [
        Checked(
            here,
            order[one["parent"]] if one["parent"] is not None else None,
            [_check(reference, aligned, here, *each) for each in one["checks"]],
            one["forced"],
            {name: one[name] for name in ("unfit", "shapes", "counts", "loose") if name in one},
        )
        for one, here in zip(told["calls"], order, strict=True)
    ]


def _place(reference: Reference, one: Matched) -> None:
    path, call = one.bench.path, one.bench.call
    for kind, places in (("in", one.bench.ins), ("out", one.bench.outs)):
        for index, place in enumerate(places):
            reference.put(path, call, kind, str(index), place)
    for index, place in enumerate(one.bench.outs):
        gout = reference.recording.gout(place)
        if gout is not None:
            reference.put(path, call, "gout", str(index), gout)


def _spec(reference: Reference, one: Matched, path: str, call: int) -> dict[str, Any]:
    recording, outs = reference.recording, one.bench.outs
    gathered = reference.places.get((one.bench.path, one.bench.call), {})
    return {
        "path": path,
        "call": call,
        "ins": list(one.bench.ins),
        "outs": list(outs),
        "gouts": [recording.gout(place) for place in outs if recording.is_float(place)],
        "unit": one.unit,
        "silent": one.silent,
        "floor": _WIDEST,
        "free": False,
        **{kind: gathered.get(kind, {}) for kind in ("gin", "grad", "buffer")},
    }


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


def _sent(reference: Reference, aligned: Aligned, one: Matched, sending: _Sending) -> dict[str, Any]:
    """A call's spec for the port: places in what is sent, parameters under the port's names and in its layout."""
    found = _spec(reference, one, one.port.path, one.port.call)
    found["ins"], found["outs"] = ([sending.at(place) for place in found[kind]] for kind in ("ins", "outs"))
    found["gouts"] = [sending.at(place) if place is not None else None for place in found["gouts"]]
    found["gin"] = {index: sending.at(place) for index, place in found["gin"].items()}
    for kind in ("grad", "buffer"):
        found[kind] = {
            pair.port_path[len(one.port.path) + bool(one.port.path) :]: sending.add(pair.laid(reference.arrays[place]))
            for name, place in found[kind].items()
            if (pair := aligned.by_bench_path.get(_joined(one.bench.path, name))) is not None
            and pair.layout is not None
            and _inside(pair.port_path, one.port.path)
        }
    return found


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _inside(path: str, above: str) -> bool:
    return not above or path.startswith(f"{above}.")


def _check(
    reference: Reference,
    aligned: Aligned,
    here: Matched,
    kind: str,
    index: str,
    level: float,
    scale: float,
    comparable: bool,
    dtype: str,
) -> Check:
    path, call = here.bench.path, here.bench.call
    there = index
    if kind in ("grad", "buffer"):
        pair = aligned.by_port_path[_joined(here.port.path, index)]
        there = pair.bench_path[len(path) + bool(path) :]
    own = reference.array(path, call, kind, there)
    dtypes = (dtype, own.dtype.name if own is not None else dtype)
    noise = reference.noise.get((path, call, kind, there), 0.0)
    floor = max(_least(reference, here, kind, dtypes), _MARGIN * noise)
    return Check(kind, index, level, scale, comparable, dtype, floor, noise)


def _least(reference: Reference, here: Matched, kind: str, dtypes: tuple[str, str]) -> float:
    """What two libraries' kernels may differ by, whatever the noise of these very numbers."""
    recording = reference.recording
    shapes = [recording.shapes[place][1] for place in (*here.bench.ins, *here.bench.outs)]
    longest = max((prod(shape[1:]) for shape in shapes), default=1)
    terms = max((prod(shape) for shape in shapes), default=1) if kind == "grad" else longest
    floor = tensor_floor(dtypes, 0, reduction=terms)
    return _SHORT * floor if unit(dtypes) > _SHORT_UNIT else floor
