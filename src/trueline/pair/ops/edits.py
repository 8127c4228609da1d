"""What has to be changed in the port to bring its value to the benchmark's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from trueline.pair.ops.op_graph import Op

# What a change costs less where the same lines have it a second time.
_AGAIN: Final = 0.8


class EditKind(StrEnum):
    """What has to be changed in the port."""

    MISSING = "missing"
    EXTRA = "extra"
    OTHER = "other"
    INPUT = "input"
    LAYOUT = "layout"
    TURNED = "turned"
    COARSE = "coarse"


@dataclass(frozen=True, slots=True)
class Edit:
    """One change: where the port has the value ``port``, the benchmark has ``bench``.

    ``user`` and ``other_user`` are the port's operator and the benchmark's that take these values. ``through`` is the
    value that goes on through an operator that is missing or too many. ``crossed``: the same operator takes the same
    values in another order.
    """

    kind: EditKind
    bench: int
    port: int
    bench_op: Op | None = None
    port_op: Op | None = None
    user: Op | None = None
    other_user: Op | None = None
    through: int | None = None
    crossed: bool = False

    def used(self, user: Op | None, other_user: Op | None) -> Edit:
        """The same, with the operators that take the values where none were known yet."""
        return replace(self, user=self.user or user, other_user=self.other_user or other_user)

    @property
    def place(self) -> tuple[object, ...]:
        """What is changed into what, whoever takes it."""
        return self.kind, self.bench, self.port, self.bench_op, self.port_op

    @property
    def written(self) -> tuple[object, ...] | None:
        """What is written where, for a change of operators; None for all else."""
        here, there = self.port_op, self.bench_op
        if all(op is None or op.line is None for op in (here, there)):
            return None
        if any(op is not None and op.line is None for op in (here, there)):
            return None
        written = [(op.kind, op.line) if op is not None else None for op in (here, there)]
        return self.kind, *written


@dataclass(frozen=True, slots=True)
class Way:
    """The edits that lead from the port's value to the benchmark's.

    ``checked``: each operator above the edits, given the benchmark's inputs, makes the benchmark's value.
    """

    cost: float
    edits: tuple[Edit, ...] = ()
    checked: bool = True
    given_up: bool = False

    def under(self, cost: float, *edits: Edit, checked: bool = True) -> Way:
        """This way with more on top."""
        return Way(self.cost + cost, (*self.edits, *edits), self.checked and checked, self.given_up)

    def beside(self, way: Way) -> Way:
        """Both ways together; a change that both need at the same lines is nearly one."""
        checked, given_up = self.checked and way.checked, self.given_up or way.given_up
        known = {edit.written for edit in self.edits}
        # What both come from is changed once.
        places = {edit.place for edit in self.edits}
        shared = [edit for edit in way.edits if edit.place in places]
        fresh = tuple(edit for edit in way.edits if edit.place not in places)
        again = sum(edit.written is not None and edit.written in known for edit in fresh)
        cost = self.cost + max(way.cost - _AGAIN * again - len(shared), 0.0)
        return Way(cost, (*self.edits, *fresh), checked, given_up)

    def used(self, user: Op | None, other_user: Op | None) -> Way:
        """The same, with the operators that take the edited values."""
        return replace(self, edits=tuple(edit.used(user, other_user) for edit in self.edits))
