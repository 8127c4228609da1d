"""The cause that a parting of two blocks stands for."""

from __future__ import annotations

import numpy as np

from trueline.kernel.array import Array
from trueline.pair.blame import Cause
from trueline.pair.ops.form_words import cause_of, cause_of_two
from trueline.pair.ops.parting import Parting, PartingKind
from trueline.pair.ops.same_values import MASKED


def parting_cause(parting: Parting) -> Cause:
    """Why two blocks part here."""
    bench, port = parting.bench_done, parting.port_done
    if _is_truth(parting.bench_value) and _is_truth(parting.port_value):
        return Cause.MASK
    if parting.masks and parting.kind in (PartingKind.MISSING_OP, PartingKind.EXTRA_OP, PartingKind.OTHER_OP):
        return Cause.MASK
    match parting.kind:
        case PartingKind.MISSING_OP:
            return _added(parting) or cause_of(bench, parting.bench_op, Cause.MISSING_OP)
        case PartingKind.EXTRA_OP:
            return _added(parting) or cause_of(port, parting.port_op, Cause.EXTRA_OP)
        case PartingKind.MOVED_OP:
            is_norm = cause_of(bench, parting.bench_op, Cause.ORDER) is Cause.NORMALISATION
            return Cause.NORMALISATION if is_norm else Cause.ORDER
        case PartingKind.OTHER_INPUT:
            return _other_input(parting)
        case PartingKind.OTHER_LAYOUT:
            return Cause.OTHER_INPUT
        case PartingKind.OTHER_MASK:
            return Cause.MASK
        case PartingKind.MOVED_LAYER:
            return (
                Cause.NORMALISATION
                if parting.bench_op is not None and "norm" in parting.bench_op.name.lower()
                else Cause.ORDER
            )
        case _:
            pass
    if parting.swapped:
        is_join = parting.port_op is not None and parting.port_op.kind in ("cat", "stack")
        return Cause.CONCAT_ORDER if is_join else Cause.OTHER_INPUT
    if bench is not None and port is not None and bench.form is not None and port.form is not None:
        return cause_of_two(bench.form, port.form)
    either = cause_of(bench, parting.bench_op, Cause.OTHER_OP)
    return either if either is not Cause.CONCAT_ORDER else Cause.OTHER_OP


def _is_truth(value: Array | None) -> bool:
    return value is not None and value.dtype.kind == "b"


def _added(parting: Parting) -> Cause | None:
    """What a sum or product that one side lacks is there for."""
    op = parting.bench_op or parting.port_op
    done = parting.bench_done or parting.port_done
    if op is None or (done is not None and done.form is not None) or op.kind not in ("add", "sub", "mul"):
        return None
    both = (parting.bench_value, parting.port_value)
    if any(array is not None and array.size and float(np.min(array)) <= MASKED for array in both):
        return Cause.MASK
    if parting.given is not None:
        return Cause.SCALE if op.kind == "mul" else Cause.OFFSET
    return None if op.kind == "mul" else Cause.RESIDUAL


def _other_input(parting: Parting) -> Cause:
    kind = parting.user.kind if parting.user is not None else ""
    both = [named.what for named in (parting.bench_takes, parting.port_takes) if named is not None]
    constant = both == ["constant", "constant"]
    is_part = any(named is not None and named.part for named in (parting.bench_takes, parting.port_takes))
    if parting.exchanged or is_part:
        return Cause.OTHER_INPUT
    if kind in ("add", "sub") and both != ["parameter", "parameter"]:
        return Cause.OFFSET if constant else Cause.RESIDUAL
    if kind in ("mul", "div") and constant:
        return Cause.SCALE
    return Cause.MASK if kind in ("masked_fill", "where") else Cause.OTHER_INPUT
