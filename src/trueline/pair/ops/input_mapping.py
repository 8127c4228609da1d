"""Maps the benchmark's inputs to a port module with fewer inputs, or with more."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

# The name of a dtype, and a shape.
Given = tuple[str, tuple[int, ...]]


def taken(bench: Sequence[Given], port: Sequence[Given]) -> list[int] | None:
    """The places of the port's inputs among the benchmark's, by type and shape, in their order.

    What the port has once, and the benchmark for each sample or head, is the same input. None where the port takes as
    many, or where types and shapes do not decide it.
    """
    return None if len(port) >= len(bench) else _placed(bench, port, _alike) or _placed(bench, port, _once)


def is_unclear(bench: Sequence[Given], port: Sequence[Given]) -> bool:
    """Whether the port takes fewer inputs, and nobody knows which."""
    return len(port) < len(bench) and taken(bench, port) is None


def _placed(bench: Sequence[Given], port: Sequence[Given], fits: Callable[[Given, Given], bool]) -> list[int] | None:
    found: list[int] = []
    for kind in port:
        begin = found[-1] + 1 if found else 0
        place = next((place for place in range(begin, len(bench)) if fits(bench[place], kind)), None)
        if place is None:
            return None
        found.append(place)
    return found


def own_places(bench: Sequence[Given], port: Sequence[Given]) -> list[int] | None:
    """The places of the benchmark's inputs among those of a port that takes more; None where that is not decided."""
    return _placed(port, bench, _alike) if len(port) > len(bench) > 0 else None


def with_own(bench: Sequence[Given], port: Sequence[Given]) -> list[int | None] | None:
    """Which of the benchmark's inputs each of the port's is, where the port takes more: the rest are its own.

    None where types and shapes do not decide it.
    """
    places = own_places(bench, port)
    if places is None:
        return None
    found: list[int | None] = [None] * len(port)
    for place, at in enumerate(places):
        found[at] = place
    return found


def given_again(
    bench: Sequence[int], port: Sequence[int], kinds: tuple[Sequence[Given], Sequence[Given]]
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


def _alike(bench: Given, port: Given) -> bool:
    return _form(bench) == _form(port)


def _once(bench: Given, port: Given) -> bool:
    (there, shape), (here, own) = _form(bench), _form(port)
    return there == here and len(shape) == len(own) and all(b in (a, 1) for a, b in zip(shape, own, strict=True))


def _form(kind: Given) -> tuple[str, tuple[int, ...]]:
    dtype, shape = kind
    return "f" if dtype == "bfloat16" else np.dtype(dtype).kind, shape
