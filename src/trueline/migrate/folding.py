"""Parametrised weights: weight norm and spectral norm, computed into the one weight that a network uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from trueline.formats.stored import Stored
from trueline.kernel.array import Array
from trueline.migrate.held import Held
from trueline.model.message import message


@dataclass(frozen=True, slots=True)
class _Way:
    """The names beside which a weight is kept, ``{}`` standing for the weight's own, and how it is made of them."""

    names: tuple[str, ...]
    fold: Callable[..., Array]
    note: str


def _weight_norm(magnitude: Array, direction: Array) -> Array:
    """torch's: the direction's length is taken over every axis that the magnitude does not have."""
    v, g = direction.astype(np.float64), magnitude.astype(np.float64)
    axes = tuple(axis for axis in range(v.ndim) if g.ndim != v.ndim or g.shape[axis] == 1)
    # A magnitude of one number over an axis of length 1 is still one length per place of it.
    length = np.sqrt((v * v).sum(axis=axes, keepdims=True))
    return np.asarray(v * (g / length)).astype(direction.dtype)


def _spectral_norm(weight: Array, u: Array, v: Array) -> Array:
    """torch's in evaluation: divided by the largest singular value, as the kept vectors estimate it."""
    w = weight.astype(np.float64)
    # The rows are those of the axis that u lies along: the second one of transposed convolutions.
    axis = next((place for place, side in enumerate(w.shape) if side == u.size and w.size // side == v.size), 0)
    rows = np.moveaxis(w, axis, 0).reshape(u.size, -1)
    sigma = u.astype(np.float64) @ (rows @ v.astype(np.float64))
    return np.asarray(w / sigma).astype(weight.dtype)


_WAYS: Final = (
    _Way(("{}_g", "{}_v"), _weight_norm, "weight_norm"),
    _Way(("parametrizations.{}.original0", "parametrizations.{}.original1"), _weight_norm, "weight_norm"),
    _Way(("{}_orig", "{}_u", "{}_v"), _spectral_norm, "spectral_norm"),
    _Way(
        ("parametrizations.{}.original", "parametrizations.{}.0._u", "parametrizations.{}.0._v"),
        _spectral_norm,
        "spectral_norm",
    ),
)


def fold(arrays: Sequence[Held]) -> list[Held]:
    """The same arrays, those that make up one weight replaced by it."""
    by_name = {array.name: array for array in arrays}
    folded: dict[str, Held] = {}
    taken: set[str] = set()
    for held in arrays:
        for way in _WAYS:
            stem = _stem(held.name, way.names[0])
            if stem is None:
                continue
            parts = [by_name.get(_joined(stem, name)) for name in way.names]
            found = [part for part in parts if part is not None]
            weight = _joined(stem, "{}")
            if len(found) == len(parts) and weight not in by_name and _fits(way, found):
                folded[held.name] = _folded(weight, found, way)
                taken.update(part.name for part in found)
    return [folded.get(array.name, array) for array in arrays if array.name in folded or array.name not in taken]


def _stem(name: str, pattern: str) -> tuple[str, str] | None:
    """(module, leaf) that a pattern's first name speaks of."""
    before, after = pattern.split("{}")
    module, dot, rest = name.rpartition(f".{before}") if before else name.rpartition(".")
    if before and not dot:
        if not name.startswith(before):
            return None
        module, rest = "", name.removeprefix(before)
    leaf = rest.removesuffix(after)
    return (module, leaf) if after and rest.endswith(after) and leaf and "." not in leaf else None


def _joined(stem: tuple[str, str], pattern: str) -> str:
    module, leaf = stem
    return f"{module}.{pattern.format(leaf)}" if module else pattern.format(leaf)


def _fits(way: _Way, parts: Sequence[Held]) -> bool:
    """Whether the shapes are those of this parametrisation."""
    if way.note == "weight_norm":
        magnitude, direction = parts[0].shape, parts[1].shape
        same = len(magnitude) == len(direction)
        return not magnitude or (same and all(a in (1, b) for a, b in zip(magnitude, direction, strict=True)))
    weight, u, v = (held.shape for held in parts)
    size = int(np.prod(weight))
    return len(u) == len(v) == 1 and u[0] in weight and u[0] * v[0] == size


def _folded(name: str, parts: Sequence[Held], way: _Way) -> Held:
    whole = parts[1] if way.note == "weight_norm" else parts[0]

    def compute() -> Array:
        return way.fold(*(_array(held) for held in parts))

    done = message(f"convert.folded_{way.note}", parts=", ".join(held.leaf for held in parts))
    return Held(
        name,
        whole.shape,
        whole.dtype,
        compute,
        parts=tuple(name for held in parts for name in held.names),
        done=(done,),
    )


def _array(held: Held) -> Array:
    if isinstance(held.source, Stored):
        return held.source.array()
    return held.source() if callable(held.source) else held.source
