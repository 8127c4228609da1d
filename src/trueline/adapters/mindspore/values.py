"""Conversion of tensors to and from NumPy, and the structure of a network."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

import mindspore as ms
import ml_dtypes
import numpy as np
from mindspore import nn

from trueline.adapters.identity import walk
from trueline.adapters.mindspore import internals
from trueline.adapters.mindspore.internals import grad_node, node_number, pynative
from trueline.adapters.mindspore.optimizers import groups, is_fresh
from trueline.adapters.mindspore.wrappers import unwrap
from trueline.adapters.nouns import Foreign, Network, Normalised, Tensor, Value, check_expanded
from trueline.adapters.plain import is_plain
from trueline.kernel.array import Array
from trueline.model.describing import described
from trueline.model.json_value import Json

__all__ = [
    "assign",
    "attributes",
    "dtype",
    "from_numpy",
    "gradient",
    "groups",
    "has_weights",
    "identity",
    "is_fresh",
    "is_module",
    "is_tensor",
    "keep",
    "modules",
    "node",
    "nodes_before",
    "norm",
    "normalised",
    "read",
    "shape",
    "tensors",
    "to_numpy",
    "total",
    "training",
    "unwrap",
    "version",
]

# Never too large to be read, whatever the type.
_ALWAYS_READ_ELEMENTS = 1 << 20
_STATISTICS = frozenset(("moving_mean", "moving_variance", "running_mean", "running_var", "num_batches_tracked"))


def normalised(root: Network) -> Iterator[Normalised]:  # noqa: ARG001
    """None: MindSpore has no normaliser of weights."""
    yield from ()


def is_tensor(value: object) -> bool:
    """Whether a value is a tensor."""
    return isinstance(value, ms.Tensor)


def is_module(value: object) -> bool:
    """Whether a value is a cell."""
    return isinstance(value, nn.Cell)


def to_numpy(tensor: Value, *, copy: bool = False) -> Array:
    """The tensor's values; without ``copy`` later steps may overwrite them."""
    if tensor.size > _ALWAYS_READ_ELEMENTS:
        check_expanded(tensor.shape, tensor.stride(), tensor.itemsize)
    array: Array = tensor.asnumpy()
    if array.dtype.name == "bfloat16":
        # MindSpore brings a NumPy type of its own for these bytes.
        array = array.view(np.uint16).view(ml_dtypes.bfloat16)
    return np.array(array, copy=True) if copy else array


def from_numpy(array: Array, *, like: Value = None) -> Value:
    """A new tensor, with the dtype of ``like`` if given."""
    owned = np.array(array, copy=True, order="C")
    if not owned.dtype.isnative:
        owned = owned.astype(owned.dtype.newbyteorder("="))
    return ms.Tensor(owned) if like is None else ms.Tensor(owned, dtype=like.dtype)


def assign(tensor: Value, array: Array) -> None:
    """Overwrite a tensor in place; after ``set_data`` an optimizer that has stepped would still use the old values."""
    with without_gradient():
        tensor.copy_(from_numpy(array, like=tensor))


@dataclass(frozen=True, slots=True)
class _Norm:
    """The L2 norm of tensors that do not change, computed when read."""

    tensors: tuple[Value, ...]

    def __float__(self) -> float:
        return math.sqrt(math.fsum(_squares(to_numpy(tensor)) for tensor in self.tensors))


def _squares(array: Array) -> float:
    if array.dtype.itemsize < 4:
        array = array.astype(np.float32)
    flat = array.reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = float(np.vdot(flat, flat).real)
    # A sum of squares can overflow where the norm itself does not.
    return squares if math.isfinite(squares) else _squares_of_large(flat)


def _squares_of_large(flat: Array) -> float:
    wide = np.abs(flat).astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.vdot(wide, wide))


def read(scalar: Value) -> float:
    """A scalar as a Python number; synchronises with the device."""
    return float(to_numpy(scalar).reshape(-1)[0]) if is_tensor(scalar) else float(scalar)


def keep(scalar: Value) -> Value:
    """A copy of a scalar, or a tensor's mean, without synchronising."""
    if not is_tensor(scalar):
        return scalar if isinstance(scalar, _Norm) else float(scalar)
    with without_gradient():
        if scalar.size == 1:
            return scalar.astype(ms.float32) + 0 if scalar.dtype != ms.float64 else scalar + 0
        return scalar.astype(ms.float32).mean()


def norm(tensors: Sequence[Value]) -> Value:
    """The L2 norm over all tensors: of parameters at once, since they change; of others when read."""
    held = tuple(tensor for tensor in tensors if is_tensor(tensor))
    if any(isinstance(tensor, ms.Parameter) for tensor in held):
        return float(_Norm(held))
    return _Norm(held)


class without_gradient:  # noqa: N801 - reads as a statement where it is used
    """Operators in this block are not recorded for the user's gradients."""

    def __enter__(self) -> None:
        self._before = bool(pynative.enable_grad())
        if self._before:
            pynative.set_enable_grad(False)

    def __exit__(self, *_: object) -> None:
        if self._before:
            pynative.set_enable_grad(True)


def total(tensors: Sequence[Value]) -> Value:
    """The norm, which is NaN or Inf if any element is."""
    return norm(tensors)


def identity(tensor: Value) -> int:
    """The address of a tensor's storage; a parameter, whose storage moves at the first step, is only itself."""
    if isinstance(tensor, ms.Parameter) or tensor.size == 0:
        return id(tensor)
    return int(tensor.data_ptr()) or id(tensor)


def version(tensor: Value) -> int | None:  # noqa: ARG001
    """None: MindSpore's own version counter does not see every write."""
    return None


@dataclass(frozen=True, slots=True)
class _Node:
    """An autograd node, which MindSpore returns as a new object each time."""

    id: int
    held: Foreign = field(compare=False)


def _nodes(nodes: Iterable[Value]) -> list[_Node]:
    return [
        _Node(node_number(autograd_node), autograd_node)
        for autograd_node in nodes
        if autograd_node is not None and not autograd_node.is_leaf()
    ]


def node(tensor: Value) -> Foreign:
    """The autograd node that produced the tensor; None where there is none."""
    return next(iter(_nodes((grad_node(tensor),))), None)


def gradient(parameter: Value) -> Value:
    """None: gradients are return values, not attributes of parameters."""


def nodes_before(node: Foreign) -> Sequence[Foreign]:
    """The autograd nodes whose outputs a node consumes."""
    return _nodes(source for source, _ in node.held.next_functions)


def _owned(root: Network, prefix: str, above: tuple[int, ...]) -> Iterator[tuple[str, str, Value]]:
    """(full name, leaf name, tensor) of every parameter and buffer, including shared ones under each name."""
    for source in (internals.parameters(root), internals.buffers(root)):
        for leaf, tensor in source.items():
            if tensor is not None:
                name = described(str, leaf)
                yield prefix + name, name, tensor
    for holder, listed in internals.parameter_lists(root).items():
        for place, tensor in enumerate(listed):
            yield f"{prefix}{holder}.{place}", holder, tensor
    for name, cell in internals.subcells(root).items():
        if cell is not None and id(cell) not in above:
            yield from _owned(cell, f"{prefix}{name}.", (*above, id(cell)))


def tensors(root: Network) -> Iterator[Tensor]:
    """Parameters, then buffers, by path; running statistics count as buffers, though they are Parameters here."""
    buffers: list[Tensor] = []
    for name, leaf, tensor in _owned(root, "", (id(root),)):
        if isinstance(tensor, ms.Parameter) and not (leaf in _STATISTICS and not tensor.requires_grad):
            yield Tensor(name, tensor, bool(tensor.requires_grad))
        else:
            buffers.append(Tensor(name, tensor, False, buffer=True))
    yield from buffers


def modules(root: Network) -> Iterator[tuple[str, Network]]:
    """All cells from the root down, each once."""
    return walk(root, internals.subcells)


def has_weights(module: Network) -> bool:
    """Whether a cell has parameters."""
    return any(not tensor.buffer for tensor in tensors(module))


@cache
def _of_every_cell() -> frozenset[str]:
    return frozenset(vars(nn.Cell()))


def attributes(module: Network) -> dict[str, Json]:
    """The plain public attributes that determine a cell's behaviour."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in vars(module).items()
        if type(name) is str and not name.startswith("_") and name not in _of_every_cell() and is_plain(value)
    }


def training(module: Network) -> bool:
    """Whether the cell is in training mode and gradients would be recorded."""
    return bool(module.training) and bool(pynative.enable_grad())


def dtype(tensor: Value) -> str:
    """The NumPy name of the dtype."""
    return str(tensor.dtype).lower()


def shape(tensor: Value) -> tuple[int, ...]:
    """The shape."""
    return tuple(int(size) for size in tensor.shape)
