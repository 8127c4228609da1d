"""Tensors to and from NumPy, and what a network consists of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from adapters.numpy_toy import framework

from trueline.adapters.nouns import Group, Normalised, Tensor
from trueline.kernel.array import Array


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor."""
    return isinstance(value, framework.Tensor)


def is_module(value: Any) -> bool:
    """Whether a value is a module."""
    return isinstance(value, framework.Module)


def to_numpy(tensor: Any, *, copy: bool = False) -> Array:
    """The tensor's values."""
    found: Array = tensor.data
    return np.array(found, copy=True) if copy else found


def from_numpy(array: Array, *, like: Any = None) -> Any:
    """A tensor of its own memory."""
    return framework.Tensor(np.array(array, dtype=None if like is None else like.data.dtype, copy=True))


def assign(tensor: Any, array: Array) -> None:
    """Overwrite a tensor in place."""
    tensor.write(array)


def read(scalar: Any) -> float:
    """A Python number from a scalar."""
    return float(scalar.data) if is_tensor(scalar) else float(scalar)


def keep(scalar: Any) -> Any:
    """The scalar, or the mean of a tensor, out of reach of later changes."""
    return float(scalar.data.mean()) if is_tensor(scalar) else float(scalar)


def norm(tensors: Sequence[Any]) -> Any:
    """The L2 norm over all tensors together."""
    return float(np.sqrt(sum(float(np.square(one.data, dtype=np.float64).sum()) for one in tensors)))


def total(tensors: Sequence[Any]) -> Any:
    """The sum of all elements."""
    return float(sum(float(one.data.sum(dtype=np.float64)) for one in tensors))


def identity(tensor: Any) -> int:
    """Equal for tensors that start at the same address; an empty one is only itself."""
    return int(tensor.data.ctypes.data) if tensor.data.size else id(tensor)


def version(tensor: Any) -> int:
    """How often the tensor was written in place."""
    return int(tensor.version)


def node(tensor: Any) -> Any:
    """The tensor itself, where an op made it and its way back is known."""
    return tensor if tensor.origin is not None else None


def is_fresh(optimizer: Any) -> bool:
    """The toy's optimizers remember nothing."""
    return True


def gradient(parameter: Any) -> Any:
    """What waits at a parameter for an update."""
    return getattr(parameter, "grad", None)


def nodes_before(node: Any) -> list[Any]:
    """The nodes whose outputs a node takes."""
    return [one for one in node.origin[1] if one.origin is not None]


def _paths(root: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    yield at, root
    for name, child in root.children():
        yield from _paths(child, f"{at}.{name}" if at else name)


def tensors(root: Any) -> Iterator[Tensor]:
    """Parameters, then buffers, by path; a shared one comes under each of its names."""
    for kind in (framework.Parameter, framework.Buffer):
        for path, module in _paths(root):
            for name, found in vars(module).items():
                if isinstance(found, kind):
                    full = f"{path}.{name}" if path else name
                    yield Tensor(full, found, found.requires_grad, buffer=kind is framework.Buffer)


def modules(root: Any) -> Iterator[tuple[str, Any]]:
    """All modules below and with root, each once."""
    seen: set[int] = set()
    for path, module in _paths(root):
        if id(module) not in seen:
            seen.add(id(module))
            yield path, module


def has_weights(module: Any) -> bool:
    """Whether there are parameters in a module."""
    return any(not one.buffer for one in tensors(module))


def normalised(root: Any) -> Iterator[Normalised]:
    """The toy normalises no weights."""
    yield from ()


def unwrap(module: Any) -> Any:
    """The toy has no wrappers."""
    return module


def attributes(module: Any) -> dict[str, Any]:
    """The plain public attributes that a module's behaviour depends on."""
    return {
        name: value
        for name, value in vars(module).items()
        if name != "training" and not name.startswith("_") and isinstance(value, bool | int | float | str | None)
    }


def training(module: Any) -> bool:
    """Whether the module is in training mode and gradients would be recorded."""
    return bool(module.training) and framework.recording()


def groups(optimizer: Any) -> list[Group]:
    """The parameter groups with their plain settings."""
    return [
        Group({name: value for name, value in group.items() if name != "parameters"}, list(group["parameters"]))
        for group in optimizer.groups
    ]


def dtype(tensor: Any) -> str:
    """NumPy's name of the dtype."""
    return str(tensor.data.dtype.name)


def shape(tensor: Any) -> tuple[int, ...]:
    """The shape."""
    return tuple(tensor.data.shape)
