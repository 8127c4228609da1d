"""The fingerprints of all weights after an update, and whether those that were one tensor still are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Final, TypeVar

import numpy as np

from trueline.adapters.nouns import Network, Tensor, Unreadable
from trueline.kernel import UnsupportedDtype, fingerprint
from trueline.kernel.chunks import Elements
from trueline.record.networks import Networks, Place, Root

T = TypeVar("T")
# Of a larger network the first tensors are looked at: more would take longer than the step.
_MAX_TENSORS: Final = 4000
MAX_ELEMENTS: Final = 1 << 26
# What is smaller is copied, which is cheaper than a fingerprint.
_MAX_COPIED_BYTES: Final = 1 << 16


def fingerprints(networks: Networks) -> dict[str, str]:
    """Every parameter and buffer of the networks that are alive, by name; of a large network the first."""
    return {name: f"{mark:016x}" for name, mark in _marks(networks, fingerprint)}


def buffers(networks: Networks) -> dict[str, int | bytes]:
    """What tells whether a buffer has moved, by name: its bytes where they are few, else their fingerprint."""
    return dict(_marks(networks, _content, buffers_only=True))


def _content(array: Elements) -> int | bytes:
    return (
        array.tobytes() if isinstance(array, np.ndarray) and array.nbytes <= _MAX_COPIED_BYTES else fingerprint(array)
    )


def _marks(networks: Networks, mark: Callable[[Elements], T], *, buffers_only: bool = False) -> Iterator[tuple[str, T]]:
    count = elements = 0
    for root, module in networks.alive():
        values = root.adapter.values
        for tensor in values.tensors(module):
            if buffers_only and not tensor.buffer:
                continue
            count += 1
            elements += prod(values.shape(tensor.value))
            if count > _MAX_TENSORS or elements > MAX_ELEMENTS:
                return
            try:
                yield Place(root, tensor.name).full, mark(values.to_numpy(tensor.value))
            except (Unreadable, UnsupportedDtype):
                continue


def shared(networks: Networks) -> list[list[str]]:
    """The names of tensors that are one and the same."""
    groups: dict[int, list[str]] = {}
    for root, module in networks.alive():
        for name, tensor in _named(root, module):
            if not tensor.buffer:
                groups.setdefault(root.adapter.values.identity(tensor.value), []).append(name)
    return [names for names in groups.values() if len(names) > 1]


def any_sharded(networks: Networks) -> bool:
    """Whether a process holds only a part of a tensor, so that ranks rightly differ."""
    return any(
        hasattr(tensor.value, "to_local") for root, module in networks.alive() for _, tensor in _named(root, module)
    )


def _named(root: Root, module: Network) -> Iterator[tuple[str, Tensor]]:
    for tensor in root.adapter.values.tensors(module):
        yield Place(root, tensor.name).full, tensor
