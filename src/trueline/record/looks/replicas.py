"""Marks of weights and buffers after every step, for ranks that hold the same: of a large network a part each time."""

from __future__ import annotations

from math import prod
from typing import Final

from trueline.adapters.nouns import Unreadable
from trueline.kernel import UnsupportedDtype, fingerprint
from trueline.record.networks import Networks, Place

# So many elements at least, and this share of all: far below what the step itself costs.
_LEAST_ELEMENTS: Final = 1 << 17
_SHARE: Final = 16
_MAX_TENSORS: Final = 256


def marks(networks: Networks, step: int) -> dict[str, str]:
    """Fingerprints by name, with the range of elements where it is a part; the same choice on ranks that are alike."""
    tensors = [
        (root, tensor, prod(root.adapter.values.shape(tensor.value)))
        for root, module in networks.alive()
        for tensor in root.adapter.values.tensors(module)
    ]
    total = sum(elements for _, _, elements in tensors)
    budget = max(_LEAST_ELEMENTS, total // _SHARE)
    begin = 0 if total <= budget else step * budget % total
    found: dict[str, str] = {}
    # From one place in the row of all elements on, and from the first again after the last.
    for lap in (0, 1):
        position = 0
        for root, tensor, elements in tensors:
            first, position = position, position + elements
            start = max(begin - first, 0) if lap == 0 else 0
            stop = elements if lap == 0 else min(elements, begin - first)
            if budget <= 0 or len(found) >= _MAX_TENSORS:
                return found
            if start >= stop:
                continue
            stop = min(stop, start + budget)
            name = Place(root, tensor.name).full
            try:
                array = root.adapter.values.to_numpy(tensor.value)
                whole = start == 0 and stop == elements
                mark = fingerprint(array if whole else array.reshape(-1)[start:stop])
            except (Unreadable, UnsupportedDtype, RuntimeError):
                continue
            budget -= stop - start
            found[name if whole else f"{name}[{start}:{stop}]"] = f"{mark:016x}"
    return found
