"""A pickle machine that imports and calls nothing: names mean only what a given table says they mean.

Every opcode of protocols 0 to 5 is known. What is built are plain values and the table's own inert things; each step
and each thing is taken from the file's budget, because a pickle of a few bytes can ask for any amount of both.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, TypeAlias

from trueline.formats.pth.trouble import BadPickle, Refused
from trueline.model.budget import Budget

# So many steps are taken from the budget at once.
_STEPS: Final = 256
# What things take, with the place on the stack that leads to them.
CONTAINER: Final = 96
SLOT: Final = 8
# A call makes a few things and looks at all its arguments.
_CALL_BYTES: Final = 320
_CALL_WORK: Final = 8
# Texts are compared and copied so many bytes in a unit of work.
_TEXT_PER_UNIT: Final = 1024
_MAX_LINE: Final = 4096
_MAX_INT_BYTES: Final = 1024
_MAX_KEY_PARTS: Final = 64
_KEY_TYPES: Final = frozenset((str, int, float, bytes, bool))
# An entry of a dictionary, with the room that dictionaries keep free.
_ENTRY: Final = 112

# Whatever a pickle has put on its stack: what may be done with it, each operation tests.
Pickled: TypeAlias = Any
Find = Callable[[str, str], object]
Persistent = Callable[[object], object]
Operation = Callable[["Machine"], None]


class Made:
    """Something of the table that a pickle may call (``reduce``) or complete (``build``); both refuse by default."""

    __slots__ = ()

    def reduce(self, args: tuple[object, ...]) -> object:  # noqa: ARG002
        """What calling it with these arguments stands for."""
        raise Refused(getattr(self, "name", type(self).__name__))

    def build(self, state: object) -> None:  # noqa: ARG002
        """Take the state that the pickle gives it."""
        raise Refused(getattr(self, "name", type(self).__name__))


class Machine:
    """Runs one pickle out of some bytes; ``at`` is where the next byte is read."""

    table: ClassVar[dict[int, Operation]] = {}

    def __init__(self, data: memoryview, at: int, find: Find, persistent: Persistent, budget: Budget) -> None:
        self.data = data
        self.at = at
        self.budget = budget
        # Bytes that were taken since the budget was asked last: a few steps take no more than they have read.
        self.owed = 0
        self.find = find
        self.persistent = persistent
        self.stack: list[Pickled] = []
        self.marked: list[list[Pickled]] = []
        self.memo: dict[int, Pickled] = {}

    def run(self) -> object:
        """The value of the pickle; afterwards ``at`` is the place behind it."""
        data, table = self.data, self.table
        try:
            while True:
                self._settle()
                for _ in range(_STEPS):
                    code = data[self.at]
                    self.at += 1
                    if code == 0x2E:  # STOP
                        self._settle()
                        return self.stack.pop()
                    table[code](self)
        except (IndexError, KeyError, ValueError, TypeError, OverflowError, struct.error) as error:
            raise BadPickle(str(error)) from None

    def _settle(self) -> None:
        """Take the last steps from the budget, and what they hold."""
        self.budget.spend(_STEPS)
        self.budget.hold(self.owed)
        self.owed = 0

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

    def pop_mark(self) -> list[object]:
        """What was pushed since the last mark."""
        items = self.stack
        self.stack = self.marked.pop()
        return items

    def reduce(self, made: object, args: object) -> None:
        """Push what a thing of the table makes of its arguments."""
        if not isinstance(args, tuple):
            raise BadPickle("arguments")
        if not isinstance(made, Made):
            raise Refused(f"a call of {type(made).__name__}")
        self.budget.spend(_CALL_WORK)
        self.owed += _CALL_BYTES
        self.stack.append(made.reduce(args))

    def named(self, module: object, name: object) -> object:
        """What a name stands for."""
        if not isinstance(module, str) or not isinstance(name, str):
            raise BadPickle("name")
        return self.find(module, name)

    def long(self, size: int) -> int:
        """A signed number of a size."""
        if size > _MAX_INT_BYTES:
            raise BadPickle("huge number")
        return int.from_bytes(self.take(size), "little", signed=True)


def put_items(target: object, items: Sequence[object], budget: Budget) -> None:
    """Keys and values in turn into a dictionary."""
    if not isinstance(target, dict) or len(items) % 2:
        raise BadPickle("items")
    for key, value in zip(items[::2], items[1::2], strict=True):
        put_item(target, key, value, budget)


def put_item(target: dict[Pickled, Pickled], key: object, value: object, budget: Budget) -> None:
    """An entry of a dictionary, under a key that is cheap to hash and to compare, however hostile."""
    # An equal key that is there already is compared with this one, whole.
    budget.spend(1 + len(key) // _TEXT_PER_UNIT if type(key) is str else _key_work(key))
    if key not in target:
        budget.hold(_ENTRY)
    target[key] = value


def _key_work(key: object) -> int:
    """What hashing and comparing a key takes; nested tuples would be hashed to any depth and breadth."""
    parts = key if isinstance(key, tuple) else (key,)
    if len(parts) > _MAX_KEY_PARTS or not all(part is None or type(part) in _KEY_TYPES for part in parts):
        raise BadPickle("key")
    size = sum(len(part) for part in parts if isinstance(part, (str, bytes)))
    return len(parts) + size // _TEXT_PER_UNIT
