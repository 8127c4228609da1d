"""Maps the benchmark's inputs to a port module with fewer inputs, or with more."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# The name of a dtype, and a shape.
Kind = tuple[str, tuple[int, ...]]


def taken(bench: Sequence[Kind], port: Sequence[Kind]) -> list[int] | None:
    """The places of the port's inputs among the benchmark's, by type and shape, in their order.

    None where the port takes as many, or where types and shapes do not decide it.
    """
    if len(port) >= len(bench):
        return None
    found: list[int] = []
    for one in port:
        begin = found[-1] + 1 if found else 0
        fitting = (place for place in range(begin, len(bench)) if _form(bench[place]) == _form(one))
        place = next(fitting, None)
        if place is None:
            return None
        found.append(place)
    return found


def own_places(bench: Sequence[Kind], port: Sequence[Kind]) -> list[int] | None:
    """The places of the benchmark's inputs among those of a port that takes more; None where that is not decided."""
    return taken(port, bench) if bench else None


def _form(kind: Kind) -> tuple[str, tuple[int, ...]]:
    dtype, shape = kind
    return "f" if dtype == "bfloat16" else np.dtype(dtype).kind, shape
