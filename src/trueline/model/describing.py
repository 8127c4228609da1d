"""What a user's value is called and whether it is of a kind, whatever the value itself answers.

Objects may raise when they are printed, counted, compared or merely asked for their class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def placeholder(value: object) -> str:
    """Stands for a value that cannot be shown: its type's name in angle brackets."""
    return f"<{type(value).__name__}>"


def described(describe: Callable[[Any], Any], value: object) -> Any:
    """What ``describe`` makes of a value of the user's, or a placeholder where the value does not let it."""
    try:
        return describe(value)
    except Exception:  # noqa: BLE001 - a value may answer with any error
        return placeholder(value)


def holds(question: Callable[[Any], bool], value: object) -> bool:
    """Whether something is true of a value; not of one that raises when it is asked."""
    try:
        return bool(question(value))
    except Exception:  # noqa: BLE001 - a value may answer with any error
        return False
