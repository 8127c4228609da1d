"""Which call's output reaches which call's input, in the first step of a phase."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from trueline.adapters.identity import ByIdentity
from trueline.adapters.nouns import Value
from trueline.adapters.protocol import Values

# Bounds the walk through the autograd graph between two modules.
_MAX_NODES: Final = 256


class Edges:
    """Follows tensors by identity, and through the autograd graph where operators stand between two modules."""

    def __init__(self) -> None:
        self._by_tensor: ByIdentity[int] = ByIdentity()
        self._by_node: dict[object, int] = {}

    def made(self, call: int, tensors: Iterable[Value], values: Values) -> None:
        """A call has returned these tensors; an enclosing module that hands them on does not take them over."""
        for tensor in tensors:
            if tensor not in self._by_tensor:
                self._by_tensor.set(tensor, call)
            node = values.node(tensor)
            if node is not None:
                self._by_node.setdefault(node, call)

    def sources(self, tensors: Iterable[Value], values: Values) -> list[int]:
        """The calls that these tensors come from."""
        found: set[int] = set()
        for tensor in tensors:
            known = self._by_tensor.get(tensor)
            if known is not None:
                found.add(known)
            else:
                found |= self._through_graph(values.node(tensor), values)
        return sorted(found)

    def _through_graph(self, node: object, values: Values) -> set[int]:
        found: set[int] = set()
        seen: set[object] = set()
        waiting = [node] if node is not None else []
        while waiting and len(seen) < _MAX_NODES:
            current = waiting.pop()
            if current in seen:
                continue
            seen.add(current)
            if current in self._by_node:
                found.add(self._by_node[current])
            else:
                waiting.extend(values.nodes_before(current))
        return found

    def forget(self) -> None:
        """The step is over."""
        self._by_tensor = ByIdentity()
        self._by_node.clear()
