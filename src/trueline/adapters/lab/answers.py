"""What a call gave, part by part, and what it raised."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any, Final

import numpy as np

from trueline.adapters.lab.call import Answer, Call
from trueline.adapters.lab.names import MissingError
from trueline.kernel.array import Array

Run = Callable[[Call, Sequence[Array]], Answer]
# How much of an exception's text is kept.
_LINES: Final = 6


def answering(recover: Callable[[], None] = lambda: None) -> Callable[[Run], Run]:
    """A run whose exceptions are its answer; ``recover`` clears what an exception has left behind."""

    def decorated(body: Run) -> Run:
        @wraps(body)
        def run(call: Call, arrays: Sequence[Array]) -> Answer:
            try:
                return body(call, arrays)
            except Exception as problem:  # noqa: BLE001 - whatever a framework raises is what it does
                recover()
                return Answer(error=error_of(problem))

        return run

    return decorated


def error_of(problem: Exception, where: str = "") -> tuple[str, str]:
    """The type of an exception and its first lines."""
    kind = "missing" if isinstance(problem, MissingError) else type(problem).__name__
    return kind, where + "\n".join(str(problem).strip().splitlines()[:_LINES])


def leaves_of(value: Any) -> Iterator[Any]:
    """The parts of what a call gave, in order; None is left out."""
    return (part for part in _parts(value) if part is not None)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            yield from _parts(part)
    else:
        yield value


def outputs_of(result: object, tensor: type) -> Iterator[tuple[str, Any]]:
    """The parts of a result in order, each with its form."""
    for part in _parts(result):
        if isinstance(part, tensor):
            yield "tensor", part
        elif part is None:
            yield "none", None
        elif isinstance(part, bool):
            yield "bool", part
        elif isinstance(part, int | float | complex | np.generic | np.ndarray):
            yield "number", part
        else:
            yield "text", str(part)
