"""Which edits are needed: what the port's own operators make of the benchmark's values at the others."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.pair.ops.channels import laid_as
from trueline.pair.ops.edits import Edit, EditKind
from trueline.pair.ops.graph_alignment import Beside
from trueline.pair.ops.op_graph import Op
from trueline.pair.ops.reading import Reading
from trueline.pair.ops.same_values import equal

_DEEPEST: Final = 60
_ROOM: Final = 4.0
# Each subset of so many is tried.
_MOST_DOUBTFUL: Final = 5
# An operator that is missing or too many may be so only because a mistake before it hides that it is not.
_DOUBTFUL: Final = (EditKind.MISSING, EditKind.EXTRA, EditKind.LAYOUT, EditKind.TURNED)


def needed(sides: Beside, edits: Sequence[Edit], sink: tuple[int, int]) -> list[Edit]:
    """The fewest edits that make the sink's value, in the port ``sink[1]``, the benchmark's, as far as that is told.

    Of the others those whose value is not the benchmark's already once those before them are made.
    """
    fewest = _fewest(sides, edits, sink)
    if fewest is not None:
        return fewest
    left = list(edits)
    for edit in edits:
        wanted, own = sides.bench.array(edit.bench), sides.port.array(edit.port)
        if edit.kind not in _DOUBTFUL or wanted is None:
            continue
        others = [other for other in left if other is not edit and other.port != edit.port]
        known = {other.port: array for other in others if (array := sides.bench.array(other.bench)) is not None}
        for laid in (False, True):
            made = _made(sides.port, edit.port, _as_there(sides.port, known) if laid else known, {})
            if made is not None and made is not own and equal(made, wanted, _ROOM * sides.floor):
                left = [other for other in left if other is not edit]
                break
    return left


def _as_there(port: Reading, known: Mapping[int, Array]) -> dict[int, Array]:
    """The benchmark's values with their channels where the port's code has them."""
    own = {value: array for value in known if (array := port.array(value)) is not None}
    return {value: laid_as(array, own[value].shape) if value in own else array for value, array in known.items()}


def _fewest(sides: Beside, edits: Sequence[Edit], sink: tuple[int, int]) -> list[Edit] | None:
    """All edits but as many of the doubtful ones as the sink does without; None where it needs them all."""
    doubtful = [edit for edit in edits if edit.kind in _DOUBTFUL]
    sure = [edit for edit in edits if edit.kind not in _DOUBTFUL]
    wanted = sides.bench.array(sink[0])
    if wanted is None or len(edits) < 2 or len(doubtful) > _MOST_DOUBTFUL:
        return None
    for count in range(len(doubtful)):
        for chosen in itertools.combinations(doubtful, count):
            kept = [edit for edit in edits if edit in sure or edit in chosen]
            known = {edit.port: array for edit in kept if (array := sides.bench.array(edit.bench)) is not None}
            if not known or sink[1] in known:
                continue
            # What only what is edited besides is made of cannot be told by the sink.
            open_to = _seen_by(sides.port, sink[1], known)
            if any(edit.port not in open_to for edit in doubtful if edit not in chosen):
                continue
            made = _made(sides.port, sink[1], known, {})
            if made is not None and equal(made, wanted, _ROOM * sides.floor):
                return kept
    return None


def _seen_by(port: Reading, sink: int, known: Collection[int]) -> set[int]:
    """The values that the sink is made of otherwise than through known ones."""
    found: set[int] = set()
    open_values = [sink]
    while open_values:
        latest = port.base(open_values.pop())
        if latest in found or latest in known:
            continue
        found.add(latest)
        op = port.op(latest)
        open_values += op.inputs if op is not None else ()
    return found


def _made(
    port: Reading, value: int, known: Mapping[int, Array], seen: dict[int, Array | None], depth: int = 0
) -> Array | None:
    """What the port makes where some of its values are the benchmark's; None where an operator is not understood."""
    base, own = port.base(value), port.array(value)
    if base in known:
        return known[base].reshape(own.shape) if own is not None and own.size == known[base].size else None
    if value in seen or depth > _DEEPEST:
        return seen.get(value)
    op = port.graph.maker.get(value)
    found = own
    if op is not None and op.module is None and own is not None:
        given = [_made(port, one, known, seen, depth + 1) for one in op.inputs]
        if any(made is not port.array(one) for made, one in zip(given, op.inputs, strict=True)):
            found = _again(port, op, value, given, own)
    seen[value] = found
    return found


def _again(port: Reading, op: Op, value: int, given: Sequence[Array | None], own: Array) -> Array | None:
    """What an operator makes of other inputs."""
    done, arrays = port.done(op), [array for array in given if array is not None]
    if done is None or len(arrays) < len(given) or op.outputs[0] != value:
        return None
    try:
        with np.errstate(all="ignore"):
            made = done.again(arrays)
    except (ValueError, IndexError):
        return None
    return made.reshape(own.shape) if made.size == own.size else None
