"""Parameters in a script: groups of an optimizer, and the conditions by which they were sorted."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from typing import Final

from trueline.apitable.functions import functions_of
from trueline.apitable.traits import Trait
from trueline.script.trace import Trace, item_of
from trueline.script.values import Attribute, Const, Derived, Made, Value, ancestry, constant

_ALL: Final = functions_of(Trait.LISTS_PARAMETERS)
_COMPARED: Final[dict[str, Callable[[int, int], bool]]] = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
}
_TURNED: Final = {"Lt": "Gt", "LtE": "GtE", "Gt": "Lt", "GtE": "LtE"}
_SPARED: Final = re.compile(r"bias|norm|beta|gamma|(^|\.)(ln|bn)|(ln|bn)\d*(\.|$)", re.IGNORECASE)


def is_of_parameters(value: Value | None) -> bool:
    """Whether a value is an element of ``net.parameters()`` or its like, or a property of one."""
    return any(isinstance(part, Made) and part.event.method in _ALL for part in ancestry(value, most=60))


def dimension_tests(trace: Trace) -> Iterator[tuple[Derived, bool]]:
    """Conditions on the number of dimensions of parameters, and whether vectors and matrices meet it differently."""
    for value in _tests(trace):
        if value.op not in _COMPARED or len(value.of) != 2:
            continue
        for (side, other_value), op in ((value.of, value.op), (value.of[::-1], _TURNED.get(value.op, value.op))):
            number = constant(other_value)
            if _is_dimensions(side) and isinstance(number, int) and is_of_parameters(side):
                compare = _COMPARED[op]
                yield value, len({compare(dimensions, number) for dimensions in (1, 2, 3, 4)}) > 1


def sorts_for_decay(trace: Trace) -> bool:
    """Whether parameters are sorted by what decay is to spare: their dimensions, or names of norms and biases."""
    if any(True for _ in dimension_tests(trace)):
        return True
    for test in trace.tests:
        inside = list(ancestry(test, most=60))
        words = [word.value for word in inside if isinstance(word, Const) and isinstance(word.value, str)]
        if any(_SPARED.search(word) for word in words) and is_of_parameters(test):
            return True
    return False


def _tests(trace: Trace) -> Iterator[Derived]:
    for test in trace.tests:
        yield from (value for value in ancestry(test, most=60) if isinstance(value, Derived))


def _is_dimensions(value: Value) -> bool:
    """``p.ndim``, ``p.dim()``, ``len(p.shape)``."""
    if isinstance(value, Attribute):
        return value.name == "ndim"
    if not isinstance(value, Made):
        return False
    if value.name == "builtins.len":
        shape = value.event.arg(0)
        return (isinstance(shape, Attribute) and shape.name == "shape") or (
            isinstance(shape, Made) and shape.event.method == "size"
        )
    return value.event.method in functions_of(Trait.RANK) and item_of(value.event.receiver) is not None
