"""What one call of a block does, operator by operator: the values it goes through, and which op makes which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from trueline.kernel.array import Array
from trueline.model.fields import may, naturals, need
from trueline.model.location import Location
from trueline.model.numbers import plain


@dataclass(frozen=True, slots=True)
class Op:
    """One operator call, or one inner layer that is not looked into.

    ``inputs`` and ``outputs`` are ids of values. ``kind`` is the operator's name in both frameworks, ``name`` what this
    one calls it. ``module`` is the layer's path as the benchmark names it, on both sides; None for an operator.
    """

    name: str
    kind: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    line: Location | None = None
    module: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def to_json(self) -> dict[str, Any]:
        """The JSON shape."""
        return {
            "name": self.name,
            "kind": self.kind,
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "line": self.line.line_json() if self.line is not None else None,
            "module": self.module,
            "settings": plain(self.settings),
        }

    @classmethod
    def from_json(cls, found: Any) -> Self:
        """Read the JSON shape; a ValueError says what is wrong."""
        line = may(found, "line", dict)
        return cls(
            name=need(found, "name", str),
            kind=need(found, "kind", str),
            inputs=naturals(found, "inputs"),
            outputs=naturals(found, "outputs"),
            line=Location.from_line_json(line) if line is not None else None,
            module=may(found, "module", str),
            settings=may(found, "settings", dict) or {},
        )


@dataclass(frozen=True)
class Graph:
    """The ops of a call in the order they ran; a value's id is its place in ``values`` (None: not kept).

    A tensor that was written in place is another value from then on. ``inputs`` and ``outputs`` are those of the whole
    call; values that no op makes and that are no input are parameters (``names`` has theirs) or constants.
    """

    ops: Sequence[Op]
    values: Sequence[Array | None]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    names: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def maker(self) -> dict[int, Op]:
        """The op that makes a value, by the value's id."""
        return {out: op for op in self.ops for out in op.outputs}

    @property
    def arrays(self) -> list[Array]:
        """The kept values in order, as they travel beside the JSON shape."""
        return [one for one in self.values if one is not None]

    def to_json(self) -> dict[str, Any]:
        """The JSON shape, without ``arrays``."""
        return {
            "ops": [one.to_json() for one in self.ops],
            "kept": [one is not None for one in self.values],
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "names": {str(number): name for number, name in self.names.items()},
        }

    @classmethod
    def from_json(cls, found: Any, arrays: Sequence[Array]) -> Self:
        """Read the JSON shape and its arrays; a ValueError says what is wrong."""
        kept = need(found, "kept", list)
        if sum(map(bool, kept)) != len(arrays):
            raise ValueError(f"kept: {sum(map(bool, kept))} values, but {len(arrays)} arrays")
        left = iter(arrays)
        made = cls(
            ops=[Op.from_json(one) for one in need(found, "ops", list)],
            values=[next(left) if one else None for one in kept],
            inputs=naturals(found, "inputs"),
            outputs=naturals(found, "outputs"),
            names={int(number): str(name) for number, name in (may(found, "names", dict) or {}).items()},
        )
        used = {one for op in made.ops for one in (*op.inputs, *op.outputs)} | {*made.inputs, *made.outputs}
        if any(not 0 <= one < len(kept) for one in used | set(made.names)):
            raise ValueError("a value that is not there")
        return made
