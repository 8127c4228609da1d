"""The text of training steps: functions of the forward pass, clipped gradients, and statements that go."""

from __future__ import annotations

import ast

from trueline.migrate.rewrite.arguments import CannotBind, bind
from trueline.migrate.rewrite.edits import Moved, Span
from trueline.migrate.rewrite.sheet import Sheet
from trueline.migrate.rewrite.training_step import NotRecognised, Step
from trueline.model.message import message

Pieces = list[str | Span | Moved]


def remove(sheet: Sheet, statement: ast.stmt) -> None:
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


def lines_of(sheet: Sheet, statement: ast.stmt) -> Span:
    """A statement's lines."""
    return sheet.at.whole_lines(statement.lineno, statement.end_lineno or statement.lineno)


def forward_function(sheet: Sheet, step: Step, names: tuple[str, str], weights: str, outer: str) -> Pieces:
    """The forward pass as a function, and the one that gives its value and gradients; their names."""
    forward, gradient = names
    inner = sheet.at.indent(step.slice[0].lineno)
    deeper = 0 if step.loop is not None and len(inner) > len(outer) else 4
    body = inner if not deeper else outer + "    "
    found: Pieces = [f"{outer}def {forward}({', '.join(step.takes)}):\n"]
    found.extend(Moved(lines_of(sheet, statement), deeper) for statement in step.slice)
    aux = ", has_aux=True" if len(step.gives) > 1 else ""
    grad = sheet.wanted.name("mindspore.value_and_grad")
    found.append(f"{body}return {', '.join(step.gives)}\n\n")
    found.append(f"{outer}{gradient} = {grad}({forward}, None, {weights}{aux})\n")
    return found


def before_loop(sheet: Sheet, loop: ast.stmt, pieces: Pieces) -> None:
    """Put pieces before a loop, with an empty line above where something stands there."""
    start = sheet.at.line_start(loop.lineno)
    above = sheet.at.lines[loop.lineno - 2].strip() if loop.lineno > 1 else ""
    blank: Pieces = ["\n"] if above and not above.endswith(":") and not above.startswith("#") else []
    sheet.edits.replace(Span(start, start), *blank, *pieces)


def call_text(step: Step, gradient: str, grads: str) -> str:
    """The statement that runs a forward pass and takes its value and gradients."""
    gives = step.gives[0] if len(step.gives) == 1 else f"({', '.join(step.gives)})"
    return f"{gives}, {grads} = {gradient}({', '.join(step.takes)})\n"


def write_clip(sheet: Sheet, clip: ast.Expr | ast.Assign, grads: str) -> None:
    """Write a call that clips gradients, which have a name in the draft."""
    call = clip.value
    assert isinstance(call, ast.Call)
    name = sheet.names.torch(call.func)
    limit = "max_norm" if name.endswith("norm_") else "clip_value"
    parameters = [("parameters", None), (limit, None), ("norm_type", "2.0")]
    try:
        bound = bind(call, parameters)
    except CannotBind as error:
        raise NotRecognised(message("rewrite.arguments", name=name, argument=str(error))) from None
    value = sheet.at.of(bound.given[limit])
    sheet.settled.update(ast.walk(bound.given["parameters"]))
    sheet.settled.add(call)
    sheet.settle(call.func)
    ops = sheet.wanted.name("mindspore.ops")
    if isinstance(clip, ast.Assign):
        if limit != "max_norm" or len(clip.targets) != 1:
            raise NotRecognised(message("rewrite.step_statement", line=clip.lineno))
        pieces: list[str | Span] = [f"{grads}, ", sheet.at.of(clip.targets[0]), " = "]
        pieces += [f"{sheet.wanted.helper('clip_norm')}({grads}, ", value]
        if "norm_type" in bound.given:
            pieces += [", ", sheet.at.of(bound.given["norm_type"])]
        sheet.write(clip, name, "clip_norm", *pieces, ")")
        return
    if limit == "max_norm":
        norm: list[str | Span] = []
        if "norm_type" in bound.given:
            norm = [", norm_type=", sheet.at.of(bound.given["norm_type"])]
        pieces = [f"{grads} = {ops}.clip_by_norm({grads}, ", value, *norm, ")"]
    else:
        pieces = [f"{grads} = {ops}.clip_by_value({grads}, -(", value, "), ", value, ")"]
    sheet.write(call, name, "clip", *pieces)
