"""Every value that a script makes and something is done with."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.script.trace import Trace
from trueline.script.values import Value, ancestry


def all_values(trace: Trace) -> Iterator[Value]:
    """What calls were given and functions returned, with what it was made from, each once."""
    roots: list[Value] = []
    for event in trace.events:
        roots.extend(event.args)
        roots.extend(event.kwargs.values())
        if event.receiver is not None:
            roots.append(event.receiver)
    for values in trace.returned.values():
        roots.extend(values)
    return ancestry(*roots, most=200_000)
