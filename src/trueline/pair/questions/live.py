"""The live run: a side on its own values, the benchmark's put in at chosen calls, each call held against its."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from trueline.kernel.array import Array
from trueline.pair.questions.forced import Measured, Reshaped
from trueline.pair.questions.question import Question


@dataclass(frozen=True, slots=True)
class LiveSpec:
    """A call to be looked at; ``ins`` and ``outs`` are places among the known arrays, ``graft``: they are put in."""

    path: str
    call: int
    ins: Sequence[int]
    outs: Sequence[int]
    graft: bool = False


@dataclass(slots=True)
class LiveCall:
    """One call as it ran; ``began`` and ``ended`` number all beginnings and ends of the run in their order.

    ``misfits`` are outputs of another shape, which could not be put in; ``counts`` how many there are here and there,
    where not as many.
    """

    path: str
    call: int
    began: int
    ended: int = -1
    checks: list[Measured] = field(default_factory=list)
    misfits: list[Reshaped] = field(default_factory=list)
    counts: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class LiveRun:
    """The calls in the order in which they began, and the tensors of the network's output."""

    calls: Sequence[LiveCall]
    outputs: Sequence[Array]


@dataclass(frozen=True, slots=True)
class RunLive(Question[LiveRun]):
    """Run the model once in evaluation; with ``perturbed``, a seed, its roundings are moved."""

    inputs: Sequence[Array]
    known: Sequence[Array]
    calls: Sequence[LiveSpec]
    perturbed: int | None = None
