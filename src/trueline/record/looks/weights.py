"""The fingerprints of all weights after an update, and whether those that were one tensor still are."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from trueline.adapters.nouns import Unreadable
from trueline.kernel import UnsupportedDtype, fingerprint
from trueline.record.networks import Networks, Place, Root

_MOST = 4000
MOST_ELEMENTS = 1 << 26


def fingerprints(networks: Networks, *, buffers_only: bool = False) -> dict[str, str]:
    """Every parameter and buffer of the networks that are alive, by name; of a large network the first."""
    found: dict[str, str] = {}
    elements = 0
    for root, module in networks.alive():
        for name, one in _named(root, module):
            if buffers_only and not one.buffer:
                continue
            elements += prod(root.adapter.values.shape(one.value))
            if len(found) >= _MOST or elements > MOST_ELEMENTS:
                return found
            try:
                found[name] = f"{fingerprint(root.adapter.values.to_numpy(one.value)):016x}"
            except (Unreadable, UnsupportedDtype):
                continue
    return found


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
