"""Training steps: the forward pass becomes a function whose value and gradients are asked for at once."""

from __future__ import annotations

import ast

from trueline.migrate.rewrite.arguments import CannotBind, bind
from trueline.migrate.rewrite.edits import Moved, Span
from trueline.migrate.rewrite.kinds import OPTIMIZER
from trueline.migrate.rewrite.sheet import Sheet
from trueline.migrate.rewrite.training_step import NotRecognised, Step, backward_statements, recognise
from trueline.model.message import message


def write_training(sheet: Sheet) -> None:
    """Write every training step that is recognised, and note the others."""
    written: set[ast.AST] = set()
    for backward in list(backward_statements(sheet)):
        scope = sheet.names.scope(backward)
        try:
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
            _remove(sheet, node)
        elif function.attr in ("zero_grad", "step"):
            sheet.leave(node, f"torch.optim.Optimizer.{function.attr}", message("rewrite.no_step"))


def _remove(sheet: Sheet, statement: ast.stmt) -> None:
    """Take a statement away with its lines; ``pass`` where a block would be empty."""
    whole = sheet.at.whole_lines(statement.lineno, statement.end_lineno or statement.lineno)
    parent = sheet.names.parents[statement]
    bodies = [getattr(parent, part, []) for part in ("body", "orelse", "finalbody")]
    alone = any(len(body) == 1 and statement in body for body in bodies)
    span = sheet.at.of(statement)
    shared = sheet.text[whole.start : span.start].strip() or sheet.text[span.end : whole.end].strip().startswith(";")
    if alone or shared:
        sheet.edits.replace(span, "pass")
    else:
        sheet.edits.replace(whole, "")
    if isinstance(statement, ast.Expr):
        sheet.settled.add(statement.value)
        if isinstance(statement.value, ast.Call):
            sheet.settle(statement.value.func)


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
        self._clips()
        first = step.slice[0]
        indent = sheet.at.indent(first.lineno)
        call = f"{self.gradient}({', '.join(step.takes)})"
        gives = step.gives[0] if len(step.gives) == 1 else f"({', '.join(step.gives)})"
        line = f"{indent}{gives}, {self.grads} = {call}\n"
        if step.summed:
            add = sheet.wanted.name("mindspore.ops.add")
            line += (
                f"{indent}{self.sum} = {self.grads} if {self.sum} is None "
                f"else tuple(map({add}, {self.sum}, {self.grads}))\n"
            )
        if step.loop is not None:
            outer = sheet.at.indent(step.loop.lineno)
            deeper = 0 if len(indent) > len(outer) else 4
            above = sheet.at.lines[step.loop.lineno - 2].strip() if step.loop.lineno > 1 else ""
            blank: list[str | Span | Moved] = (
                ["\n"] if above and not above.endswith(":") and not above.startswith("#") else []
            )
            self._insert(step.loop.lineno, [*blank, *self._function(outer, indent, deeper)])
            pieces: list[str | Span | Moved] = [line]
        else:
            pieces = [*self._function(indent, indent + "    ", 4), line]
        for statement in step.slice:
            whole = self._lines(statement)
            sheet.edits.replace(whole, *(pieces if statement is first else [""]))
        _remove(sheet, step.backward)
        for reset in step.resets:
            if step.summed:
                sheet.write(reset, "torch.optim.Optimizer.zero_grad", self.sum, f"{self.sum} = None")
                sheet.settled.add(reset.value)
            else:
                _remove(sheet, reset)
        if step.summed:
            self._begin_sum()
        sheet.write(step.update, "torch.optim.Optimizer.step", step.optimizer, f"{step.optimizer}({self.sum})")
        sheet.settled.add(step.update.value)
        sheet.note_done(step.backward, "torch.Tensor.backward", "mindspore.value_and_grad")

    def _function(self, outer: str, inner: str, deeper: int) -> list[str | Span | Moved]:
        """The forward pass as a function, and the one that gives its value and gradients."""
        sheet, step = self.sheet, self.step
        found: list[str | Span | Moved] = [f"{outer}def {self.forward}({', '.join(step.takes)}):\n"]
        found.extend(Moved(self._lines(statement), deeper) for statement in step.slice)
        body = inner if not deeper else outer + "    "
        aux = ", has_aux=True" if len(step.gives) > 1 else ""
        grad = sheet.wanted.name("mindspore.value_and_grad")
        found.append(f"{body}return {', '.join(step.gives)}\n\n")
        found.append(f"{outer}{self.gradient} = {grad}({self.forward}, None, {step.optimizer}.parameters{aux})\n")
        return found

    def _lines(self, statement: ast.stmt) -> Span:
        """A statement's lines."""
        return self.sheet.at.whole_lines(statement.lineno, statement.end_lineno or statement.lineno)

    def _insert(self, line: int, pieces: list[str | Span | Moved]) -> None:
        start = self.sheet.at.line_start(line)
        self.sheet.edits.replace(Span(start, start), *pieces)

    def _clips(self) -> None:
        for clip in self.step.clips:
            call = clip.value
            assert isinstance(call, ast.Call)
            name = self.sheet.names.torch(call.func)
            limit = "max_norm" if name.endswith("norm_") else "clip_value"
            parameters = [("parameters", None), (limit, None), ("norm_type", "2.0")]
            try:
                bound = bind(call, parameters)
            except CannotBind as error:
                raise NotRecognised(message("rewrite.arguments", name=name, argument=str(error))) from None
            value = self.sheet.at.of(bound.given[limit])
            ops = self.sheet.wanted.name("mindspore.ops")
            if limit == "max_norm":
                norm: list[str | Span] = []
                if "norm_type" in bound.given:
                    norm = [", norm_type=", self.sheet.at.of(bound.given["norm_type"])]
                pieces: list[str | Span] = [f"{self.sum} = {ops}.clip_by_norm({self.sum}, ", value, *norm, ")"]
            else:
                pieces = [f"{self.sum} = {ops}.clip_by_value({self.sum}, -(", value, "), ", value, ")"]
            self.sheet.write(call, name, "clip", *pieces)
            self.sheet.settled.update(ast.walk(bound.given["parameters"]))
            self.sheet.settled.add(call)
            self.sheet.settle(call.func)

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
            sheet.edits.prepend(self._lines(outermost), text)
        else:
            sheet.edits.insert(start, text)
