"""What a watch reads of a recorded training: networks, names, and the numbers of tensors."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.adapters.nouns import Network, Unreadable, Value
from trueline.kernel import UnsupportedDtype, summarise
from trueline.kernel.array import Array
from trueline.model.summary import Summary
from trueline.record.recorded import Recorded


class Readings:
    """Of one framework; what cannot be read is noticed in the recording."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded, self._values = recorded, recorded.values

    def networks(self) -> Iterator[Network]:
        """Those that are alive."""
        alive = self._recorded.recorder.training.networks.alive()
        return (module for root, module in alive if root.adapter is self._recorded.adapter)

    def name(self, parameter: Value) -> str | None:
        """A parameter's, where it is known."""
        known = self._recorded.recorder.training.parameters.find(parameter)
        return ".".join(part for part in (known.place.path, known.leaf) if part) if known is not None else None

    def array(self, tensor: Value, where: str) -> Array | None:
        """A tensor's values; where they cannot be looked at, that is said."""
        try:
            return self._values.to_numpy(tensor)
        except Unreadable:
            self.unwatched(where or type(tensor).__name__)
            return None

    def unwatched(self, where: str) -> None:
        """Say that a tensor could not be looked at."""
        self._recorded.recorder.kept.notice("record.unwatched", module=where)

    def summary(self, tensor: Value) -> Summary | None:
        """Of a tensor of floating numbers that can be read."""
        try:
            return summarise(self._values.to_numpy(tensor)) if "float" in self._values.dtype(tensor) else None
        except (Unreadable, UnsupportedDtype, ValueError):
            return None
