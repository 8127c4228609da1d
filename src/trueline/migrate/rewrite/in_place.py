"""What overwrites a tensor: where somebody else holds it and reads it afterwards, a new tensor is not the same."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from trueline.apitable.given import public_names
from trueline.migrate.rewrite.kinds import MODULE, TENSOR
from trueline.migrate.rewrite.sheet import Sheet
from trueline.model.message import message

_IN_PLACE: Final = re.compile(r"[a-z]_$")
# They change no number.
_HARMLESS: Final = frozenset(("requires_grad_", "share_memory_", "retain_grad_"))
# Methods whose result shares its numbers with the tensor.
_VIEWS: Final = frozenset(
    ("view", "view_as", "reshape", "transpose", "permute", "t", "squeeze", "unsqueeze", "expand", "narrow", "select")
)
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


def note_in_place(sheet: Sheet) -> None:
    """Note what changes a tensor under all its names, and would change one name here, or nothing."""
    noted = {left.line for left in sheet.left}
    written = {(done.line, done.name.rpartition(".")[2]) for done in sheet.done}
    offered = public_names()["torch.Tensor"]
    for call in sheet.calls():
        function = call.func
        if not isinstance(function, ast.Attribute) or not _IN_PLACE.search(function.attr) or sheet.names.full(function):
            continue
        shown = function.attr in offered and sheet.edits.shows(sheet.at.of(function))
        if (call.lineno, function.attr) in written or function.attr in _HARMLESS:
            continue
        if shown and call.lineno not in noted:
            name = f"torch.Tensor.{function.attr}"
            sheet.leave(call, name, message("rewrite.in_place_method", name=name))
    for node in ast.walk(sheet.tree):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and _is_shared(sheet, node):
            sheet.leave(node, node.target.id, message("rewrite.in_place_names", name=node.target.id))


def _is_shared(sheet: Sheet, change: ast.AugAssign) -> bool:
    """Whether a tensor that is changed may have another name, or hold the elements of one that does."""
    target = change.target
    assert isinstance(target, ast.Name)
    if sheet.kinds.of(target) != TENSOR:
        return False
    for node in ast.walk(sheet.names.scope(target)):
        if isinstance(node, ast.Assign) and node.lineno < change.lineno:
            own = any(isinstance(name, ast.Name) and name.id == target.id for name in node.targets)
            held = _held_names(node.value)
            if (own and held - {target.id}) or (not own and target.id in held):
                return True
    return False


def _held_names(value: ast.expr) -> set[str]:
    """The names whose tensors an expression gives on, whole or as a view; "self" for what an object holds."""
    match value:
        case ast.Name():
            return {value.id}
        case ast.List() | ast.Tuple() | ast.Set():
            return {name for element in value.elts for name in _held_names(element)}
        case ast.Dict():
            return {name for element in value.values for name in _held_names(element)}
        case ast.Subscript() | ast.Attribute():
            return _held_names(value.value)
        case ast.Call(func=ast.Attribute(value=receiver, attr=word)) if word in _VIEWS:
            return _held_names(receiver)
    return set()
