"""Summaries and copies of the tensors of a step."""

from __future__ import annotations

import weakref
from typing import Any

from trueline.adapters.nouns import Unreadable
from trueline.adapters.protocol import Values
from trueline.kernel import UnsupportedDtype, summarise
from trueline.model.summary import Summary
from trueline.record.open_step import OpenStep, Spot
from trueline.record.wanted import Wanted


class TensorKeeper:
    """Takes what is wanted of a tensor; the same unchanged tensor is summarised once per step."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._seen: dict[int, tuple[weakref.ReferenceType[Any], int, Summary]] = {}

    def take(self, step: OpenStep, spot: Spot, tensor: Any, values: Values) -> bool:
        """Keep a tensor's Summary, its values, or both; False where it has none."""
        try:
            if self._wanted.tensors:
                array = values.to_numpy(tensor, copy=True)
                step.tensors.append((spot, array))
                step.stats.append((spot, summarise(array)))
            else:
                step.stats.append((spot, self._summary(tensor, values)))
        except (Unreadable, UnsupportedDtype):
            return False
        return True

    def _summary(self, tensor: Any, values: Values) -> Summary:
        version = values.version(tensor)
        if version is None:
            return summarise(values.to_numpy(tensor))
        seen = self._seen.get(id(tensor))
        if seen is not None and seen[0]() is tensor and seen[1] == version:
            return seen[2]
        found = summarise(values.to_numpy(tensor))
        self._seen[id(tensor)] = (weakref.ref(tensor), version, found)
        return found

    def forget(self) -> None:
        """The step is over."""
        self._seen.clear()
