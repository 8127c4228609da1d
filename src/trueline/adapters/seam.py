"""The guard around a patched function: exceptions of the wrapper never reach the user."""

from __future__ import annotations

import threading
from collections.abc import Callable

from trueline.adapters.nouns import Function, Value

Function = Function
# How many frames a replaced function adds to the stack: this one, the wrapper, and what it calls.
FRAMES = 4


class _Call:
    """One call of a patched function: the progress of the original in it."""

    __slots__ = ("begun", "raised", "result")

    def __init__(self) -> None:
        self.begun = False
        self.raised: BaseException | None = None
        self.result: Value = None


class _Calls(threading.local):
    def __init__(self) -> None:
        self.open: list[_Call] = []


def seamed(
    original: Function, make: Callable[[Function], Function], failed: Callable[[Exception], None], skips: Function
) -> Function:
    """What ``make`` gives for the original, whose own errors go to ``failed``: the user gets what the original gives.

    Where ``skips`` says so, the original alone is called.
    """
    calls = _Calls()

    def proceed(*args: object, **kwargs: object) -> Value:
        call = calls.open[-1]
        call.begun = True
        try:
            result = call.result = original(*args, **kwargs)
        except BaseException as error:
            call.raised = error
            raise
        return result

    made = make(proceed)

    def wrapper(*args: object, **kwargs: object) -> Value:
        if skips():
            return original(*args, **kwargs)
        call = _Call()
        calls.open.append(call)
        try:
            return made(*args, **kwargs)
        except BaseException as error:
            raised, call.raised = call.raised, None
            # StopIteration: of an iterator whose end is decided by the wrapper.
            if error is raised or isinstance(error, StopIteration) or not isinstance(error, Exception):
                # An error that holds its own traceback would keep all tensors in it alive.
                del raised
                raise
            failed(error)
        finally:
            calls.open.pop()
        try:
            if raised is not None:
                raise raised
        finally:
            del raised
        return call.result if call.begun else original(*args, **kwargs)

    return wrapper
