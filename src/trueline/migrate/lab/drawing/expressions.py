"""The language that a drawing table says in what an argument is: a small part of Python's expressions.

``real(N, C)`` draws an array, ``axis()`` an axis of the first one, ``[A, B]`` a list, ``1 | 2`` one of both. Capital
names are sizes and shapes, the same in all arguments of a call; other names are arguments that stand before.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, Final

from trueline.migrate.lab.drawing.scope import Scope

_OPERATORS: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


@cache
def parsed(text: str) -> ast.expr:
    """The expression of a text; SyntaxError where it is none."""
    return ast.parse(text.strip(), mode="eval").body


@cache
def words(text: str) -> frozenset[str]:
    """The names that stand in an expression."""
    return frozenset(node.id for node in ast.walk(parsed(text)) if isinstance(node, ast.Name))


def evaluate(node: ast.expr, scope: Scope) -> Any:
    """What an expression draws in a scope."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return scope.look_up(name)
        case ast.Tuple(elts=elements):
            return tuple(_elements(elements, scope))
        case ast.List(elts=elements):
            return list(_elements(elements, scope))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -evaluate(operand, scope)
        case ast.BinOp(op=ast.BitOr()):
            choices = list(_choices(node))
            return evaluate(choices[int(scope.rng.integers(len(choices)))], scope)
        case ast.BinOp(left=left, op=operation, right=right):
            return _OPERATORS[type(operation)](evaluate(left, scope), evaluate(right, scope))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return scope.call(name, list(_elements(arguments, scope)))
        case ast.Subscript(value=value, slice=key):
            return evaluate(value, scope)[evaluate(key, scope)]
    raise SyntaxError(f"not in the language of drawing tables: {ast.unparse(node)}")


def _elements(nodes: Iterable[ast.expr], scope: Scope) -> Iterator[Any]:
    for node in nodes:
        if isinstance(node, ast.Starred):
            yield from evaluate(node.value, scope)
        else:
            yield evaluate(node, scope)


def _choices(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        yield from _choices(node.left)
        yield from _choices(node.right)
    else:
        yield node
