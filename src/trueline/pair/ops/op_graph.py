"""What one call of a block does, operator by operator: the values it goes through, and which op makes which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from trueline.kernel.array import Array
from trueline.model.json_value import Json
from trueline.model.location import Location


@dataclass(frozen=True, slots=True)
class Op:
    """One operator call, or one inner layer that is not looked into.

    ``inputs`` and ``outputs`` are ids of values. ``kind`` is the operator's name in both frameworks, ``name`` what this
    one calls it. ``module`` is the layer's path as the benchmark names it, on both sides; None for an operator.
    ``line`` is where it would be changed: of a framework's own layer, where that was built; ``called`` is then where
    the user's code calls it. ``caller`` is the line that calls the function of the user's which it is in, ``set_at``
    the one that assigns a number it takes.
    """

    name: str
    kind: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    line: Location | None = None
    module: str | None = None
    settings: Mapping[str, Json] = field(default_factory=dict, hash=False)
    called: Location | None = None
    caller: Location | None = None
    set_at: Location | None = None

    @property
    def taken_at(self) -> Location | None:
        """The line that says what it takes."""
        return self.called or self.line


@dataclass(frozen=True)
class Graph:
    """The ops of a call in the order they ran; a value's id is its place in ``values`` (None: not kept).

    A tensor that was written in place is another value from then on. ``inputs`` and ``outputs`` are those of the whole
    call; values that no op makes and that are no input are parameters (``names`` has theirs) or constants. ``assigned``
    are the lines that give a module what it holds without training it, ``made`` those where the user's code makes a
    constant of data while it runs.
    """

    ops: Sequence[Op]
    values: Sequence[Array | None]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    names: Mapping[int, str] = field(default_factory=dict)
    assigned: Mapping[int, Location] = field(default_factory=dict)
    made: Mapping[int, Location] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ids = {value for op in self.ops for value in (*op.inputs, *op.outputs)}
        if any(not 0 <= value < len(self.values) for value in ids | {*self.inputs, *self.outputs, *self.names}):
            raise ValueError("a value that is not there")

    @cached_property
    def maker(self) -> dict[int, Op]:
        """The op that makes a value, by the value's id."""
        return {out: op for op in self.ops for out in op.outputs}
