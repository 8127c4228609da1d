"""Whether two runs have the same parameters, and start from the same weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from trueline.compare.align import Alignment, Item, Leftover, Rules, Structure, align
from trueline.compare.noise import unit
from trueline.compare.rows import Network
from trueline.model.key import Key, Kind
from trueline.model.run import ParamInfo
from trueline.model.summary import Summary

# Weights that went through another dtype or a text file are still the same weights.
_ROUNDING: Final = 1e-5
# Counters that only one framework keeps.
_COUNTERS: Final = frozenset({"num_batches_tracked"})


@dataclass(frozen=True, slots=True)
class WeightsComparison:
    """How the parameters pair up, how many pairs could be compared and which are apart (names of a and b).

    ``shapes`` and ``trained`` are pairs of another shape, or that only one side trains.
    """

    alignment: Alignment
    compared: int
    apart: Sequence[tuple[str, str]]
    shapes: Sequence[tuple[ParamInfo, ParamInfo]] = ()
    trained: Sequence[tuple[ParamInfo, ParamInfo]] = ()

    @property
    def only_a(self) -> Sequence[Leftover]:
        """Parameters that only the run in question has."""
        return [leftover for leftover in self.alignment.only_a if leftover.key.index not in _COUNTERS]

    @property
    def only_b(self) -> Sequence[Leftover]:
        """Parameters that only the benchmark has."""
        return [leftover for leftover in self.alignment.only_b if leftover.key.index not in _COUNTERS]

    @property
    def other_structure(self) -> bool:
        """Whether the two networks do not have the same parameters."""
        return bool(self.only_a or self.only_b or self.shapes or self.trained)


def compare_initial_weights(
    a: Sequence[ParamInfo],
    b: Sequence[ParamInfo],
    rules: Rules | None = None,
    networks: tuple[Network, Network] = (Network(), Network()),
) -> WeightsComparison:
    """Compare by what was kept of the initial weights: their numbers, not their elements."""
    here, there = _by_key(a), _by_key(b)
    alignment = align(
        _structure(here, networks[0]),
        _structure(there, networks[1]),
        rules or Rules(),
        lambda x, y: _known_same(here[x], there[y]),
    )
    compared = 0
    apart, shapes, trained = [], [], []
    for pair in alignment.pairs:
        parameter, other = here[pair.a], there[pair.b]
        if _without_ones(parameter.shape) != _without_ones(other.shape) and sorted(parameter.shape) != sorted(
            other.shape
        ):
            shapes.append((parameter, other))
            continue
        if (
            not parameter.buffer
            and not other.buffer
            and parameter.trainable != other.trainable
            and not _statistic(parameter, other)
        ):
            trained.append((parameter, other))
        if parameter.initial is None or other.initial is None:
            continue
        compared += 1
        if not _same(parameter.initial, other.initial, _rounding(parameter, other)):
            apart.append((parameter.name, other.name))
    return WeightsComparison(alignment, compared, apart, shapes, trained)


def reductions(params: Sequence[ParamInfo]) -> dict[str, int]:
    """How many products a module's outputs are sums of, from its largest weight."""
    found: dict[str, int] = {}
    for param in params:
        terms = 1
        for side in param.shape[1:]:
            terms *= side
        module = param.name.rpartition(".")[0]
        found[module] = max(found.get(module, 1), terms)
    return found


def _structure(params: Mapping[Key, ParamInfo], network: Network) -> Structure:
    return Structure(
        [Item(key, parameter.shape, parameter.dtype) for key, parameter in params.items()], network.types, network.calls
    )


def _statistic(a: ParamInfo, b: ParamInfo) -> bool:
    """A moving average: a parameter that is not trained in one framework, a buffer in the other."""
    return any("moving_" in parameter.name or "running_" in parameter.name for parameter in (a, b))


def _without_ones(shape: Sequence[int]) -> list[int]:
    return [side for side in shape if side != 1]


def _by_key(params: Sequence[ParamInfo]) -> dict[Key, ParamInfo]:
    return {Key.of_parameter(param.name, Kind.BUFFER if param.buffer else Kind.PARAM): param for param in params}


def _rounding(a: ParamInfo, b: ParamInfo) -> float:
    dtypes = [parameter.dtype.rpartition(".")[2].lower() for parameter in (a, b)]
    return max(_ROUNDING, unit((dtypes[0], dtypes[1]))) if dtypes[0] != dtypes[1] else _ROUNDING


def _known_same(a: ParamInfo, b: ParamInfo) -> bool | None:
    return _same(a.initial, b.initial, _rounding(a, b)) if a.initial is not None and b.initial is not None else None


def _same(a: Summary, b: Summary, rounding: float) -> bool:
    if a.count != b.count or a.non_finite != b.non_finite:
        return False
    if a.fingerprint == b.fingerprint:
        return True
    scale = max(abs(b.minimum), abs(b.maximum), a.l2 / a.count**0.5 if a.count else 0.0)
    gaps = (a.minimum - b.minimum, a.maximum - b.maximum, a.mean - b.mean, a.abs_mean - b.abs_mean, a.std - b.std)
    return all(abs(gap) <= rounding * scale for gap in gaps)
