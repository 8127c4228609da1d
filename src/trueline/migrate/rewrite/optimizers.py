"""What is asked of optimizers and schedules: learning rates are parameters in MindSpore, not numbers."""

from __future__ import annotations

import ast
from typing import Final

from trueline.migrate.rewrite.edits import Span
from trueline.migrate.rewrite.kinds import OPTIMIZER
from trueline.migrate.rewrite.sheet import Sheet

_STATE: Final = {"state_dict": "optimizer_state", "load_state_dict": "load_optimizer_state"}


def write_rates(sheet: Sheet) -> None:
    """Write where a learning rate is read or set, and where the state of an optimizer is kept."""
    groups = _group_names(sheet)
    for node in ast.walk(sheet.tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and _is_rate(node.targets[0], groups):
            target = sheet.at.of(node.targets[0])
            pieces: list[str | Span] = [f"{sheet.wanted.name('mindspore.ops.assign')}(", target, ", "]
            sheet.write(node, "torch.optim.Optimizer.param_groups", "assign", *pieces, sheet.at.of(node.value), ")")
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            last = isinstance(node.value, ast.Call) and _attr(node.value.func) == "get_last_lr"
            if last or _is_rate(node, groups):
                span = sheet.at.of(node)
                sheet.edits.replace(span, "float(", span, ")")
                sheet.note_done(node, "torch.optim.Optimizer.param_groups", "float")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            _state(sheet, node, node.func)


def _state(sheet: Sheet, call: ast.Call, function: ast.Attribute) -> None:
    if function.attr in _STATE and is_optimizer(sheet, function.value):
        helper = sheet.wanted.helper(_STATE[function.attr])
        pieces: list[str | Span] = [f"{helper}(", sheet.at.of(function.value)]
        for argument in call.args:
            pieces += [", ", sheet.at.of(argument)]
        sheet.write(call, f"torch.optim.Optimizer.{function.attr}", helper, *pieces, ")")


def is_optimizer(sheet: Sheet, node: ast.expr) -> bool:
    """Whether an expression is an optimizer, by what it is or by its name where that is not known."""
    kind, word = sheet.kinds.of(node), ast.unparse(node).lower()
    return kind == OPTIMIZER or (not kind and "opt" in word and "sched" not in word)


def _group_names(sheet: Sheet) -> frozenset[str]:
    """The names of loops over an optimizer's groups."""
    return frozenset(
        one.target.id
        for one in ast.walk(sheet.tree)
        if isinstance(one, ast.For | ast.comprehension) and isinstance(one.target, ast.Name)
        if _attr(one.iter) == "param_groups"
    )


def _is_rate(node: ast.expr, groups: frozenset[str]) -> bool:
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant) or node.slice.value != "lr":
        return False
    owner = node.value
    if isinstance(owner, ast.Name):
        return owner.id in groups
    return isinstance(owner, ast.Subscript) and _attr(owner.value) == "param_groups"


def _attr(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ""
