"""The fingerprints of all weights after an update, and whether those that were one tensor still are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any, Final, TypeVar

import numpy as np

from trueline.adapters.nouns import Unreadable
from trueline.kernel import UnsupportedDtype, fingerprint
from trueline.kernel.chunks import Elements
from trueline.record.networks import Networks, Place, Root

T = TypeVar("T")
_MOST = 4000
_SMALL: Final = 1 << 16
MOST_ELEMENTS = 1 << 26


def fingerprints(networks: Networks) -> dict[str, str]:
    """Every parameter and buffer of the networks that are alive, by name; of a large network the first."""
    return {name: f"{mark:016x}" for name, mark in _marks(networks, fingerprint)}


def buffers(networks: Networks) -> dict[str, int | bytes]:
    """What tells whether a buffer has moved, by name: its bytes where they are few, else their fingerprint."""
    return dict(_marks(networks, _content, buffers_only=True))


def _content(array: Elements) -> int | bytes:
    return array.tobytes() if isinstance(array, np.ndarray) and array.nbytes <= _SMALL else fingerprint(array)


def _marks(networks: Networks, mark: Callable[[Elements], T], *, buffers_only: bool = False) -> Iterator[tuple[str, T]]:
    count = elements = 0
    for root, module in networks.alive():
        values = root.adapter.values
        for one in values.tensors(module):
            if buffers_only and not one.buffer:
                continue
            count += 1
            elements += prod(values.shape(one.value))
            if count > _MOST or elements > MOST_ELEMENTS:
                return
            try:
                yield Place(root, one.name).full, mark(values.to_numpy(one.value))
            except (Unreadable, UnsupportedDtype):
                continue


def shared(networks: Networks) -> list[list[str]]:
    """The names of tensors that are one and the same."""
    groups: dict[int, list[str]] = {}
    for root, module in networks.alive():
        for name, one in _named(root, module):
            if not one.buffer:
                groups.setdefault(root.adapter.values.identity(one.value), []).append(name)
    return [names for names in groups.values() if len(names) > 1]


def any_sharded(networks: Networks) -> bool:
    """Whether a process holds only a part of a tensor, so that ranks rightly differ."""
    return any(hasattr(one.value, "to_local") for root, module in networks.alive() for _, one in _named(root, module))


def _named(root: Root, module: Any) -> Iterator[tuple[str, Any]]:
    for one in root.adapter.values.tensors(module):
        yield Place(root, one.name).full, one
