"""How the code of a network reads a mask or lengths that it is given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from trueline.apitable.functions import functions_of, names_of
from trueline.apitable.traits import Trait

_SHAPED: Final = functions_of(Trait.FORM, Trait.SIZE, Trait.RANK, Trait.NEW_OF_TYPE)
_ALIKE: Final = functions_of(Trait.FILLS_LIKE)
_PRODUCTS: Final = functions_of(Trait.MATMUL, Trait.MATMUL_ADDED, Trait.EINSUM)


def lost_numbers(function: ast.AST, name: str) -> ast.AST | None:
    """Where only the shape is taken of something that a function is given; None where its numbers are read as well."""
    around = {id(child): node for node in ast.walk(function) for child in ast.iter_child_nodes(node)}
    gone: ast.AST | None = None
    for one in ast.walk(function):
        if not isinstance(one, ast.Name) or one.id != name or not isinstance(one.ctx, ast.Load):
            continue
        holder = around.get(id(one))
        if isinstance(holder, ast.Attribute) and holder.attr in _SHAPED:
            continue
        if _is_alike(holder, one) or _is_nothing(holder):
            gone = gone or holder
        else:
            return None
    return gone


def _is_alike(node: ast.AST | None, given: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _last(node.func) in _ALIKE and bool(node.args) and node.args[0] is given


def _is_nothing(node: ast.AST | None) -> bool:
    """``0 * lengths``."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return False
    return any(isinstance(constant, ast.Constant) and constant.value == 0 for constant in (node.left, node.right))


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def scores_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST | None:
    """Where the scores are made that a function takes a softmax of, from a product of matrices."""
    for call in ast.walk(function):
        if not isinstance(call, ast.Call) or _last(call.func) not in names_of(Trait.SOFTMAX):
            continue
        given = (
            call.func.value if isinstance(call.func, ast.Attribute) and not call.args else next(iter(call.args), None)
        )
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            # scores.softmax(dim): what it is called on, not a module.
            made = list(_assigned(function, call.func.value.id))
            given = call.func.value if made else given
        if given is None:
            continue
        made = list(_assigned(function, given.id)) if isinstance(given, ast.Name) else []
        source = made[-1] if made else given
        if _is_product(source):
            return source
    return None


def _assigned(function: ast.AST, name: str) -> Iterator[ast.AST]:
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == name for target in node.targets
        ):
            yield node


def _is_product(node: ast.AST) -> bool:
    return any(
        (isinstance(op, ast.BinOp) and isinstance(op.op, ast.MatMult))
        or (isinstance(op, ast.Call) and _last(op.func) in _PRODUCTS)
        for op in ast.walk(node)
    )
