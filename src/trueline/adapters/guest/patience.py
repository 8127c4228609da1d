"""How long a reply of the user's code is waited for, and who is notified of a long wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

# Importing a framework, building a large network and running it take minutes; a long wait is reported well before.
DEFAULT_SECONDS: Final = 1800.0
# What is answered sooner is not worth a line.
_QUIET_SECONDS: Final = 20.0

# The name of what is asked, the seconds it has been waited for, and the seconds that it has.
Notify = Callable[[str, float, float], None]


@dataclass(frozen=True, slots=True)
class Patience:
    """The time limit of one request in seconds; ``notify`` is called during a long wait, ``done`` at its end."""

    seconds: float = DEFAULT_SECONDS
    notify: Notify = lambda *_: None
    done: Callable[[], None] = lambda: None

    def waited(self, name: str, seconds: float, limit: float) -> None:
        """Notify of a wait that has lasted this long."""
        if seconds >= min(_QUIET_SECONDS, limit / 2):
            self.notify(name, seconds, limit)


_held: ContextVar[Patience] = ContextVar("patience", default=Patience())  # noqa: B039 - it is frozen


def patience() -> Patience:
    """The limit in force for guests started here."""
    return _held.get()


@contextmanager
def patient(given: Patience) -> Iterator[None]:
    """Sets the limit for guests started in the block."""
    token = _held.set(given)
    try:
        yield
    finally:
        _held.reset(token)
