"""What each opcode does to the machine."""

from __future__ import annotations

import codecs
import struct
from collections.abc import Callable
from sys import getsizeof
from typing import Final

from trueline.formats.pth.machine import (
    CONTAINER,
    SLOT,
    Find,
    Machine,
    Made,
    Operation,
    Persistent,
    put_item,
    put_items,
)
from trueline.formats.pth.trouble import BadPickle, Refused
from trueline.model.budget import Budget


def unpickled(data: memoryview, at: int, find: Find, persistent: Persistent, budget: Budget) -> tuple[object, int]:
    """The value of the pickle at a place, and the place behind it."""
    machine = Machine(data, at, find, persistent, budget)
    return machine.run(), machine.at


_UNSIGNED: Final = struct.Struct("<I").unpack_from
# A state is looked at as a call's arguments are.
_BUILD_WORK: Final = 8


def _code(letter: bytes) -> Callable[[Operation], Operation]:
    def keep(operation: Operation) -> Operation:
        Machine.table[letter[0]] = operation
        return operation

    return keep


def _push(letter: bytes, value: Callable[[Machine], object]) -> None:
    """A value that is there already, or a small one."""

    def push(machine: Machine) -> None:
        # The value first: finding it may put another stack into the machine.
        found = value(machine)
        machine.stack.append(found)

    Machine.table[letter[0]] = push


def _make(letter: bytes, value: Callable[[Machine], object]) -> None:
    """A value of its own, whose memory is taken from the budget; it is no larger than a few times its bytes."""

    def make(machine: Machine) -> None:
        found = value(machine)
        machine.owed += getsizeof(found) + CONTAINER // 4
        machine.stack.append(found)

    Machine.table[letter[0]] = make


def _text(data: memoryview) -> str:
    return str(data, "utf-8", "surrogatepass")


def _old_text(data: bytes) -> str:
    """A string of Python 2, which does not say how it is encoded."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _quoted(machine: Machine) -> str:
    line = machine.line().strip()
    if len(line) < 2 or line[0] != line[-1] or line[0] not in "\"'":
        raise BadPickle("string")
    return _old_text(codecs.escape_decode(line[1:-1].encode("utf-8"))[0])


def _decimal(machine: Machine) -> int | bool:
    line = machine.line()
    # Booleans of the oldest protocol.
    return {"00": False, "01": True}[line] if line in ("00", "01") else int(line.removesuffix("L"))


_push(b"N", lambda _: None)
_push(b"\x88", lambda _: True)
_push(b"\x89", lambda _: False)
_push(b")", lambda _: ())
_make(b"}", lambda _: {})
_make(b"]", lambda _: [])
_make(b"\x8f", lambda _: [])  # a set: what is in it is all that counts
_make(b"I", _decimal)
_make(b"L", _decimal)
_make(b"F", lambda machine: float(machine.line()))
_make(b"J", lambda machine: machine.long(4))
_push(b"K", lambda machine: machine.number(1))
_make(b"M", lambda machine: machine.number(2))
_make(b"\x8a", lambda machine: machine.long(machine.number(1)))
_make(b"\x8b", lambda machine: machine.long(machine.number(4)))
_make(b"G", lambda machine: struct.unpack(">d", machine.take(8))[0])
_make(b"S", _quoted)
_make(b"T", lambda machine: _old_text(bytes(machine.take(machine.number(4)))))
_make(b"U", lambda machine: _old_text(bytes(machine.take(machine.number(1)))))
_make(b"V", lambda machine: machine.line().encode("latin-1", "backslashreplace").decode("raw_unicode_escape"))
_make(b"X", lambda machine: _text(machine.take(machine.number(4))))
_make(b"\x8c", lambda machine: _text(machine.take(machine.number(1))))
_make(b"\x8d", lambda machine: _text(machine.take(machine.number(8))))
_make(b"B", lambda machine: bytes(machine.take(machine.number(4))))
_make(b"C", lambda machine: bytes(machine.take(machine.number(1))))
_make(b"\x8e", lambda machine: bytes(machine.take(machine.number(8))))
_make(b"\x96", lambda machine: bytes(machine.take(machine.number(8))))
_push(b"g", lambda machine: machine.memo[int(machine.line())])
_push(b"h", lambda machine: machine.memo[machine.number(1)])
_push(b"j", lambda machine: machine.memo[machine.number(4)])
_push(b"2", lambda machine: machine.stack[-1])
_make(b"t", lambda machine: tuple(machine.pop_mark()))
_push(b"l", lambda machine: machine.pop_mark())
_make(b"\x91", lambda machine: tuple(machine.pop_mark()))
_make(b"\x85", lambda machine: (machine.stack.pop(),))
_make(b"c", lambda machine: machine.named(machine.line(), machine.line()))
_make(b"Q", lambda machine: machine.persistent(machine.stack.pop()))


@_code(b"\x80")
def _protocol(machine: Machine) -> None:
    if machine.number(1) > 5:
        raise BadPickle("protocol")


@_code(b"\x95")
def _frame(machine: Machine) -> None:
    machine.take(8)


@_code(b"(")
def _mark(machine: Machine) -> None:
    machine.owed += CONTAINER
    machine.marked.append(machine.stack)
    machine.stack = []


@_code(b"0")
def _pop(machine: Machine) -> None:
    if machine.stack:
        machine.stack.pop()
    else:
        machine.pop_mark()


@_code(b"1")
def _drop(machine: Machine) -> None:
    machine.pop_mark()


@_code(b"\x86")
def _pair(machine: Machine) -> None:
    machine.owed += CONTAINER
    machine.stack[-2:] = [(machine.stack[-2], machine.stack[-1])]


@_code(b"\x87")
def _triple(machine: Machine) -> None:
    machine.owed += CONTAINER
    machine.stack[-3:] = [(machine.stack[-3], machine.stack[-2], machine.stack[-1])]


@_code(b"d")
def _dictionary(machine: Machine) -> None:
    items = machine.pop_mark()
    made: dict[object, object] = {}
    machine.owed += CONTAINER
    put_items(made, items, machine.budget)
    machine.stack.append(made)


@_code(b"s")
def _set_item(machine: Machine) -> None:
    value, key = machine.stack.pop(), machine.stack.pop()
    target = machine.stack[-1]
    if not isinstance(target, dict):
        raise BadPickle("items")
    put_item(target, key, value, machine.budget)


@_code(b"u")
def _set_items(machine: Machine) -> None:
    items = machine.pop_mark()
    put_items(machine.stack[-1], items, machine.budget)


@_code(b"a")
def _append(machine: Machine) -> None:
    _extend(machine, [machine.stack.pop()])


@_code(b"e")
def _append_all(machine: Machine) -> None:
    _extend(machine, machine.pop_mark())


Machine.table[0x90] = _append_all  # into a set


def _extend(machine: Machine, items: list[object]) -> None:
    if not isinstance(machine.stack[-1], list):
        raise BadPickle("list")
    # Lists keep room for more.
    machine.owed += 2 * SLOT * len(items)
    machine.stack[-1].extend(items)


def _keep(machine: Machine, place: int) -> None:
    """The last value into the memo."""
    machine.owed += CONTAINER
    machine.memo[place] = machine.stack[-1]


@_code(b"p")
def _put_line(machine: Machine) -> None:
    _keep(machine, int(machine.line()))


# The two that stand behind nearly every value are written out.
@_code(b"q")
def _put(machine: Machine) -> None:
    machine.owed += CONTAINER
    machine.memo[machine.data[machine.at]] = machine.stack[-1]
    machine.at += 1


@_code(b"r")
def _put_long(machine: Machine) -> None:
    machine.owed += CONTAINER
    machine.memo[_UNSIGNED(machine.data, machine.at)[0]] = machine.stack[-1]
    machine.at += 4


@_code(b"\x94")
def _memoize(machine: Machine) -> None:
    _keep(machine, len(machine.memo))


@_code(b"\x93")
def _stack_global(machine: Machine) -> None:
    name, module = machine.stack.pop(), machine.stack.pop()
    machine.stack.append(machine.named(module, name))


@_code(b"R")
def _reduce(machine: Machine) -> None:
    args, made = machine.stack.pop(), machine.stack.pop()
    machine.reduce(made, args)


Machine.table[0x81] = _reduce  # NEWOBJ


@_code(b"\x92")
def _new_with_names(machine: Machine) -> None:
    names, args, made = machine.stack.pop(), machine.stack.pop(), machine.stack.pop()
    if names:
        raise BadPickle("arguments by name")
    machine.reduce(made, args)


@_code(b"i")
def _instance(machine: Machine) -> None:
    made = machine.named(machine.line(), machine.line())
    machine.reduce(made, tuple(machine.pop_mark()))


@_code(b"o")
def _object(machine: Machine) -> None:
    made, *args = machine.pop_mark()
    machine.reduce(made, tuple(args))


@_code(b"b")
def _build(machine: Machine) -> None:
    state = machine.stack.pop()
    target = machine.stack[-1]
    machine.budget.spend(_BUILD_WORK)
    if isinstance(target, Made):
        target.build(state)
    # A dictionary's attributes are no entries: a state_dict keeps the versions of its modules there.
    elif not isinstance(target, dict):
        raise Refused(f"the state of {type(target).__name__}")


@_code(b"\x82")
def _extension(machine: Machine) -> None:
    raise Refused(f"copyreg extension {machine.number(1)}")


@_code(b"\x83")
def _extension_2(machine: Machine) -> None:
    raise Refused(f"copyreg extension {machine.number(2)}")


@_code(b"\x84")
def _extension_4(machine: Machine) -> None:
    raise Refused(f"copyreg extension {machine.number(4)}")
