"""What a piece of source is worth, where it can be told without running it: numbers, arithmetic of them, types."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Final

_OPERATORS: Final[dict[type, Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
_CLOSE: Final = 1e-9
# Types by their names in both frameworks.
_TYPES: Final = {
    **{name: name for name in ("float16", "float32", "float64", "bfloat16", "complex64", "complex128", "bool")},
    **{name: name for name in ("int8", "int16", "int32", "int64", "uint8")},
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "cfloat": "complex64",
    "cdouble": "complex128",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "bool_": "bool",
}
_FRAMEWORKS: Final = ("torch", "mindspore", "ms")


class _Unknown:
    """What cannot be told."""

    def __repr__(self) -> str:
        return "?"


UNKNOWN: Final = _Unknown()


def value_of(text: str) -> object:
    """The value of an expression; UNKNOWN where it is no literal."""
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError, ZeroDivisionError, OverflowError):
        return UNKNOWN


def _value(node: ast.expr) -> object:
    match node:
        case ast.Constant():
            return node.value
        case ast.Tuple() | ast.List():
            found = [_value(one) for one in node.elts]
            return UNKNOWN if any(one is UNKNOWN for one in found) else found
        case ast.Attribute(value=ast.Name(id=package), attr=word) if package in _FRAMEWORKS and word in _TYPES:
            return f"torch.{_TYPES[word]}"
        case ast.UnaryOp(op=ast.USub()):
            value = _value(node.operand)
            return -value if isinstance(value, int | float) else UNKNOWN
        case ast.BinOp() if type(node.op) in _OPERATORS:
            left, right = _value(node.left), _value(node.right)
            if isinstance(left, int | float) and isinstance(right, int | float):
                return _OPERATORS[type(node.op)](left, right)
    return UNKNOWN


def same(first: object, second: object) -> bool:
    """Whether two values are the same number, list or word; what cannot be told is taken to be."""
    if first is UNKNOWN or second is UNKNOWN:
        return True
    if isinstance(first, int | float) and isinstance(second, int | float):
        return abs(first - second) <= _CLOSE * max(1.0, abs(first), abs(second))
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(same, first, second))
    for one, other in ((first, second), (second, first)):
        # 3 is (3, 3) to a layer of two axes.
        if isinstance(one, list) and isinstance(other, int | float):
            return all(same(element, other) for element in one)
    return first == second
