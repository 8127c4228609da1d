"""One run of a side as its process recorded it: calls in order, the arrays in and out of them, gradients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.pair.questions.question import Question


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
    ``drop_lines`` are the user's lines that called for them, ``lines`` those that made the calls. ``returned`` is known
    where nothing ran backward.
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
    backward: bool = True
    lines: Sequence[Location | None] = ()

    def line(self, place: int) -> Location | None:
        """The user's line that made a call."""
        return self.lines[place] if place < len(self.lines) else None

    @cached_property
    def by_name(self) -> dict[tuple[str, int], Call]:
        """Calls by path and number."""
        return {(call.path, call.call): call for call in self.calls}

    @cached_property
    def counts(self) -> dict[str, int]:
        """How often each module was called."""
        return dict(Counter(call.path for call in self.calls))

    @cached_property
    def children(self) -> dict[int | None, list[int]]:
        """The calls that a call makes itself, in order; of None the outermost."""
        places: dict[int | None, list[int]] = {}
        for place, call in enumerate(self.calls):
            places.setdefault(call.parent, []).append(place)
        return places

    def gout(self, place: int) -> int | None:
        """Where the gradient of an output lies."""
        return self.gradients.get(place)

    def is_float(self, place: int) -> bool:
        """Whether an array holds floating numbers."""
        return "float" in self.shapes[place][0]


@dataclass(frozen=True, slots=True)
class Record(Question[Recording]):
    """Run a side once, dropout and its kin made identity; in training also backward, from seeded gradients.

    Without ``send`` only the calls are wanted, and nothing runs backward, nor does it without ``backward``. ``far`` is
    a factor for all that layers with tensors of their own give out.
    """

    inputs: Sequence[Array]
    train: bool
    send: bool
    seed: int = 1
    far: float = 1.0
    backward: bool = True
