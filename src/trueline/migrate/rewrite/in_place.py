"""What overwrites a tensor: where somebody else holds it and reads it afterwards, a new tensor is not the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from trueline.migrate.rewrite.kinds import MODULE
from trueline.migrate.rewrite.sheet import Sheet
from trueline.model.message import message

# Functions that give a tensor of their own.
_MAKERS: Final = frozenset(
    f"torch.{word}"
    for word in (
        "zeros", "ones", "full", "empty", "rand", "randn", "randint", "arange", "linspace", "eye", "zeros_like",
        "ones_like", "full_like", "empty_like", "rand_like", "randn_like",
    )
)  # fmt: skip


def note_overwritten(sheet: Sheet, call: ast.Call, name: str) -> None:
    """Note every call of an in-place layer whose input is read again."""
    parent = sheet.names.parents.get(call)
    if isinstance(parent, ast.Call) and sheet.names.torch(parent.func) == "torch.nn.Sequential":
        if parent.args and parent.args[0] is call:
            sheet.leave(call, name, message("rewrite.in_place_layer"))
        return
    owner = sheet.inside(call, ast.ClassDef)
    if not isinstance(parent, ast.Assign) or not isinstance(owner, ast.ClassDef):
        return
    layer = ast.unparse(parent.targets[0])
    for method in owner.body:
        if isinstance(method, ast.FunctionDef):
            for used in _uses(method, layer):
                if _read_again(sheet, method, used):
                    sheet.leave(used, name, message("rewrite.in_place_layer"))


def is_own(sheet: Sheet, call: ast.Call, held: ast.expr) -> bool:
    """Whether a statement overwrites a tensor that its function made and that no other name can mean."""
    if not isinstance(held, ast.Name) or not isinstance(sheet.names.parents.get(call), ast.Expr):
        return False
    scope = sheet.names.scope(held)
    names = [node for node in ast.walk(scope) if isinstance(node, ast.Name) and node.id == held.id]
    made = [sheet.names.parents[node] for node in names if isinstance(node.ctx, ast.Store)]
    fresh = all(isinstance(node, ast.Assign) and _makes_a_tensor(sheet, node.value) for node in made)
    reads = [node for node in names if isinstance(node.ctx, ast.Load)]
    return bool(made) and fresh and all(_is_only_read(sheet, node) for node in reads)


def _makes_a_tensor(sheet: Sheet, value: ast.expr) -> bool:
    """Whether an expression is a tensor that nobody else has."""
    name = sheet.names.torch(value.func) if isinstance(value, ast.Call) else ""
    return isinstance(value, ast.BinOp) or name in _MAKERS


def _is_only_read(sheet: Sheet, name: ast.Name) -> bool:
    """Whether a place where a name stands takes its numbers and cannot keep the tensor itself."""
    parent = sheet.names.parents[name]
    if isinstance(parent, ast.Attribute):
        above = sheet.names.parents[parent]
        alone = isinstance(above, ast.Call) and isinstance(sheet.names.parents[above], ast.Expr)
        return parent.attr in ("shape", "dtype", "device") or (alone and parent.attr.endswith("_"))
    if isinstance(parent, ast.Call):
        return bool(sheet.names.torch(parent.func)) or sheet.kinds.of(parent.func) == MODULE
    if isinstance(parent, ast.Tuple):
        parent = sheet.names.parents[parent]
    return isinstance(parent, ast.BinOp | ast.Compare | ast.UnaryOp | ast.Return)


def _uses(method: ast.FunctionDef, layer: str) -> Iterator[ast.Call]:
    for node in ast.walk(method):
        if isinstance(node, ast.Call) and len(node.args) == 1 and ast.unparse(node.func) == layer:
            yield node


def _read_again(sheet: Sheet, method: ast.FunctionDef, used: ast.Call) -> bool:
    """Whether the input of a call, or another name of it, is read after the call."""
    given = used.args[0]
    if not isinstance(given, ast.Name):
        return False
    statement = sheet.names.statement(used)
    names = {given.id}
    assigned_again = isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == given.id
    if assigned_again:
        names.clear()
    for node in ast.walk(method):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.lineno < used.lineno:
            pair = {node.value.id, ast.unparse(node.targets[0])}
            if given.id in pair and not _renewed(method, given.id, node.lineno, used.lineno):
                names |= pair - {given.id}
    return any(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names
        for node in ast.walk(method)
        if getattr(node, "lineno", 0) > (statement.end_lineno or statement.lineno)
        and not _renewed(method, getattr(node, "id", ""), statement.lineno, getattr(node, "lineno", 0) - 1)
    )


def _renewed(method: ast.FunctionDef, name: str, after: int, before: int) -> bool:
    """Whether a name gets a new value between two lines."""
    return any(
        isinstance(node, ast.Assign)
        and after < node.lineno <= before
        and any(isinstance(one, ast.Name) and one.id == name for target in node.targets for one in ast.walk(target))
        for node in ast.walk(method)
    )
