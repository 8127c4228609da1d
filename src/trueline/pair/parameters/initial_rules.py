"""What a parameter is drawn from: recognised by its numbers, and how each framework is told to draw so."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from trueline.model.message import Message, message

# A standard deviation that lies this share of itself off is another one.
LEAST_SHARE: Final = 0.05
# So many standard errors are no chance any more, with as many parameters as a network has.
_ERRORS: Final = 4.5
ENOUGH_FOR_SHAPE: Final = 1000
_ENOUGH_FOR_SPREAD: Final = 32
_ENOUGH_TO_POOL: Final = 10
_NORMAL: Final = 3.0
# A normal distribution cut off at two standard deviations has this share of its spread left.
_CUT: Final = 0.8796
_NICE: Final = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0)


class Shape(StrEnum):
    """The shape of a distribution."""

    UNIFORM = "uniform"
    NORMAL = "normal"
    TRUNCATED = "truncated"
    UNKNOWN = "unknown"


# Kurtosis 1.8, 2.37 and 3; and how many standard deviations the furthest values lie out at most.
_SHAPES: Final = ((Shape.UNIFORM, 1.6, 2.05, 1.85), (Shape.TRUNCATED, 2.15, 2.6, 2.4), (Shape.NORMAL, 2.7, 3.4, 9.0))


@dataclass(frozen=True, slots=True)
class Drawn:
    """One parameter over all seeds: ``count`` is how many numbers, drawn anew, its numbers are from."""

    count: float
    mean: float
    std: float
    low: float
    high: float
    kurtosis: float

    @classmethod
    def of(cls, rows: npt.NDArray[np.float64]) -> Drawn | None:
        """From a row of numbers for each seed; rows that are the same count once. None where there are no values."""
        rows = np.unique(rows, axis=0)
        if np.isnan(rows).any() or not np.isfinite(rows).all():
            return None
        first, second, third, fourth = (float(rows[:, power].mean()) for power in range(1, 5))
        low, high = float(rows[:, 5].min()), float(rows[:, 6].max())
        variance = max(second - first**2, 0.0) if low < high else 0.0
        about_mean = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4
        kurtosis = about_mean / variance**2 if variance > 0 else 0.0
        return cls(float(rows[:, 0].sum()), first, math.sqrt(variance), low, high, kurtosis)

    @property
    def constant(self) -> bool:
        """Whether every number is the same."""
        return self.low == self.high

    @property
    def shape(self) -> Shape:
        """What the distribution looks like, where there are enough numbers to tell."""
        if self.count < ENOUGH_FOR_SHAPE or not self.std:
            return Shape.UNKNOWN
        furthest = max(abs(self.high - self.mean), abs(self.low - self.mean)) / self.std
        for shape, least, most, reach in _SHAPES:
            if least <= self.kurtosis <= most and furthest <= reach:
                return shape
        return Shape.UNKNOWN

    @property
    def error(self) -> float:
        """How far, as a share of itself, the standard deviation may be off by chance."""
        # Of a few numbers the kurtosis itself tells nothing.
        kurtosis = self.kurtosis if self.count >= ENOUGH_FOR_SHAPE else max(self.kurtosis, _NORMAL)
        return math.sqrt(max(kurtosis - 1.0, 0.1) / (4.0 * self.count))


def allowed(bench: Drawn, port: Drawn) -> float:
    """How far apart, on a logarithmic scale, chance may bring two standard deviations."""
    return max(LEAST_SHARE, _ERRORS * math.hypot(bench.error, port.error))


def differ(bench: Drawn, port: Drawn) -> bool:
    """Whether chance does not explain the difference of two parameters."""
    if bench.constant and port.constant:
        return not math.isclose(bench.mean, port.mean, rel_tol=1e-5, abs_tol=1e-8)
    if bench.constant or port.constant:
        return True
    if min(bench.count, port.count) < _ENOUGH_FOR_SPREAD:
        return False
    if abs(log_ratio(bench, port)) > allowed(bench, port):
        return True
    spread = max(bench.std, port.std)
    chance = _ERRORS * math.hypot(bench.std / math.sqrt(bench.count), port.std / math.sqrt(port.count))
    if abs(bench.mean - port.mean) > chance + LEAST_SHARE * spread:
        return True
    shapes = {bench.shape, port.shape}
    return len(shapes) == 2 and Shape.UNKNOWN not in shapes


def log_ratio(bench: Drawn, port: Drawn) -> float:
    """The logarithm of the port's standard deviation over the benchmark's."""
    return math.log(port.std / bench.std)


def pooled_differ(pairs: list[tuple[Drawn, Drawn]]) -> bool:
    """Whether many small parameters together differ, though chance could explain each."""
    pairs = _pooled(pairs)
    if len(pairs) < 2:
        return False
    weights = [min(bench.count, port.count) for bench, port in pairs]
    mean = sum(weight * log_ratio(*pair) for weight, pair in zip(weights, pairs, strict=True)) / sum(weights)
    return abs(mean) > max(2 * LEAST_SHARE, pooled_error(pairs))


def pooled_error(pairs: list[tuple[Drawn, Drawn]]) -> float:
    """How far apart, on a logarithmic scale, chance may bring the standard deviations of small parameters together."""
    pairs = _pooled(pairs)
    if len(pairs) < 2:
        return math.inf
    weights = [min(bench.count, port.count) for bench, port in pairs]
    errors = [
        weight * math.hypot(bench.error, port.error) for weight, (bench, port) in zip(weights, pairs, strict=True)
    ]
    return _ERRORS * math.hypot(*errors) / sum(weights)


def _pooled(pairs: list[tuple[Drawn, Drawn]]) -> list[tuple[Drawn, Drawn]]:
    return [pair for pair in pairs if min(drawn.count for drawn in pair) >= _ENOUGH_TO_POOL]


@dataclass(frozen=True, slots=True)
class Rule:
    """How a parameter is drawn: an id of a sentence, the shape, and the number that it needs."""

    name: str
    shape: Shape = Shape.UNKNOWN
    value: float = 0.0

    def same(self, rule: Rule) -> bool:
        """Whether another rule is this one, as far as its numbers were enough to tell."""
        return (self.name, self.value) == (rule.name, rule.value) and rule.shape in (self.shape, Shape.UNKNOWN)

    def text(self, drawn: Drawn) -> Message:
        """In words; ``drawn`` is one parameter that is drawn so."""
        shape = message(f"pair_update.shape_{self.shape}")
        if self.name == "constant":
            return message("pair_update.rule_constant", value=self.value)
        if self.name == "random":
            return message("pair_update.rule_random", shape=shape, mean=drawn.mean, std=drawn.std)
        if self.name == "fixed":
            return message("pair_update.rule_fixed", shape=shape, std=self.value)
        return message(f"pair_update.rule_{self.name}", shape=shape)

    def call(self, framework: str) -> str | None:
        """What to write in a framework; None where that cannot be said in a line."""
        return _call(self, _CALLS.get(framework, {}))


def rules(drawn: Drawn, fans: tuple[int, int] | None) -> Iterator[Rule]:
    """Every rule that explains a parameter of these fans (in, out), the likelier ones first."""
    if drawn.constant:
        yield Rule("constant", value=drawn.mean)
        return
    shape = drawn.shape
    off = max(LEAST_SHARE, _ERRORS * drawn.error)
    centred = abs(drawn.mean) <= LEAST_SHARE * drawn.std + _ERRORS * drawn.std / math.sqrt(drawn.count)
    if centred and fans is not None:
        # What is cut off has a smaller spread than what the rule names.
        for name, predicted in _predicted(*fans).items():
            for std in (predicted, predicted * _CUT) if shape is Shape.TRUNCATED else (predicted,):
                if abs(math.log(drawn.std / std)) <= off and (name != "uniform_fan" or _could_be_uniform(drawn)):
                    yield Rule(name, shape)
                    break
    if centred:
        wanted = drawn.std / _CUT if shape is Shape.TRUNCATED else drawn.std
        nice = _nice(wanted)
        if abs(math.log(wanted / nice)) <= off:
            yield Rule("fixed", shape, nice)
    yield Rule("random", shape)


def _could_be_uniform(drawn: Drawn) -> bool:
    return drawn.shape in (Shape.UNIFORM, Shape.UNKNOWN) and drawn.high <= drawn.std * 2.2


def _predicted(fan_in: int, fan_out: int) -> dict[str, float]:
    return {
        "uniform_fan": math.sqrt(1 / (3 * fan_in)),
        "kaiming_in": math.sqrt(2 / fan_in),
        "kaiming_out": math.sqrt(2 / fan_out),
        "xavier": math.sqrt(2 / (fan_in + fan_out)),
        "lecun_in": math.sqrt(1 / fan_in),
        "lecun_out": math.sqrt(1 / fan_out),
        "default_in": math.sqrt(1 / (3 * fan_in)),
    }


def _nice(value: float) -> float:
    """The nearest number that a person would write."""
    power = 10.0 ** math.floor(math.log10(value))
    return float(
        f"{min((number * power for number in (*_NICE, 10.0)), key=lambda one: abs(math.log(one / value))):.3g}"
    )


_CALLS: Final[Mapping[str, Mapping[str, str]]] = {
    "mindspore": {
        "uniform_fan": "HeUniform(math.sqrt(5)) for weights, Uniform(1 / math.sqrt(fan_in)) for biases",
        "kaiming_in": 'He{shape}(mode="fan_in", nonlinearity="relu")',
        "kaiming_out": 'He{shape}(mode="fan_out", nonlinearity="relu")',
        "lecun_in": "He{shape}(negative_slope=1)",
        "lecun_out": 'He{shape}(negative_slope=1, mode="fan_out")',
        "xavier": "Xavier{shape}()",
        "constant": "Constant({value:g})",
        "fixed_normal": "Normal({value:g})",
        "fixed_uniform": "Uniform({bound:.4g})",
        "fixed_truncated": "TruncatedNormal({value:g})",
    },
    "torch": {
        "uniform_fan": "nn.init.kaiming_uniform_(weight, a=math.sqrt(5)), the default",
        "kaiming_in": 'nn.init.kaiming_{lower}_(weight, mode="fan_in", nonlinearity="relu")',
        "kaiming_out": 'nn.init.kaiming_{lower}_(weight, mode="fan_out", nonlinearity="relu")',
        "lecun_in": 'nn.init.kaiming_{lower}_(weight, mode="fan_in", nonlinearity="linear")',
        "lecun_out": 'nn.init.kaiming_{lower}_(weight, mode="fan_out", nonlinearity="linear")',
        "xavier": "nn.init.xavier_{lower}_(weight)",
        "constant": "nn.init.constant_(weight, {value:g})",
        "fixed_normal": "nn.init.normal_(weight, std={value:g})",
        "fixed_uniform": "nn.init.uniform_(weight, -{bound:.4g}, {bound:.4g})",
        "fixed_truncated": "nn.init.trunc_normal_(weight, std={value:g}, a=-{cut:g}, b={cut:g})",
    },
}


def _call(rule: Rule, calls: Mapping[str, str]) -> str | None:
    text = calls.get(rule.name) or calls.get(f"{rule.name}_{rule.shape}")
    named = text is not None and ("{shape}" in text or "{lower}" in text)
    if text is None or (named and rule.shape not in (Shape.NORMAL, Shape.UNIFORM)):
        return None
    words: dict[str, Any] = {"shape": str(rule.shape).capitalize(), "lower": str(rule.shape)}
    return text.format(value=rule.value, bound=rule.value * math.sqrt(3), cut=2 * rule.value, **words)
