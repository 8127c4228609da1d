"""Maps the benchmark's inputs to a port module with fewer inputs."""

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


def given_again(
    bench: Sequence[int], port: Sequence[int], kinds: tuple[Sequence[Kind], Sequence[Kind]]
) -> list[int] | None:
    """The same for modules that are given as many tensors, some of them more than once: as a query that is the key too.

    ``bench`` and ``port`` say which tensor each input is; ``kinds`` are those of the inputs.
    """
    there, here = list(dict.fromkeys(bench)), list(dict.fromkeys(port))
    if len(bench) == len(port) or len(there) != len(here):
        return None
    forms = [
        {_form(kinds[0][bench.index(a)])[0], _form(kinds[1][port.index(b)])[0]}
        for a, b in zip(there, here, strict=True)
    ]
    # What is true in one is added in another: masks.
    if any(len(form) > 1 and form != {"b", "f"} for form in forms):
        return None
    return [bench.index(there[here.index(place)]) for place in port]


def _form(kind: Kind) -> tuple[str, tuple[int, ...]]:
    dtype, shape = kind
    return "f" if dtype == "bfloat16" else np.dtype(dtype).kind, shape
