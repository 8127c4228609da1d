"""The model as a whole: what it computes, its weights, and what its factory draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.pair.questions.question import Question


@dataclass(frozen=True, slots=True)
class Forward(Question[Sequence[Array]]):
    """The tensors of the output, in order; with a seed in ``perturbed`` inputs and layers are moved by ``ulps``."""

    inputs: Sequence[Array]
    train: bool = False
    perturbed: int | None = None
    ulps: int = 1


@dataclass(frozen=True, slots=True)
class RanOperators:
    """The names of operators in lower case, by the path of the module whose own code runs them."""

    by_module: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Operators(Question[RanOperators]):
    """The operators that the inputs go through in evaluation."""

    inputs: Sequence[Array]


@dataclass(frozen=True, slots=True)
class GetWeights(Question[Mapping[str, Array]]):
    """The values of the named parameters and buffers, or of all, by the names a checkpoint has."""

    names: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class PutWeights(Question[None]):
    """Overwrite the named parameters and buffers in place."""

    weights: Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Settle(Question[int]):
    """Scale weights so that values stay near one from the first layer to the last; how many layers were scaled."""

    inputs: Sequence[Array]
    seed: int


@dataclass(frozen=True, slots=True)
class BuiltWeights(Question[Array | None]):
    """The numbers of every parameter as it is now: an array of names by 7; None where no factory has built the model.

    Count, means of the first four powers, least, largest; NaN for a parameter without values.
    """

    names: Sequence[str]


@dataclass(frozen=True, slots=True)
class DrawWeights(Question[Array | None]):
    """Build the model again for each seed, and take the numbers of every parameter: an array of seeds by names by 7.

    None where there is only one model, which cannot be built again.
    """

    names: Sequence[str]
    seeds: Sequence[int]


@dataclass(frozen=True, slots=True)
class Compiler(Question[str]):
    """By what the model is compiled; empty where it is not."""


@dataclass(frozen=True, slots=True)
class CompiledRun:
    """A module op by op and compiled: outputs, and the gradients that both have; ``failed`` is what it raised."""

    plain: Sequence[Array] = ()
    compiled: Sequence[Array] = ()
    grads: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)
    failed: str = ""


@dataclass(frozen=True, slots=True)
class RunCompiled(Question[CompiledRun]):
    """Run the module at ``path`` both ways; with ``seed`` also backward, from seeded gradients."""

    path: str
    inputs: Sequence[Array]
    seed: int | None


@dataclass(frozen=True, slots=True)
class AssignedAt(Question[Location | None]):
    """The user's line that gives the module at ``path`` an attribute."""

    path: str
    attribute: str


@dataclass(frozen=True, slots=True)
class BenchCall:
    """One call of a benchmark's layer: the first tensor that it was given, and the first that it gave."""

    given: Array
    gave: Array


@dataclass(frozen=True, slots=True)
class Trace(Question[Mapping[str, str]]):
    """Which of the benchmark's ``layers`` each of this side's is, by what goes into it.

    ``candidates`` are those that could be, in their order. ``likely`` says which, of several that are given the same,
    ``ordered`` which it is where none is.
    """

    inputs: Sequence[Array]
    layers: Mapping[str, Sequence[BenchCall]]
    candidates: Mapping[str, Sequence[str]]
    likely: Mapping[str, str]
    ordered: Mapping[str, str]
