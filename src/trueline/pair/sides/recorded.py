"""One run of a side as its process told it: calls in order, the arrays in and out of them, gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.pair.sides.side import Side


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a module: ``ins`` and ``outs`` are places in a recording's arrays, ``parent`` one in its calls.

    ``plain``: it was given tensors only, by position.
    """

    path: str
    call: int
    parent: int | None
    ins: tuple[int, ...]
    outs: tuple[int, ...]
    plain: bool = True

    @property
    def name(self) -> str:
        """The module and which of its calls."""
        return f"{self.path}#{self.call}"


@dataclass(frozen=True, slots=True)
class Returned:
    """How the tensors of the output are put together.

    ``form`` is tensor, sequence or mapping (records too), ``kind`` the type's name, ``names`` where each tensor is.
    """

    form: str
    kind: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Recording:
    """All calls of one run; ``arrays`` are there where they were asked for, ``shapes`` (dtype, shape) always.

    ``gradients`` gives for the place of an output the place of the gradient that came back to it; ``grads`` are the
    parameters' by path. ``drops`` is every dropout in order: the call that it was made in, and how much it would drop;
    ``drop_lines`` are the user's lines that called for them. ``returned`` is known where
    nothing ran backward.
    """

    train: bool
    calls: Sequence[Call]
    outputs: Sequence[Array]
    shapes: Sequence[tuple[str, tuple[int, ...]]]
    gradients: Mapping[int, int] = field(default_factory=dict)
    grads: Mapping[str, Array] = field(default_factory=dict)
    arrays: Sequence[Array] = ()
    drops: Sequence[tuple[int | None, float]] = ()
    drop_lines: Sequence[Location | None] = ()
    returned: Returned | None = None

    @cached_property
    def by_name(self) -> dict[tuple[str, int], Call]:
        """Calls by path and number."""
        return {(one.path, one.call): one for one in self.calls}

    @cached_property
    def counts(self) -> dict[str, int]:
        """How often each module was called."""
        found: dict[str, int] = {}
        for one in self.calls:
            found[one.path] = found.get(one.path, 0) + 1
        return found

    @cached_property
    def children(self) -> dict[int | None, list[int]]:
        """The calls that a call makes itself, in order; of None the outermost."""
        found: dict[int | None, list[int]] = {}
        for place, one in enumerate(self.calls):
            found.setdefault(one.parent, []).append(place)
        return found

    def gout(self, place: int) -> int | None:
        """Where the gradient of an output lies."""
        return self.gradients.get(place)

    def is_float(self, place: int) -> bool:
        """Whether an array holds floating numbers."""
        return "float" in self.shapes[place][0]


def record(
    side: Side, inputs: Sequence[Array], *, train: bool, arrays: bool, seed: int = 1, far: float = 1.0
) -> Recording:
    """Run a side once, dropout and its kin made identity; in training also backward, from seeded gradients.

    Without ``arrays`` only the calls are wanted, and nothing runs backward. ``far`` is a factor for all that layers
    with tensors of their own give out.
    """
    told, found = side.ask({"do": "record", "train": train, "send": arrays, "seed": seed, "far": far}, inputs)
    outputs, names = int(told["outputs"]), list(told["grads"])
    return Recording(
        train,
        [_call(one) for one in told["calls"]],
        found[:outputs],
        [(str(dtype), tuple(shape)) for dtype, shape in told["shapes"]],
        {int(place): int(one) for place, one in told["gradients"].items()},
        dict(zip(names, found[outputs : outputs + len(names)], strict=True)),
        found[outputs + len(names) :],
        [(place, float(share)) for place, share in told["drops"]],
        [Location.from_line_json(one) if one is not None else None for one in told["drop_lines"]],
        _returned(told["returned"]),
    )


def _returned(told: Any) -> Returned | None:
    return Returned(told["form"], told["kind"], tuple(told["names"])) if told is not None else None


def _call(told: Any) -> Call:
    return Call(told["path"], told["call"], told["parent"], tuple(told["ins"]), tuple(told["outs"]), told["plain"])
