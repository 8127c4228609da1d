"""The forced run: every matched call of a side on the benchmark's inputs, compared with what the benchmark had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trueline.kernel.array import Array
from trueline.pair.questions.question import Question

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CallSpec:
    """A call that is to be forced; all places are among the known arrays.

    ``unit``: it is run as a whole, with its gradients. ``silent``: only where its inputs agree within ``floor``.
    ``free``: it passes on what it makes itself. ``given``: it is not run, the benchmark's outputs are handed on.
    ``gin``, ``grad`` and ``buffer`` are by index or name.
    """

    path: str
    call: int
    ins: Sequence[int]
    outs: Sequence[int]
    gouts: Sequence[int | None]
    unit: bool
    silent: bool
    floor: float
    gin: Mapping[str, int]
    grad: Mapping[str, int]
    buffer: Mapping[str, int]
    free: bool = False
    given: bool = False

    def places(self, kind: str) -> Mapping[str, int]:
        """Where the gradients or buffers of a kind are."""
        return {"gin": self.gin, "grad": self.grad, "buffer": self.buffer}[kind]


@dataclass(frozen=True, slots=True)
class Measured:
    """One array compared: its kind and index in the call, and how far apart relative to the reference's largest."""

    kind: str
    index: str
    level: float
    scale: float
    comparable: bool
    dtype: str


@dataclass(frozen=True, slots=True)
class Reshaped:
    """An output whose shape is not the benchmark's."""

    place: int
    here: Shape
    there: Shape


@dataclass(slots=True)
class ForcedCall:
    """One call as it ran; ``parent`` is the place of the one that it was made in.

    ``unfit`` are the shapes of its inputs and of the benchmark's, which could not be given; ``counts`` how many outputs
    there are here and there, where not as many; ``loose``: an output was passed on as it is. ``masks`` are
    the benchmark's masks by their places among the inputs, written as the port writes its own, ``doubted`` those that
    are right only if whoever takes them reads them so.
    """

    path: str
    call: int
    parent: int | None
    checks: list[Measured] = field(default_factory=list)
    forced: bool = False
    unfit: tuple[Sequence[Shape], Sequence[Shape]] | None = None
    shapes: list[Reshaped] = field(default_factory=list)
    counts: tuple[int, int] | None = None
    loose: bool = False
    masks: dict[int, Array] = field(default_factory=dict)
    doubted: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Collected:
    """A gradient or buffer of a unit."""

    path: str
    call: int
    kind: str
    name: str
    array: Array


@dataclass(frozen=True, slots=True)
class ForcedRun:
    """The calls in the order they ran, and what was collected."""

    calls: Sequence[ForcedCall]
    collected: Sequence[Collected]


@dataclass(frozen=True, slots=True)
class Force(Question[ForcedRun]):
    """Run the model once, each of ``calls`` on the known arrays; ``known`` None are those of its last recording.

    With ``collect`` the gradients and buffers of units come along, and nothing is compared with what is not known yet.
    With ``perturbed``, a seed, all that is forced is moved by a rounding unit; with ``operators`` also what each
    operator between the calls gives. With ``reshaped`` the benchmark's outputs are passed on in place of those that
    have another size too. Without ``backward`` units give no gradients.
    """

    inputs: Sequence[Array]
    known: Sequence[Array] | None
    calls: Sequence[CallSpec]
    train: bool
    collect: bool = False
    perturbed: int | None = None
    operators: bool = False
    reshaped: bool = False
    backward: bool = True
