"""Which call's output reaches which call's input, in the first step of a phase."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trueline.adapters.identity import ByIdentity
from trueline.adapters.protocol import Values

_MOST_NODES = 256


class Edges:
    """Follows tensors by identity, and through the autograd graph where operators stand between two modules."""

    def __init__(self) -> None:
        self._by_tensor: ByIdentity[int] = ByIdentity()
        self._by_node: dict[Any, int] = {}

    def made(self, call: int, tensors: Iterable[Any], values: Values) -> None:
        """A call has returned these tensors; an enclosing module that hands them on does not take them over."""
        for tensor in tensors:
            if tensor not in self._by_tensor:
                self._by_tensor.set(tensor, call)
            node = values.node(tensor)
            if node is not None:
                self._by_node.setdefault(node, call)

    def sources(self, tensors: Iterable[Any], values: Values) -> list[int]:
        """The calls that these tensors come from."""
        found: set[int] = set()
        for tensor in tensors:
            known = self._by_tensor.get(tensor)
            if known is not None:
                found.add(known)
            else:
                found |= self._through_graph(values.node(tensor), values)
        return sorted(found)

    def _through_graph(self, node: Any, values: Values) -> set[int]:
        found: set[int] = set()
        seen: set[Any] = set()
        waiting = [node] if node is not None else []
        while waiting and len(seen) < _MOST_NODES:
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            if one in self._by_node:
                found.add(self._by_node[one])
            else:
                waiting.extend(values.nodes_before(one))
        return found

    def forget(self) -> None:
        """The step is over."""
        self._by_tensor = ByIdentity()
        self._by_node.clear()
