"""One call of a block by itself: its operators, the gradients of its own code, and its slopes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from trueline.kernel.array import Array
from trueline.model.json_value import Json
from trueline.model.location import Location
from trueline.pair.ops.op_graph import Graph
from trueline.pair.questions.question import Question

# The values of a block that are kept take no more than this together.
MAX_KEPT_BYTES: Final = 64 << 20

# Which of the stops are undone, by their places.
Undo = Literal["all"] | Sequence[int]


@dataclass(frozen=True, slots=True)
class InnerSpec:
    """One call of a layer in a block: ``name`` is the benchmark's for it, ``outs`` what it is known to give.

    ``taken`` are the places of its inputs among the benchmark's, where it takes fewer or more; ``like`` the shapes of
    those.
    """

    path: str
    name: str
    outs: Sequence[Array] | None
    taken: Sequence[int] | None
    like: Sequence[Sequence[int]] = ()


@dataclass(frozen=True, slots=True)
class BlockSpec:
    """One call of a block on given inputs, and the calls of layers in it, those of one layer in order.

    ``like`` are the shapes of what the benchmark's gives out.
    """

    path: str
    call: int
    inputs: Sequence[Array]
    inner: Sequence[InnerSpec] = ()
    like: Sequence[Sequence[int]] = ()


@dataclass(frozen=True, slots=True)
class Alteration:
    """A setting of the operators of one name on one line: where it is ``now``, it is to be ``wanted``."""

    name: str
    line: Location | None
    setting: str
    now: Json
    wanted: Json


@dataclass(frozen=True, slots=True)
class WatchOperators(Question[Graph]):
    """A block operator by operator, its layers taken as one operator each; with ``alterations`` some run otherwise.

    ``held`` are other values of what modules hold, by the attribute's path, ``made`` those that operators are to have
    made, by the operator's number.
    """

    block: BlockSpec
    train: bool
    max_bytes: int = MAX_KEPT_BYTES
    alterations: Sequence[Alteration] = ()
    held: Mapping[str, Array] = field(default_factory=dict)
    made: Mapping[int, Array] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Between:
    """The gradients of a block's own code at what goes into it, from random ones at what comes out (``sinks``).

    ``stops`` are the lines where the user's code stops a gradient, in order, ``ends`` lines where one ended: each where
    asked for.
    """

    sinks: Sequence[str]
    gradients: Mapping[str, Array | None]
    stops: Sequence[Location]
    ends: Sequence[Location]


@dataclass(frozen=True, slots=True)
class GradientsBetween(Question[Sequence[Between]]):
    """For each block gradients by what goes in, from all that comes out or ``only`` some.

    The lines where the user's code stopped a gradient are given if ``undo`` asks for them: "all", or the places in that
    order of those that are to stop none. With ``watched`` the lines where gradients ended are given too.
    """

    blocks: Sequence[BlockSpec]
    train: bool
    undo: Undo = ()
    only: Sequence[str] | None = None
    watched: bool = False


@dataclass(frozen=True, slots=True)
class Slopes:
    """Along several directions of one input or parameter (``of``): the slope by its gradient, and the measured one."""

    of: str
    pairs: Sequence[tuple[float, float]]
    dtype: str


@dataclass(frozen=True, slots=True)
class MeasureSlopes(Question[Sequence[Slopes]]):
    """The slopes of one call along random directions, by its gradients and by finite differences."""

    block: BlockSpec
    train: bool


@dataclass(frozen=True, slots=True)
class CustomBackward:
    """A call with a backward that the user wrote: its name and line, what the call was given, and its slopes."""

    path: str
    call: int
    name: str
    line: Location | None
    inputs: Sequence[Array]
    slopes: Sequence[Slopes]


@dataclass(frozen=True, slots=True)
class CustomBackwards(Question[Sequence[CustomBackward]]):
    """All calls with a backward of the user's own in one run of the whole model."""

    inputs: Sequence[Array]
    train: bool
