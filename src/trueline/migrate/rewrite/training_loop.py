"""Training steps: the forward pass becomes a function whose value and gradients are asked for at once."""

from __future__ import annotations

import ast

from trueline.migrate.rewrite.edits import Span
from trueline.migrate.rewrite.kinds import OPTIMIZER
from trueline.migrate.rewrite.sheet import Sheet
from trueline.migrate.rewrite.step_text import before_loop, call_text, forward_function, lines_of, remove, write_clip
from trueline.migrate.rewrite.training_round import is_round, recognise_round, write_round
from trueline.migrate.rewrite.training_step import NotRecognised, Step, backward_statements, recognise
from trueline.model.message import message


def write_training(sheet: Sheet) -> None:
    """Write every training step that is recognised, and note the others."""
    written: set[ast.AST] = set()
    for backward in list(backward_statements(sheet)):
        scope = sheet.names.scope(backward)
        if backward.value in sheet.settled:
            continue
        try:
            if is_round(sheet, backward):
                if scope in written:
                    raise NotRecognised(message("rewrite.step_several"))
                write_round(sheet, recognise_round(sheet, backward))
                written.add(scope)
                continue
            step = recognise(sheet, backward)
            if scope in written:
                raise NotRecognised(message("rewrite.step_several"))
            _Writing(sheet, step).write()
            written.add(scope)
        except NotRecognised as error:
            sheet.leave(backward, "torch.Tensor.backward", message("rewrite.step", reason=error.reason))
            sheet.settled.add(backward.value)
    _others(sheet, bool(written))


def _others(sheet: Sheet, any_written: bool) -> None:
    """Calls of an optimizer that belong to no step that was written."""
    for node in ast.walk(sheet.tree):
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call) or node.value in sheet.settled:
            continue
        function = node.value.func
        if not isinstance(function, ast.Attribute) or sheet.kinds.of(function.value) != OPTIMIZER:
            continue
        if function.attr == "zero_grad" and any_written:
            remove(sheet, node)
        elif function.attr in ("zero_grad", "step"):
            sheet.leave(node, f"torch.optim.Optimizer.{function.attr}", message("rewrite.no_step"))


class _Writing:
    """The edits of one step."""

    def __init__(self, sheet: Sheet, step: Step) -> None:
        self.sheet, self.step = sheet, step
        self.forward, self.gradient, self.grads = (
            sheet.wanted.free(name) for name in ("forward_fn", "grad_fn", "grads")
        )
        self.sum = sheet.wanted.free("grads_sum") if step.summed else self.grads

    def write(self) -> None:
        """Make the edits."""
        sheet, step = self.sheet, self.step
        for clip in step.clips:
            write_clip(sheet, clip, self.sum)
        first = step.slice[0]
        indent = sheet.at.indent(first.lineno)
        line = indent + call_text(step, self.gradient, self.grads)
        if step.summed:
            add = sheet.wanted.name("mindspore.ops.add")
            line += (
                f"{indent}{self.sum} = {self.grads} if {self.sum} is None "
                f"else tuple(map({add}, {self.sum}, {self.grads}))\n"
            )
        outer = indent if step.loop is None else sheet.at.indent(step.loop.lineno)
        names = (self.forward, self.gradient)
        pieces = forward_function(sheet, step, names, f"{step.optimizer}.parameters", outer)
        if step.loop is not None:
            before_loop(sheet, step.loop, pieces)
            pieces = []
        pieces.append(line)
        for statement in step.slice:
            whole = lines_of(sheet, statement)
            sheet.edits.replace(whole, *(pieces if statement is first else [""]))
        remove(sheet, step.backward)
        for reset in step.resets:
            if step.summed:
                sheet.write(reset, "torch.optim.Optimizer.zero_grad", self.sum, f"{self.sum} = None")
                sheet.settled.add(reset.value)
            else:
                remove(sheet, reset)
        if step.summed:
            self._begin_sum()
        sheet.write(step.update, "torch.optim.Optimizer.step", step.optimizer, f"{step.optimizer}({self.sum})")
        sheet.settled.add(step.update.value)
        sheet.note_done(step.backward, "torch.Tensor.backward", "mindspore.value_and_grad")

    def _begin_sum(self) -> None:
        """Where the sum of gradients begins: before the outermost loop of the function."""
        sheet, step = self.sheet, self.step
        outermost: ast.stmt = step.loop or step.slice[0]
        for node in sheet.names.enclosing(outermost):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                break
            if isinstance(node, ast.For | ast.While):
                outermost = node
        start = sheet.at.line_start(outermost.lineno)
        text = f"{sheet.at.indent(outermost.lineno)}{self.sum} = None\n"
        if outermost is step.loop:
            sheet.edits.prepend(Span(start, start), text)
        elif outermost is step.slice[0]:
            sheet.edits.prepend(lines_of(sheet, outermost), text)
        else:
            sheet.edits.insert(start, text)
