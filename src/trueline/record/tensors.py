"""Summaries and copies of the tensors of a step."""

from __future__ import annotations

import os
from typing import Final

import numpy as np

from trueline.adapters.identity import ByIdentity
from trueline.adapters.nouns import Expanded, Unreadable, Value
from trueline.adapters.protocol import Values
from trueline.kernel import UnsupportedDtype, summarise
from trueline.model.summary import Summary
from trueline.record.open_step import OpenStep, Spot
from trueline.record.wanted import Wanted

# The tensors of one step may take so much of the machine's memory.
_MEMORY_DIVISOR: Final = 4
EXPANDED: Final = "record.expanded"


def memory_share() -> int:
    """How many bytes may wait in memory for a step's end."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // _MEMORY_DIVISOR


class TensorKeeper:
    """Takes what is wanted of a tensor; the same unchanged tensor is summarised once per step."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._seen: ByIdentity[tuple[int, Summary]] = ByIdentity()
        self._most = memory_share()
        self._kept = 0

    def take(self, step: OpenStep, spot: Spot, tensor: Value, values: Values) -> str | None:
        """Keep a tensor's Summary, its values, or both; the id of the notice where it could not be."""
        try:
            if self._wanted.tensors:
                array = values.to_numpy(tensor)
                if self._kept + array.nbytes > self._most:
                    return "record.too_large"
                self._kept += array.nbytes
                step.tensors.append((spot, np.array(array, copy=True, order="K")))
                step.stats.append((spot, summarise(array)))
            else:
                step.stats.append((spot, self._summary(tensor, values)))
        except Expanded:
            return EXPANDED
        except (Unreadable, UnsupportedDtype):
            return "record.unreadable"
        return None

    def _summary(self, tensor: Value, values: Values) -> Summary:
        version = values.version(tensor)
        if version is None:
            return summarise(values.to_numpy(tensor))
        seen = self._seen.get(tensor)
        if seen is not None and seen[0] == version:
            return seen[1]
        found = summarise(values.to_numpy(tensor))
        self._seen.set(tensor, (version, found))
        return found

    def forget(self) -> None:
        """The step is over."""
        self._seen = ByIdentity()
        self._kept = 0
