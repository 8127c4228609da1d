"""A pickle machine that imports and calls nothing: names mean only what a given table says they mean.

Every opcode of protocols 0 to 5 is known. What is built are plain values and the table's own inert things; how many,
how long and how large is bounded, because a pickle of a few bytes can ask for any amount of memory.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, ClassVar, Final

from trueline.formats.pth.trouble import BadPickle, Refused

# Far beyond the longest list of weights, and far below what hurts.
MAX_STEPS: Final = 10_000_000
_MAX_LINE: Final = 4096
_MAX_INT_BYTES: Final = 1024
_MAX_KEY_PARTS: Final = 64

Find = Callable[[str, str], Any]
Persistent = Callable[[Any], Any]
Operation = Callable[["Machine"], None]


class Made:
    """Something of the table that a pickle may call (``reduce``) or complete (``build``); both refuse by default."""

    __slots__ = ()

    def reduce(self, args: tuple[Any, ...]) -> Any:  # noqa: ARG002
        """What calling it with these arguments stands for."""
        raise Refused(getattr(self, "name", type(self).__name__))

    def build(self, state: Any) -> None:  # noqa: ARG002
        """Take the state that the pickle gives it."""
        raise Refused(getattr(self, "name", type(self).__name__))


class Machine:
    """Runs one pickle out of some bytes; ``at`` is where the next byte is read."""

    table: ClassVar[dict[int, Operation]] = {}

    def __init__(self, data: memoryview, at: int, find: Find, persistent: Persistent) -> None:
        self.data = data
        self.at = at
        self.find = find
        self.persistent = persistent
        self.stack: list[Any] = []
        self.marked: list[list[Any]] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        """The value of the pickle; afterwards ``at`` is the place behind it."""
        data, table = self.data, self.table
        try:
            for _ in range(MAX_STEPS):
                code = data[self.at]
                self.at += 1
                if code == 0x2E:  # STOP
                    return self.stack.pop()
                table[code](self)
        except (IndexError, KeyError, ValueError, TypeError, OverflowError, struct.error) as error:
            raise BadPickle(str(error)) from None
        raise BadPickle("too long")

    def take(self, size: int) -> memoryview:
        """The next bytes."""
        begin = self.at
        if size < 0 or begin + size > len(self.data):
            raise BadPickle("cut short")
        self.at = begin + size
        return self.data[begin : begin + size]

    def number(self, size: int) -> int:
        """The next bytes as an unsigned number."""
        begin = self.at
        self.at = end = begin + size
        if end > len(self.data):
            raise BadPickle("cut short")
        return self.data[begin] if size == 1 else int.from_bytes(self.data[begin:end], "little")

    def line(self) -> str:
        """The text up to the end of a line."""
        found = bytes(self.data[self.at : self.at + _MAX_LINE])
        end = found.find(b"\n")
        if end < 0:
            raise BadPickle("endless line")
        self.at += end + 1
        return found[:end].decode("utf-8")

    def pop_mark(self) -> list[Any]:
        """What was pushed since the last mark."""
        items = self.stack
        self.stack = self.marked.pop()
        return items

    def reduce(self, made: Any, args: Any) -> None:
        """Push what a thing of the table makes of its arguments."""
        if not isinstance(args, tuple):
            raise BadPickle("arguments")
        if not isinstance(made, Made):
            raise Refused(f"a call of {type(made).__name__}")
        self.stack.append(made.reduce(args))

    def named(self, module: Any, name: Any) -> Any:
        """What a name stands for."""
        if not isinstance(module, str) or not isinstance(name, str):
            raise BadPickle("name")
        return self.find(module, name)

    def long(self, size: int) -> int:
        """A signed number of a size."""
        if size > _MAX_INT_BYTES:
            raise BadPickle("huge number")
        return int.from_bytes(self.take(size), "little", signed=True)


def put_items(target: Any, items: list[Any]) -> None:
    """Keys and values in turn into a dictionary."""
    if not isinstance(target, dict) or len(items) % 2:
        raise BadPickle("items")
    for key, value in zip(items[::2], items[1::2], strict=True):
        target[checked_key(key)] = value


def checked_key(key: Any) -> Any:
    """A key that is cheap to hash, however hostile: nested tuples are hashed to any depth and breadth."""
    if isinstance(key, tuple):
        if len(key) > _MAX_KEY_PARTS or any(isinstance(part, tuple) for part in key):
            raise BadPickle("key")
        if any(isinstance(part, (str, bytes)) and len(part) > _MAX_LINE for part in key):
            raise BadPickle("key")
        return tuple(map(checked_key, key))
    if isinstance(key, (str, int, float, bytes, bool)) or key is None:
        return key
    raise BadPickle("key")
