"""Trouble that a user can act on: one clear line, exit code 2."""

from __future__ import annotations

import os
from typing import Any

from trueline.model.message import Message
from trueline.model.visible import on_one_line


class Trouble(Exception):  # noqa: N818
    """Something the user can put right; its text comes from the message catalogue."""

    def __init__(self, message_id: str, **params: object) -> None:
        self.message = Message(message_id, params)
        super().__init__(message_id, params)

    def __str__(self) -> str:
        return self.message.text()

    def __reduce__(self) -> tuple[object, ...]:
        # Trouble crosses process pools, and exceptions are pickled by their positional arguments alone.
        return _again, (type(self), self.args, self.__dict__)


def _again(kind: type[Trouble], args: tuple[object, ...], held: dict[str, Any]) -> Trouble:
    trouble = kind.__new__(kind, *args)
    trouble.__dict__.update(held)
    return trouble


class BadUsage(Trouble):
    """An option or argument that cannot be meant."""


class BadFile(Trouble):
    """A file that cannot be read for what it should be: names the file and the reason."""

    def __init__(self, path: str | os.PathLike[str], reason: str) -> None:
        super().__init__("trouble.bad_file", path=on_one_line(os.fspath(path)), reason=reason)
        self.path = os.fspath(path)
        self.reason = reason


class BadScript(Trouble):
    """A training script that cannot be started."""


class Missing(Trouble):
    """A package or framework that is needed and is not installed."""
