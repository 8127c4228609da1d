"""Operations on known values: how large a result will be is known before it is computed, and what is too large is not.

A script may say ``'a' * 10**10`` in a few bytes. What would be larger than a setting, a name or a list of layers ever
is stays undecided: a constant is then what an operator gave, and a list or dict is open.
"""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from trueline.model.location import Location
from trueline.script.values import Const, Seq, Table, Unknown, Value

if TYPE_CHECKING:
    from trueline.script.reading.machine import Machine

_OPERATIONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "BitOr": operator.or_,
    "BitAnd": operator.and_,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "In": lambda one, room: one in room,
    "NotIn": lambda one, room: one not in room,
    "Is": operator.is_,
    "IsNot": operator.is_not,
}
_COMPARISONS: Final = frozenset(("Eq", "NotEq", "Lt", "LtE", "Gt", "GtE", "In", "NotIn", "Is", "IsNot"))
_PLAIN: Final = (int, float, str, bool, bytes, complex)
# Characters of a text that is kept.
MAX_TEXT: Final = 100_000
# An integer that fits into no float is no setting: every item may compute with those that are known.
MAX_BITS: Final = 1_000
# Elements of a list that is kept.
MAX_ITEMS: Final = 100_000
# Lists in lists, written out; more than the elements of any list that is kept.
MAX_NESTED_ITEMS: Final = 4 * MAX_ITEMS
# Of what is too long to be held, so much is known as it begins.
_BEGINNING: Final = 64
_WIDEST: Final = 1_000
_WIDTHS: Final = re.compile(r"\d{1,9}")
_POINTER: Final = 8
# A value that was just made, with its place; an entry of a dict.
_OBJECT: Final = 160
_ENTRY: Final = 112


class NotDecidedError(Exception):
    """The result would be too large, or Python would raise."""


def written(value: object, origin: Location) -> Value:
    """A literal of a script, or a value of a file of settings."""
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        return Unknown("an integer beyond every float")
    return Const(value, origin)


def computed(machine: Machine, op: str, left: object, right: object) -> object:
    """What an operator gives for two constants."""
    function = _OPERATIONS.get(op)
    if function is None:
        raise NotDecidedError
    if op in _COMPARISONS:
        machine.spend((sys.getsizeof(left) + sys.getsizeof(right)) >> 10)
    else:
        _check(machine, _size(op, left, right))
    return _tried(function, left, right)


def converted(machine: Machine, kind: Callable[[object], object], value: object) -> object:
    """A constant as a number, text or bool."""
    _check(machine, _shown_size(value) if isinstance(value, int) else sys.getsizeof(value))
    return _tried(kind, value)


def text_method(machine: Machine, text: str, method: str, given: Sequence[object] = ()) -> object:
    """What a method of a text gives that makes it at most three times as long."""
    _check(machine, 3 * sys.getsizeof(text))
    machine.spend(sum(sys.getsizeof(value) for value in (text, *given)) >> 8)
    return _tried(getattr(text, method), *given)


def words(machine: Machine, text: str) -> list[str]:
    """A text, split where there is white space."""
    if not machine.affords((len(text) // 2 + 1) * _OBJECT):
        raise NotDecidedError
    return text.split()


def joined_text(machine: Machine, parts: Sequence[object]) -> str:
    """Constants one after the other, as an f-string puts them."""
    _check(machine, sum(_shown_size(part) for part in parts))
    return str(_tried(lambda: "".join(str(part) for part in parts)))


def sequence(machine: Machine, kind: str, *parts: Sequence[Value], is_open: bool = False) -> Seq:
    """A list, tuple or set of what is in others; only its beginning where that is too much."""
    value = Seq(kind, [], is_open)
    extend(machine, value, *parts)
    return value


def extend(machine: Machine, room: Seq, *parts: Sequence[Value]) -> None:
    """Put more into a list; where that is too much the list is open instead."""
    more = sum(len(part) for part in parts)
    if len(room.items) + more <= MAX_ITEMS and _takes(room, chain(*parts)) and machine.affords(more * _POINTER):
        machine.spend(more >> 4)
        # A list may be put into itself.
        room.items.extend([*chain(*parts)])
        return
    if not room.open:
        light = (value for value in chain(*parts) if weight_of(value) <= _BEGINNING)
        room.items.extend([*islice(light, max(0, _BEGINNING - len(room.items)))])
    room.open = True


def weight_of(value: Value) -> int:
    """How many values a list or dict comes to when what it shares is written out."""
    return value.weight if isinstance(value, Seq | Table) else 1


def _takes(room: Seq | Table, more: Iterable[Value]) -> bool:
    """Whether more may be put in: what walks through it sees lists that are shared as often as they stand there."""
    weight = room.weight + sum(map(weight_of, more))
    if weight > MAX_NESTED_ITEMS:
        return False
    room.weight = weight
    return True


def table(machine: Machine, *parts: Mapping[Any, Value], is_open: bool = False) -> Table:
    """A dict with the entries of others, later ones first; of too many none is known."""
    value = Table({}, is_open)
    for part in parts:
        update(machine, value, part)
    return value


def update(machine: Machine, room: Table, more: Mapping[Any, Value]) -> None:
    """Put more into a dict; where that is too much nothing is known of it any longer."""
    few = len(room.items) + len(more) <= MAX_ITEMS
    if few and _takes(room, more.values()) and machine.affords(len(more) * _ENTRY):
        machine.spend(len(more) >> 2)
        room.items.update(more)
    else:
        room.items.clear()
        room.open = True


def affords_new(machine: Machine, count: int) -> bool:
    """Whether so many values may be made and held."""
    return machine.affords(count * _OBJECT)


def new_sequence(machine: Machine, kind: str, values: Iterable[Value], count: int) -> Seq:
    """A list of ``count`` values that are made one by one; where they are too many, they are made and not held."""
    if affords_new(machine, count):
        made = list(values)
        value = Seq(kind, made)
        return value if _takes(value, made) else Seq(kind, [], True)
    for _ in values:
        pass
    return Seq(kind, [], True)


def _check(machine: Machine, size: int) -> None:
    if size > MAX_TEXT or not machine.affords(size):
        raise NotDecidedError
    machine.spend(size >> 10)


def _tried(function: Callable[..., object], *given: object) -> object:
    try:
        value = function(*given)
    except (TypeError, ValueError, ArithmeticError, LookupError):
        raise NotDecidedError from None
    if not isinstance(value, _PLAIN) or (isinstance(value, int) and value.bit_length() > MAX_BITS):
        raise NotDecidedError
    return value


def _size(op: str, left: object, right: object) -> int:
    """The bytes that a result takes at most."""
    if isinstance(left, int) and isinstance(right, int):
        return _integer_size(op, left, right)
    if op == "Mult":
        for text, times in ((left, right), (right, left)):
            if isinstance(text, str | bytes) and isinstance(times, int):
                return sys.getsizeof(text) * max(times, 1)
    if op == "Mod" and isinstance(left, str | bytes):
        return _formatted_size(left, right)
    return sys.getsizeof(left) + sys.getsizeof(right)


def _integer_size(op: str, left: int, right: int) -> int:
    bits = left.bit_length() + right.bit_length()
    if op == "Pow" and right > 1:
        bits = left.bit_length() * right
    elif op == "LShift":
        bits = left.bit_length() + max(right, 0)
    return bits // 8 if bits <= MAX_BITS else MAX_TEXT + 1


def _formatted_size(text: str | bytes, value: object) -> int:
    """The bytes of ``text % value``: all widths that are written in it, and the value for every percent sign."""
    written = text if isinstance(text, str) else text.decode("latin-1")
    widths = [int(width) for width in _WIDTHS.findall(written)] if len(written) <= MAX_TEXT else []
    if "*" in written or len(written) > MAX_TEXT or max(widths, default=0) > _WIDEST:
        return MAX_TEXT + 1
    return sys.getsizeof(text) + 4 * (sum(widths) + written.count("%") * _shown_size(value))


def _shown_size(value: object) -> int:
    """The bytes of a constant's text."""
    if isinstance(value, int):
        return value.bit_length() // 3 + 64 if value.bit_length() <= MAX_BITS else MAX_TEXT + 1
    return 4 * sys.getsizeof(value) if isinstance(value, bytes) else sys.getsizeof(value) + 512
