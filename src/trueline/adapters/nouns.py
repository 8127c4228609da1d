"""The types exchanged between adapters and their callers: named tensors, operator calls, states, gradients.

Tensors, modules and optimizers are the framework's own objects: no type checker sees into them, the conformance suite
holds what is asked of them. Their names here say what each is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NotRequired, TypeAlias, TypedDict

from trueline.kernel.array import Array
from trueline.model.json_value import Json
from trueline.model.location import Location

# A tensor, or a value that holds some: what a module takes and gives.
Value: TypeAlias = Any
# A torch.nn.Module or a mindspore.nn.Cell.
Network: TypeAlias = Any
Optimizer: TypeAlias = Any
# What a training's batches come from: a loader, a dataset, an iterator.
Loader: TypeAlias = Any
# Another object of a framework's or of the user's: a scaler, a schedule, an autograd node, a transform.
Foreign: TypeAlias = Any
# A function of a framework's or of the user's, which is called with whatever its caller gives.
Function: TypeAlias = Callable[..., Value]


class Unreadable(Exception):  # noqa: N818
    """A tensor without readable values: traced, fake, on the meta device, inside a function transform …"""


class Expanded(Unreadable):
    """A large expanded tensor: materialised, it would take many times its storage."""


# What is smaller is read whatever is stored of it, and so is what has at least this share stored.
_ALWAYS_READ_BYTES: Final = 64 << 20
_MAX_SHARING: Final = 16


def check_expanded(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> None:
    """Raises Expanded for a tensor that is much larger than its storage."""
    size, stored = itemsize, itemsize
    for count, stride in zip(shape, strides, strict=True):
        size *= count
        stored *= count if stride else 1
    if size > _ALWAYS_READ_BYTES and size > stored * _MAX_SHARING:
        raise Expanded(f"{size} bytes, of which {stored} are stored")


@dataclass(frozen=True, slots=True)
class Tensor:
    """A named tensor of a network."""

    name: str
    value: Value
    trainable: bool
    buffer: bool = False


@dataclass(frozen=True, slots=True)
class Normalised:
    """A weight that a module divides by its largest singular value: the matrix, and the vectors that stand for it.

    ``adapts``: whether the vectors are brought nearer with every call.
    """

    path: str
    function: str
    matrix: Value
    left: Value
    right: Value
    adapts: bool


@dataclass(frozen=True, slots=True)
class Group:
    """A parameter group of an optimizer: its plain settings (including lr) and its parameters."""

    settings: Mapping[str, Foreign]
    parameters: Sequence[Value]


@dataclass(frozen=True, slots=True)
class Built:
    """How a module was constructed: arguments by name (defaults applied) and the user's line.

    Tensors and modules among the arguments are replaced by their type's name in angle brackets.
    """

    type: type
    arguments: Mapping[str, Foreign]
    line: Location | None
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Passed:
    """The result of one module: outputs, and with ``gout`` the gradients of inputs and parameters."""

    outputs: Sequence[Array]
    gin: Sequence[Array | None] = ()
    grads: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pulled:
    """The result of a vector-Jacobian product: outputs, gradients at inputs and parameters, and the raw result."""

    outputs: Sequence[Array]
    gin: Sequence[Array | None]
    grads: Sequence[Array | None]
    result: Value = None


# What stands around a module's call: (module, args, kwargs, proceed) to the output.
Around = Callable[[Network, tuple[Value, ...], dict[str, Value], Function], Value]
# How much of its input a dropout is to drop, of how much it would.
Share = Callable[[float], float]
# What is to stand for a value that is dropped with some probability.
Instead = Callable[[Value, float], Value]
# The gradients at floating outputs, or how to make them once the outputs are there.
Gout = Sequence[Array | None] | Callable[[Sequence[Array]], Sequence[Array | None]]


# An operator that is about to run, by name, line and plain settings: those to change, with their new values.
Alter: TypeAlias = Callable[[str, Location | None, Mapping[str, Json]], Mapping[str, Json]]


@dataclass(frozen=True, slots=True)
class OpCall:
    """One operator call at op level; ``settings`` are its plain arguments, by place where they have no name.

    ``node`` is a number that a call of the backward pass shares with the call of the forward pass whose gradient it is.
    ``recorded``: whether a gradient may be wanted of it, where only the framework knows that a forward pass has begun.
    """

    name: str
    inputs: Sequence[Value]
    outputs: Sequence[Value]
    line: Location | None
    backward: bool = False
    settings: Mapping[str, Json] = field(default_factory=dict)
    node: int | None = None
    recorded: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """What a replay needs: arrays by name, and plain values (JSON) by name; ``lost`` names what does not fit."""

    arrays: Mapping[str, Array]
    plain: Mapping[str, Json]
    lost: Sequence[str] = ()


class LoaderFacts(TypedDict):
    """Facts of a loader when an iteration over it begins; ``length`` counts batches, ``samples`` samples."""

    kind: str
    dataset: str
    length: int | None
    samples: int | None
    batch_size: int | None
    sampler: str | None
    shuffle: bool | None
    drop_last: bool
    workers: int
    repeat: NotRequired[int]


@dataclass(frozen=True, slots=True)
class Handed:
    """A batch to return instead of a loader's next, or the end of the loader."""

    batch: Value
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Stateful:
    """A stateful object of a training run: ``kind`` is network, optimizer, schedule or scaler, ``type`` its class."""

    kind: str
    type: str
    held: Foreign


def named(holders: Sequence[Stateful]) -> list[tuple[str, Stateful]]:
    """Each under its kind and its number within that kind."""
    counts: dict[str, int] = {}
    numbered = []
    for holder in holders:
        numbered.append((f"{holder.kind}.{counts.get(holder.kind, 0)}", holder))
        counts[holder.kind] = counts.get(holder.kind, 0) + 1
    return numbered
