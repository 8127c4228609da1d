"""What can be wrong with a file of torch.save."""

from __future__ import annotations

from pathlib import Path

from trueline.formats.printable import printable
from trueline.model.message import Message
from trueline.model.trouble import BadFile


class BadPickle(ValueError):  # noqa: N818
    """The bytes are not a pickle, or one that no tool for weights writes."""


class Refused(Exception):  # noqa: N818
    """A pickle asks for something that is not on the list of what weights are made of.

    ``kind`` is the message that says so, ``name`` what was asked for.
    """

    def __init__(self, name: str, kind: str = "refused") -> None:
        super().__init__(name, kind)
        self.name = printable(name)
        self.kind = kind


def pth_fault(path: Path, reason: str, /, **params: object) -> BadFile:
    """The trouble with a file; the reason is a message of the section pth."""
    return BadFile(path, Message(f"pth.{reason}", params).text())
