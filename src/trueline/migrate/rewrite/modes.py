"""Modes: torch's networks begin in training and record gradients; MindSpore's begin in evaluation and record none."""

from __future__ import annotations

import ast
from typing import Final

from trueline.migrate.rewrite.kinds import MODULE
from trueline.migrate.rewrite.sheet import Sheet
from trueline.migrate.rewrite.training_step import NO_GRADIENT
from trueline.model.message import message

_TELLING: Final = ("train", "eval")
# Methods of a network that give it back as it is.
_KEEPING: Final = ("to", "cuda", "cpu", "float")
# Layers of torch that compute otherwise in training, and those that hold others.
_WITH_MODE: Final = (
    "Sequential", "Module", "Dropout", "BatchNorm", "InstanceNorm", "Transformer", "Attention", "RNN", "LSTM", "GRU",
    "RReLU",
)  # fmt: skip
_BLOCKS: Final = ("body", "orelse", "finalbody")
_NO_GRADIENT: Final = (*NO_GRADIENT, "torch.set_grad_enabled")


def write_modes(sheet: Sheet) -> None:
    """Write where gradients are not recorded, and where a network is built."""
    for node in ast.walk(sheet.tree):
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                _decorator(sheet, node, decorator)
        elif isinstance(node, ast.With):
            for item in node.items:
                _context(sheet, node, item)
    for node in ast.walk(sheet.tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            _begin_training(sheet, node, node.targets[0] if isinstance(node, ast.Assign) else node.target, node.value)
        elif isinstance(node, ast.Call):
            _handed_on(sheet, node)


def _name(sheet: Sheet, node: ast.expr) -> str:
    return sheet.names.torch(node.func if isinstance(node, ast.Call) else node)


def _decorator(sheet: Sheet, function: ast.FunctionDef, decorator: ast.expr) -> None:
    name = _name(sheet, decorator)
    if name not in _NO_GRADIENT:
        return
    _settle(sheet, decorator)
    if _differentiated(sheet, function):
        sheet.leave(decorator, name, message("rewrite.no_grad", name=name))
        return
    whole = sheet.at.whole_lines(decorator.lineno, decorator.end_lineno or decorator.lineno)
    sheet.edits.replace(whole, "")
    sheet.note_done(decorator, name, "")


def _context(sheet: Sheet, statement: ast.With, item: ast.withitem) -> None:
    name = _name(sheet, item.context_expr)
    if name not in _NO_GRADIENT:
        return
    _settle(sheet, item.context_expr)
    if _differentiated(sheet, statement):
        sheet.leave(statement, name, message("rewrite.no_grad", name=name))
        return
    context = sheet.wanted.name("contextlib.nullcontext")
    sheet.write(item.context_expr, name, "nullcontext", f"{context}()")


def _settle(sheet: Sheet, node: ast.expr) -> None:
    sheet.settled.add(node)
    sheet.settle(node.func if isinstance(node, ast.Call) else node)


def _differentiated(sheet: Sheet, node: ast.AST) -> bool:
    """Whether a gradient may go through here: in a network, or in a loop with a training step that was not written.

    A step that was written takes gradients within its forward pass only.
    """
    for one in sheet.names.enclosing(node):
        if isinstance(one, ast.ClassDef) and one.name in sheet.classes.modules:
            return True
        if isinstance(one, ast.For | ast.While) and node in one.body:
            lines = range(one.lineno, (one.end_lineno or one.lineno) + 1)
            if any(left.name == "torch.Tensor.backward" and left.line in lines for left in sheet.left):
                return True
    return False


def _begin_training(sheet: Sheet, node: ast.stmt, target: ast.expr, value: ast.expr) -> None:
    """A network that is built and not told its mode in the same block."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for one, given in zip(target.elts, value.elts, strict=True):
            _begin_training(sheet, node, one, given)
        return
    if not isinstance(target, ast.Name | ast.Attribute) or not _is_built(sheet, value):
        return
    if _is_part(sheet, node) or _told_after(sheet, node, ast.unparse(target)):
        return
    scope = sheet.names.scope(node)
    builder = isinstance(scope, ast.FunctionDef) and scope.name in sheet.classes.builders
    if builder and not _calls_any(scope, (*_TELLING, "backward")):
        # Who calls it sets the mode, as the function neither sets nor uses one itself.
        return
    # At the line's end: what is inserted before the next line goes wherever that line goes.
    place = sheet.at.whole_lines(node.lineno, node.end_lineno or node.lineno).end
    place -= sheet.text[:place].endswith("\n")
    text = f"\n{sheet.at.indent(node.lineno)}{sheet.at.source(target)}.set_train(True)"
    sheet.edits.insert(place, text)


def _handed_on(sheet: Sheet, call: ast.Call) -> None:
    """A network that is built as an argument of a function or class of the project that is no network itself."""
    if not isinstance(call.func, ast.Name) or call.func.id not in {*sheet.classes.functions, *sheet.classes.defined}:
        return
    if call.func.id in sheet.classes.modules or _is_part(sheet, call):
        return
    for value in (*call.args, *(one.value for one in call.keywords)):
        if _is_built(sheet, value):
            sheet.edits.insert(sheet.at.of(value).end, ".set_train(True)")


def _is_built(sheet: Sheet, value: ast.expr) -> bool:
    """Whether an expression builds a network, and leaves it in the mode it begins with."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _KEEPING:
        value = value.func.value
    if not isinstance(value, ast.Call):
        return False
    name = sheet.names.torch(value.func)
    if name:
        return name.startswith("torch.nn.") and name.count(".") == 2 and any(word in name for word in _WITH_MODE)
    function = value.func
    word = (
        function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
    )
    if word in sheet.classes.modules:
        return True
    if sheet.kinds.of(value) != MODULE or (
        isinstance(function, ast.Attribute) and ast.unparse(function.value) != "self"
    ):
        return False
    made = [one for one in ast.walk(sheet.tree) if isinstance(one, ast.FunctionDef) and one.name == word]
    made += [one for _, one in sheet.classes.functions.get(word, ())]
    return bool(made) and not any(_calls_any(one, _TELLING) for one in made)


def _is_part(sheet: Sheet, node: ast.AST) -> bool:
    """Whether this is in a network's class: a network sets the mode of its parts."""
    owner = sheet.inside(node, ast.ClassDef)
    return isinstance(owner, ast.ClassDef) and owner.name in sheet.classes.modules


def _told_after(sheet: Sheet, node: ast.stmt, name: str) -> bool:
    """Whether the next thing that is done with a network in its block is to set its mode."""
    parent = sheet.names.parents[node]
    block = next((part for word in _BLOCKS if node in (part := getattr(parent, word, []))), [node])
    for statement in block[block.index(node) + 1 :]:
        call = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
        if isinstance(call, ast.Call) and ast.unparse(call.func) in [f"{name}.{word}" for word in _TELLING]:
            return True
        called = [ast.unparse(one.func) for one in ast.walk(statement) if isinstance(one, ast.Call)]
        if name in called or isinstance(statement, ast.For | ast.While | ast.If | ast.Return):
            return False
    return False


def _calls_any(function: ast.AST, words: tuple[str, ...]) -> bool:
    return any(
        isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in words
        for one in ast.walk(function)
    )
