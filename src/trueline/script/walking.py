"""One bounded walk over read values: each is answered once, however often it stands in others or in itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import wraps
from typing import Final, ParamSpec, TypeVar, cast

from trueline.script.values import Value

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T", bound=Hashable)

MAX_VISITED_VALUES: Final = 20_000  # bounds what one question may look at
MAX_DEPTH: Final = 100  # a level takes up to six frames of Python's thousand
MAX_REPEATED: Final = 1_000  # a longer answer is given without its repetitions
_PLAIN: Final = frozenset((str, int, float, bool, type(None)))


class _Walk(threading.local):
    """What the outermost question has been answered so far."""

    def __init__(self) -> None:
        # Arguments are held beside their answer: an id means something only while its value lives.
        self.answers: dict[Hashable, tuple[object, object]] = {}
        self.depth = 0


def walk(cut: object) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A question that a function asks again of the parts of a value; ``cut`` where these lead back, or too far."""

    def decorated(ask: Callable[P, R]) -> Callable[P, R]:
        state = _Walk()

        @wraps(ask)
        def asked(*args: P.args, **kwargs: P.kwargs) -> R:
            given = (*args, *kwargs.values())
            key = tuple(argument if type(argument) in _PLAIN else id(argument) for argument in given)
            known = state.answers.get(key)
            if known is not None:
                return cast("R", known[1])
            if state.depth >= MAX_DEPTH or len(state.answers) >= MAX_VISITED_VALUES:
                return cast("R", cut)
            state.answers[key] = given, cut
            state.depth += 1
            try:
                answer = ask(*args, **kwargs)
                state.answers[key] = given, answer
            finally:
                state.depth -= 1
                if not state.depth:
                    state.answers = {}
            return answer

        return asked

    return decorated


def walk_each(*cut: Hashable) -> Callable[[Callable[P, Iterator[T]]], Callable[P, Sequence[T]]]:
    """As ``walk``, for a question with several answers; too many are told without repetitions, and end with ``cut``."""

    def decorated(ask: Callable[P, Iterator[T]]) -> Callable[P, Sequence[T]]:
        @walk(cut)
        @wraps(ask)
        def collected(*args: P.args, **kwargs: P.kwargs) -> Sequence[T]:
            kept = tuple(ask(*args, **kwargs))
            return kept if len(kept) <= MAX_REPEATED else (*dict.fromkeys((*kept, *cast("Sequence[T]", cut))),)

        return collected

    return decorated


def taken_apart(*values: Value | None, parts: Callable[[Value], Sequence[Value] | None]) -> Iterator[Value]:
    """What values come to when every sum or list is opened once, in order; what ``parts`` gives None for stays."""
    waiting = [value for value in reversed(values) if value is not None]
    opened: set[int] = set()
    while waiting and len(opened) < MAX_VISITED_VALUES:
        value = waiting.pop()
        within = parts(value)
        if within is None:
            yield value
        elif id(value) not in opened:
            opened.add(id(value))
            waiting.extend(reversed(within))
