"""A user's parts: losses, metrics, optimizers, schedules and data of one side, and what they give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from trueline.kernel.array import Array
from trueline.model.json_value import Json
from trueline.model.location import Location
from trueline.pair.questions.question import Question

# A setting of a float that is read back from JSON is the same number up to this.
_SAME_SETTING = 1e-6


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a part's object: its class, what it was built with, where it is defined and where built."""

    type: str
    arguments: Mapping[str, Json] = field(default_factory=dict)
    attributes: Mapping[str, Json] = field(default_factory=dict)
    framework: str = ""
    ignored: Sequence[int] = ()
    sizes: Sequence[int] = ()
    defined: Location | None = None
    built: Location | None = None

    @property
    def name(self) -> str:
        """The class's or function's own name."""
        return self.type.rpartition(".")[2]

    @property
    def numbers(self) -> list[float]:
        """The numbers it was built with."""
        held = (*self.arguments.values(), *self.attributes.values())
        return [float(value) for value in held if isinstance(value, int | float) and not isinstance(value, bool)]

    def line(self, *settings: float) -> Location | None:
        """Where to change it: where it was built if a setting was given there, else where it is defined."""
        given = [value for value in self.arguments.values() if isinstance(value, int | float)]
        if self.built is not None and any(
            abs(value - setting) < _SAME_SETTING for value in given for setting in settings
        ):
            return self.built
        return self.defined or self.built


@dataclass(frozen=True, slots=True)
class LoadedParts:
    """The names of the parts that one side has, and the line of each where it is known."""

    names: Sequence[str]
    lines: Mapping[str, Location]


@dataclass(frozen=True, slots=True)
class LoadParts(Question[LoadedParts]):
    """Import the file with parts; ``role`` is bench or port, ``shown`` the path as the user wrote it."""

    role: str
    path: str
    shown: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a part gave nothing: the message of the trouble."""

    id: str
    params: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class LossCase:
    """Outputs of a network, and labels."""

    outputs: Sequence[Array]
    labels: Array


@dataclass(frozen=True, slots=True)
class LossValue:
    """A loss, and its gradient at each of the outputs."""

    value: Array
    gradients: Sequence[Array | None]


@dataclass(frozen=True, slots=True)
class LossAnswers:
    """What a loss gave, case by case."""

    cases: Sequence[LossValue | Refused]
    about: About


@dataclass(frozen=True, slots=True)
class Loss(Question[LossAnswers]):
    """The loss of each case, and the gradient at its outputs."""

    cases: Sequence[LossCase]


@dataclass(frozen=True, slots=True)
class MetricValues:
    """The numbers of a metric by name."""

    values: Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class MetricAnswers:
    """What a metric gave, case by case; ``gathers``: it takes batch after batch."""

    cases: Sequence[MetricValues | Refused]
    gathers: bool
    about: About


@dataclass(frozen=True, slots=True)
class Metric(Question[MetricAnswers]):
    """The metric of each case: batches of predictions and labels, one only where the metric does not gather."""

    cases: Sequence[Sequence[tuple[Array, Array]]]


@dataclass(frozen=True, slots=True)
class OptimizerAbout:
    """An optimizer: its class, where it was built, its groups' settings, and which parameter is in which.

    ``group_of`` is None for a parameter that is in none; ``scheduled``: its learning rate changes over a training.
    """

    type: str
    line: Location | None
    scheduled: bool
    groups: Sequence[Mapping[str, Json]]
    group_of: Sequence[int | None]
    trainable: Sequence[bool]


@dataclass(frozen=True, slots=True)
class OptimizedWeights:
    """The weights after each step, one parameter after the other; ``followed``: the rates could be set."""

    about: OptimizerAbout
    weights: Array
    followed: bool


@dataclass(frozen=True, slots=True)
class Optimize(Question[OptimizedWeights]):
    """Steps from given weights with given gradients, each with the same rate for all parameters.

    ``counts`` says how many of each parameter's first elements count; the weights lie one parameter after the other,
    and so do the gradients of each step. All other elements are zero.
    """

    names: Sequence[str]
    counts: Sequence[int]
    rates: Sequence[float]
    weights: Array
    gradients: Array


@dataclass(frozen=True, slots=True)
class ScheduledRates:
    """The rates of each group at some ``steps`` of a training; ``beside``: by a schedule beside the optimizer."""

    about: OptimizerAbout
    epochs: int
    steps_per_epoch: int
    beside: bool
    steps: Array
    rates: Array


@dataclass(frozen=True, slots=True)
class Schedule(Question[ScheduledRates]):
    """The learning rates over a whole training, as long as the user's file says where that is not given."""

    names: Sequence[str]
    epochs: int | None = None
    steps_per_epoch: int | None = None


@dataclass(frozen=True, slots=True)
class Train(Question[Sequence[float]]):
    """The losses of a few steps on given batches; the model is afterwards as it was.

    With ``loss`` it is the user's, and the last array of a batch its labels; ``optimizer``: the user's is used.
    ``perturbed`` is a seed: layers are then moved by ``ulps`` rounding units at most; with ``operators`` every
    operator's output by one.
    """

    batches: Sequence[Sequence[Array]]
    steps: int
    loss: bool
    optimizer: bool
    perturbed: int | None = None
    ulps: int = 1
    operators: bool = False


@dataclass(frozen=True, slots=True)
class GivenBatches:
    """Batches as arrays; ``single``: the dataset gives samples and not batches."""

    batches: Sequence[Sequence[Array]]
    single: bool
    about: About


@dataclass(frozen=True, slots=True)
class GiveBatches(Question[GivenBatches]):
    """The first batches of a part, with randomness fixed."""

    of: Literal["batches", "dataset"]
    count: int
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One transform: its name, its plain settings, and the user's line where it is defined."""

    name: str
    settings: Mapping[str, Json] = field(default_factory=dict)
    line: Location | None = None

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={_short(value)}" for name, value in self.settings.items() if value is not None)
        return f"{self.name}({settings})"[:160]


def _short(value: Json) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_short, value)) + "]"
    return str(value)


@dataclass(frozen=True, slots=True)
class Transformed:
    """All steps, and for each sample what it was at first and after each step."""

    steps: Sequence[Step]
    states: Sequence[Sequence[Array]]


@dataclass(frozen=True, slots=True)
class Transform(Question[Transformed]):
    """Given samples, else the first ``count`` raw ones, through the transforms from ``first`` on."""

    count: int
    samples: Sequence[Array] = ()
    first: int = 0
    seed: int = 0
