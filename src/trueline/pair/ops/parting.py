"""One place where two blocks part."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.pair.ops.op_forms import Done
from trueline.pair.ops.op_graph import Op
from trueline.pair.ops.value_words import Named


class PartingKind(StrEnum):
    """How two blocks part."""

    MISSING_OP = "missing_op"
    EXTRA_OP = "extra_op"
    OTHER_OP = "other_op"
    OTHER_INPUT = "other_input"
    OTHER_CONSTANT = "other_constant"
    MOVED_OP = "moved_op"
    OTHER_LAYOUT = "other_layout"
    OTHER_MASK = "other_mask"
    MOVED_LAYER = "moved_layer"
    UNTOLD = "untold"


@dataclass(frozen=True, slots=True, eq=False)
class Parting:
    """One place where the port does something else.

    ``bench_value`` is what the benchmark has there, ``port_value`` what the port has; ``given`` is what both start
    from there, where it is one value. ``user`` is the port's operator that takes it. ``swapped``: both operators take
    the same values in another order. ``operand`` is what an operator of two values takes besides the value that goes
    on. ``sink`` is the inner layer that gets the wrong value ("": the block's output), ``measured`` how far apart it is
    there. ``sizes`` are those of the block's axes. ``masks``: the benchmark makes a mask of the value. ``tried``: the
    benchmark's operator took the value that the port has. ``beside`` are the values that an operator which is missing
    or too many takes besides the one that goes on. ``available`` is the port's name of the benchmark's value, where the
    port has it elsewhere; ``exchanged``: the benchmark has there what the port has here. ``values`` are
    the ids of the two values; ``whole``: the port's is all that a module holds under its name. ``constant``: no
    operator makes the port's. ``checked``: with the
    benchmark's value put in here (and at the other places), the port's own operators lead to the benchmark's value.
    """

    kind: PartingKind
    sink: str
    measured: float
    checked: bool
    bench_value: Array | None
    port_value: Array | None
    given: Array | None = None
    bench_op: Op | None = None
    port_op: Op | None = None
    bench_done: Done | None = None
    port_done: Done | None = None
    bench_takes: Named | None = None
    port_takes: Named | None = None
    line: Location | None = None
    other_line: Location | None = None
    user: Op | None = None
    swapped: bool = False
    operand: Named | None = None
    sizes: tuple[int, ...] = ()
    masks: bool = False
    tried: bool = False
    beside: tuple[int, ...] = ()
    available: Named | None = None
    values: tuple[int, int] | None = None
    whole: bool = False
    exchanged: bool = False
    constant: bool = False
