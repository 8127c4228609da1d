"""What ranks send one another: one call of a collective, or of point-to-point communication."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from trueline.adapters.nouns import Function, Value
from trueline.adapters.observer import Observer


class Moment(StrEnum):
    """Where a call stands: it begins, its result is there, or nobody will see when its result is there."""

    BEGINS = "begins"
    ENDED = "ended"
    LOST = "lost"


@dataclass(eq=False, slots=True)
class Exchange:
    """``group`` are the ranks that take part, ``peer`` the root, destination or source among them.

    ``sent`` and ``received`` have an entry for each rank of the group where a part goes to or comes from each of them.
    ``deferred``: the call returns before its result is there.
    """

    kind: str
    group: Sequence[int]
    group_name: str = ""
    op: str | None = None
    peer: int | None = None
    tag: int | None = None
    sent: Sequence[Value] = ()
    received: Sequence[Value] = field(default_factory=list)
    deferred: bool = False


EXCHANGE: Final = "exchange"
# Ranks may run out of batches at different steps from here on: the framework answers for those that have.
JOIN: Final = "join"


class Nesting(threading.local):
    """Whether this thread is inside a call that is reported: what the framework calls in it is not."""

    def __init__(self) -> None:
        self.inside = False


def reported(
    observer: Observer,
    original: Function,
    nesting: Nesting,
    describe: Callable[..., Exchange | None],
    concluded: Callable[[Exchange, Value], bool],
) -> Function:
    """``original``, reported where ``describe`` has something to tell; ``concluded``: its result is there at once."""

    def call(*args: object, **kwargs: object) -> Value:
        exchange = None if nesting.inside else describe(*args, **kwargs)
        if exchange is None:
            return original(*args, **kwargs)
        observer.aside(EXCHANGE, moment=Moment.BEGINS, exchange=exchange)
        nesting.inside = True
        try:
            result = original(*args, **kwargs)
        finally:
            nesting.inside = False
        if concluded(exchange, result):
            observer.aside(EXCHANGE, moment=Moment.ENDED, exchange=exchange)
        return result

    return call
