"""Tensors that another tool dumped, by step and rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trueline.formats.stored import Stored
from trueline.model.key import Key


@dataclass(frozen=True, slots=True)
class Dumped:
    """One dumped tensor: its elements, or where the tool kept only those, its numbers (min, max, mean, l2).

    ``name`` is the tool's own name for it, ``type`` the operator or layer type where the tool says it.
    """

    key: Key
    name: str
    shape: tuple[int, ...]
    dtype: str
    stored: Stored | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)
    type: str = ""


@dataclass(frozen=True, slots=True)
class Dump:
    """A dump folder: for each (step, rank) its tensors in execution order."""

    path: Path
    tool: str
    steps: Mapping[tuple[int, int], Sequence[Dumped]]


@dataclass(frozen=True, slots=True)
class Node:
    """One call of an operator or module in a dump: what it took and gave, and the part of a step that it belongs to.

    A graph's input or weight is a Node with one output, of the part data or weights. ``inputs`` is empty where the tool
    did not dump them.
    """

    name: str
    op: str
    module: str
    part: str
    inputs: Sequence[Dumped]
    outputs: Sequence[Dumped]
