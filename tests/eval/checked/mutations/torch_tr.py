"""Faults of the training step in PyTorch projects: gradients, loss, schedule, decay, optimizer (tr.01 to tr.06)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from editing import Edit, Source, last_name, own_lines, sources
from planting import Planted, Project, mutation
from reading_torch import (
    SCHEDULE,
    optimizer_steps,
    scheduler_steps,
    steps,
    text_of_all,
)

RUN = ("script", "run")


@mutation("tr.01", "torch", "zero-grad-dropped")
def zero_grad_dropped(project: Project) -> Iterator[Planted]:
    for step in steps(project):
        if step.zero_grad and step.update:
            edit = Edit(project).delete(step.source, step.zero_grad)
            edit.mark(step.source, step.backward).mark(step.source, step.update)
            yield edit.planted("tr.01", shows_in=RUN)


@mutation("tr.01", "torch", "zero-grad-once-before-the-loop")
def zero_grad_before_loop(project: Project) -> Iterator[Planted]:
    for step in steps(project):
        loop = step.loop()
        if loop and step.zero_grad in loop.body:
            assert step.zero_grad is not None
            edit = Edit(project).move(step.source, step.zero_grad, before=loop).mark(step.source, step.backward)
            yield edit.planted("tr.01", shows_in=RUN)


@mutation("tr.01", "torch", "zero-grad-between-backward-and-step")
def zero_grad_too_late(project: Project) -> Iterator[Planted]:
    for step in steps(project):
        if step.zero_grad in step.block and step.update in step.block and step.zero_grad.lineno < step.backward.lineno:
            edit = Edit(project).move(step.source, step.zero_grad, before=step.update).mark(step.source, step.update)
            yield edit.planted("tr.01", shows_in=RUN, because=("cg.02",))


@mutation("tr.02", "torch", "loss-made-anew")
def loss_made_anew(project: Project) -> Iterator[Planted]:
    for step in steps(project):
        if step.loss and step.loss_assignment():
            line = f"{step.loss} = torch.tensor({step.loss}.item(), requires_grad=True)"
            if not re.search(r"^import torch\b", step.source.text, re.MULTILINE):
                continue
            edit = Edit(project).before(step.source, step.backward, line).mark(step.source, step.backward)
            yield edit.planted("tr.02", shows_in=RUN, because=("cg.02", "tr.13"))


@mutation("tr.02", "torch", "output-detached-before-the-loss")
def output_detached(project: Project) -> Iterator[Planted]:
    for step in steps(project):
        assigned = step.loss_assignment()
        value = assigned.value if assigned else None
        if isinstance(value, ast.Call) and value.args and not isinstance(value.args[0], ast.Starred):
            first = value.args[0]
            if isinstance(first, ast.Name | ast.Call) and last_name(value.func) not in ("sum", "mean", "autocast"):
                new = f"{step.source.text_of(first)}.detach().requires_grad_()"
                if len(value.args) < 2 or (isinstance(first, ast.Name) and first.id in ("self", "model")):
                    continue
                edit = Edit(project).replace(step.source, first, new)
                yield edit.planted("tr.02", shows_in=RUN, because=("cg.02", "tr.13"))


@mutation("tr.02", "torch", "one-term-as-item")
def one_term_as_item(project: Project) -> Iterator[Planted]:
    for step in steps(project):
        assigned = step.loss_assignment()
        if assigned and isinstance(assigned.value, ast.BinOp) and isinstance(assigned.value.op, ast.Add):
            last = assigned.value.right
            term = last.right if isinstance(last, ast.BinOp) and isinstance(last.op, ast.Mult) else last
            if isinstance(term, ast.Name | ast.Call):
                edit = Edit(project).replace(step.source, term, f"{step.source.text_of(term)}.item()")
                yield edit.planted("tr.02", shows_in=RUN)


def _divided_loss(source: Source, within: ast.AST) -> Iterator[ast.BinOp]:
    for node in source.walk(ast.BinOp, within=within):
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Div)
            and re.search(r"accum|micro|group|chunk", source.text_of(node.right), re.IGNORECASE)
        ):
            yield node


@mutation("tr.03", "torch", "accumulation-not-divided")
def accumulation_not_divided(project: Project) -> Iterator[Planted]:
    for step in steps(project):
        for node in _divided_loss(step.source, step.around):
            if "loss" in step.source.text_of(step.source.statement(node)):
                edit = Edit(project)
                left = step.source.text_of(node.left)
                edit.replace(step.source, node, left).mark(step.source, step.backward)
                yield edit.planted("tr.03", shows_in=RUN)
        for node in step.source.walk(ast.AugAssign, within=step.around):
            assert isinstance(node, ast.AugAssign)
            if isinstance(node.op, ast.Div) and "loss" in last_name(node.target):
                yield (
                    Edit(project)
                    .delete(step.source, node)
                    .mark(step.source, step.backward)
                    .planted("tr.03", shows_in=RUN)
                )


@mutation("tr.03", "torch", "accumulation-added-without-dividing")
def accumulation_added(project: Project) -> Iterator[Planted]:
    if "accum" in text_of_all(project).lower() or "GradScaler" in text_of_all(project):
        return
    for step in steps(project):
        loop = step.loop()
        source = step.source
        if not loop or not step.zero_grad or step.zero_grad not in step.block or step.update not in step.block:
            continue
        if len(optimizer_steps(source, step.around)) > 1 or step.block is not loop.body:
            continue
        assert step.update is not None
        edit = Edit(project)
        counted = isinstance(loop.iter, ast.Call) and last_name(loop.iter.func) == "enumerate"
        if counted and isinstance(loop.target, ast.Tuple):
            index = source.text_of(loop.target.elts[0])
        else:
            index = "micro_step"
            edit.replace(source, loop.target, f"{index}, {_as_item(source, loop.target)}", mark=False)
            edit.replace(source, loop.iter, f"enumerate({source.text_of(loop.iter)})", mark=False)
        # What belongs to the update goes below the condition with it: clipping before, the schedule after.
        first, last = step.block.index(step.backward) + 1, step.block.index(step.update) + 1
        grouped = step.block[first:last]
        grouped += [s for s in scheduler_steps(source, step.around) if s in step.block[last:]]
        if any(isinstance(s, ast.If) for s in grouped) or step.zero_grad in grouped:
            continue
        lines = [line for stmt in [*grouped, step.zero_grad] for line in own_lines(source, stmt)]
        edit.before(source, step.update, f"if ({index} + 1) % 4 == 0:", *(f"    {line}" for line in lines))
        for stmt in [*grouped, step.zero_grad]:
            edit.delete(source, stmt)
        edit.mark(source, step.backward)
        yield edit.planted("tr.03", shows_in=RUN)


def _as_item(source: Source, target: ast.expr) -> str:
    text = source.text_of(target).strip()
    return f"({text.strip('()')})" if isinstance(target, ast.Tuple) else text


def _steps_of_schedule(project: Project) -> Iterator[tuple[Source, ast.Expr]]:
    for source in sources(project):
        for stmt in scheduler_steps(source):
            yield source, stmt


@mutation("tr.04", "torch", "scheduler-never-stepped")
def scheduler_never_stepped(project: Project) -> Iterator[Planted]:
    found = list(_steps_of_schedule(project))
    if len(found) != 1:
        return
    source, stmt = found[0]
    edit = Edit(project).delete(source, stmt)
    for where, node in _schedules_built(project):
        edit.mark(where, node)
    for update in optimizer_steps(source, source.function(stmt)):
        edit.mark(source, update)
    yield edit.planted("tr.04", shows_in=RUN)


def _schedules_built(project: Project) -> Iterator[tuple[Source, ast.AST]]:
    for source in sources(project):
        for node in source.walk(ast.Assign):
            assert isinstance(node, ast.Assign)
            if isinstance(node.value, ast.Call) and SCHEDULE.search(last_name(node.targets[0])):
                yield source, node


@mutation("tr.04", "torch", "scheduler-before-optimizer")
def scheduler_before_optimizer(project: Project) -> Iterator[Planted]:
    for source, stmt in _steps_of_schedule(project):
        block = source.block(stmt)
        before = block[: block.index(stmt)]
        updates = [u for u in optimizer_steps(source) if u in before]
        if updates:
            edit = Edit(project).move(source, stmt, before=updates[0]).mark(source, updates[0])
            yield edit.planted("tr.04", shows_in=RUN)
            continue
        # Stepped once per epoch: moved in front of the loop (or of the call) that trains.
        called = stmt.value
        loops = [n for n in before if isinstance(n, ast.For) and optimizer_steps(source, n)]
        trained = [
            n for n in before if re.search(r"\btrain\w*\(|_train\w*\(|\bfit\w*\(|run_epoch\(", source.text_of(n))
        ]
        trained = [n for n in trained if not isinstance(n, ast.Expr) or ".train(" not in source.text_of(n)]
        if (loops or trained) and isinstance(called, ast.Call) and not called.args:
            first = (loops or trained)[0]
            yield Edit(project).move(source, stmt, before=first).mark(source, first).planted("tr.04", shows_in=RUN)
