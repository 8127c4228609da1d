"""Whether two models give the same outputs for the same inputs, but for rounding."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from trueline.adapters.guest.trouble import SideTrouble
from trueline.compare.floors import Floor, Floors, Place
from trueline.compare.levels import levels
from trueline.compare.noise import epsilon
from trueline.compare.noise_floor import MARGINS, PROBE_ULPS, Tried, drifts_of, furthest, with_switches
from trueline.compare.verdict import Verdict, worst
from trueline.kernel import distance
from trueline.kernel.array import Array
from trueline.model.distance import Distance
from trueline.model.key import Key, Kind, Phase
from trueline.model.noise import Noise
from trueline.model.numbers import encode
from trueline.pair.coarse import Coarse
from trueline.pair.questions.described import Described
from trueline.pair.sides.side import Side

# Two calls of one model with one input may differ by threads; by more than this share of the output by chance only.
_REPEATS_WITHIN: Final = 1e-3
_LEAST_SHARE: Final = 0.01


@dataclass(frozen=True, slots=True)
class Output:
    """One output of both sides: how far apart, relative to the benchmark's scale, and how far noise explains.

    ``blind`` where the benchmark's values say nothing: none of them finite, or all of them zero.
    """

    index: int
    distance: Distance
    level: float
    floor: Floor
    verdict: Verdict

    @property
    def blind(self) -> bool:
        """Whether agreeing means little here."""
        return self.distance.comparable and not self.distance.max_ref

    def to_json(self) -> dict[str, object]:
        """The JSON shape."""
        return {
            "index": self.index,
            "verdict": str(self.verdict),
            "level": encode(self.level),
            "floor": encode(self.floor.value),
            "basis": str(self.floor.basis),
            "blind": self.blind,
            "distance": self.distance.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Verified:
    """Every output that both have; ``counts`` are how many outputs the benchmark and the port have."""

    outputs: Sequence[Output]
    counts: tuple[int, int]
    tries: int

    @property
    def verdict(self) -> Verdict:
        """The worst of all; another number of outputs is a difference too."""
        found = [output.verdict for output in self.outputs]
        return worst([*found, Verdict.DIFFERS] if self.counts[0] != self.counts[1] else found) or Verdict.DIFFERS

    @property
    def worst(self) -> Output | None:
        """The output that lies furthest beyond what noise explains."""
        return max(self.outputs, key=lambda output: (list(Verdict).index(output.verdict), output.level), default=None)

    def to_json(self) -> dict[str, object]:
        """The JSON shape."""
        return {
            "verdict": str(self.verdict),
            "outputs": [output.to_json() for output in self.outputs],
            "counts": {"bench": self.counts[0], "port": self.counts[1]},
            "tries": self.tries,
        }


def verify(bench: Side, port: Side, arrays: Sequence[Array], *, rounds: int = 4) -> Verified:
    """Run both in eval mode, and the benchmark ``rounds`` times more with its roundings moved."""
    there, here = _repeated(bench, arrays), _repeated(port, arrays)
    return judge_outputs((bench, port), arrays, there, here, rounds=rounds)


def judge_outputs(
    sides: tuple[Side, Side],
    arrays: Sequence[Array],
    there: Sequence[Array],
    here: Sequence[Array],
    *,
    rounds: int,
) -> Verified:
    """Outputs of the second side, or the same one run otherwise, against those of the first and its noise."""
    noise = _noise(sides[0], arrays, there, rounds)
    models = [side.describe() for side in sides]
    distances = {_key(place): distance(a, b) for place, (a, b) in enumerate(zip(here, there, strict=False))}
    level_of = levels(distances.items())
    floors = Floors(noise)
    reduction = max((_terms(described) for described in models), default=1)
    coarsest = max(_coarsest(described) for described in models)
    coarse = Coarse(sides, (models[0].framework, models[1].framework), arrays)
    outputs: list[Output] = []
    for place, (key, found) in enumerate(distances.items()):
        at = Place(key, reduction=reduction, coarsest=coarsest)
        floor = floors.of(at, (found.dtype_a, found.dtype_b), found.max_ref)
        level = level_of[key]
        if floors.exceeded(level, floor, found):
            floor = replace(floor, value=max(floor.value, coarse.explained(level)))
        if found.identical:
            verdict = Verdict.EQUAL
        else:
            verdict = Verdict.DIFFERS if floors.exceeded(level, floor, found) else Verdict.NOISE
        outputs.append(Output(place, found, level, floor, verdict))
    return Verified(outputs, (len(there), len(here)), rounds)


def _repeated(side: Side, arrays: Sequence[Array]) -> Sequence[Array]:
    """A side's outputs; a trouble where the same input gives another output each time, or none."""
    first, again = side.forward(arrays), side.forward(arrays)
    if not first:
        raise SideTrouble("side.no_outputs", side=str(side.entry))
    found = drifts_of(_keyed(again), _keyed(first))
    level = max((drift.level for drift in found.values()), default=0.0)
    if len(first) != len(again) or level > _REPEATS_WITHIN:
        raise SideTrouble("side.not_repeatable", side=str(side.entry), level=level)
    return first


def _noise(bench: Side, arrays: Sequence[Array], outputs: Sequence[Array], rounds: int) -> Noise | None:
    """How far the benchmark's outputs lie from themselves where every rounding could have gone the other way."""
    if rounds < 1:
        return None
    there = _keyed(outputs)
    tries = [_tried(bench.forward(arrays, perturbed=seed), there) for seed in range(1, rounds + 1)]
    probe = _tried(bench.forward(arrays, perturbed=rounds + 1, ulps=PROBE_ULPS), there)
    tried = with_switches(furthest(tries), probe)
    return Noise(rounds, drifts=tried.drifts, margins=MARGINS)


def _tried(outputs: Sequence[Array], there: Mapping[Key, Array]) -> Tried:
    return Tried({(key, 0): drift for key, drift in drifts_of(_keyed(outputs), there).items()})


def _key(place: int) -> Key:
    return Key.of("", Kind.OUT, place, phase=Phase.EVAL)


def _keyed(outputs: Sequence[Array]) -> dict[Key, Array]:
    return {_key(place): array for place, array in enumerate(outputs)}


def _terms(model: Described) -> int:
    """How many terms the longest sum in a model has, as far as its weights tell."""
    return max((math.prod(parameter.shape[1:]) for parameter in model.parameters if not parameter.buffer), default=1)


def _coarsest(model: Described) -> float:
    """The rounding unit of the coarsest dtype that a real part of the weights has."""
    counts: dict[str, int] = {}
    for parameter in model.parameters:
        counts[parameter.dtype] = counts.get(parameter.dtype, 0) + math.prod(parameter.shape)
    total = sum(counts.values())
    return max((epsilon(dtype) for dtype, count in counts.items() if count >= _LEAST_SHARE * total), default=0.0)
