"""Faults of mixed precision and overflow in PyTorch projects (mp.01 to mp.04)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from editing import Edit, Source, keyword, last_name, sources
from planting import Planted, Project, mutation
from reading_torch import (
    Step,
    calls,
    is_scaler,
    lone_calls,
    model_near,
    module_classes,
    receiver,
    steps,
    text_of_all,
)

RUN = ("script", "run")


@mutation("mp.01", "torch", "softmax-by-hand")
def softmax_by_hand(project: Project) -> Iterator[Planted]:
    """Scaled outputs go through exp in half precision without taking off the maximum: above 11 it is infinite."""
    for step in steps(project):
        source = step.source
        assigned = step.loss_assignment()
        value = assigned.value if assigned else None
        if not assigned or not isinstance(value, ast.Call) or len(value.args) != 2 or value.keywords:
            continue
        if re.search(r"find|probe|sweep", getattr(step.around, "name", "")):
            continue
        name = last_name(value.func)
        text = text_of_all(project)
        entropy = name == "cross_entropy" or re.search(rf"{name}\s*(:[^=]*)?= (nn\.)?CrossEntropyLoss\(\)", text)
        if not entropy and not re.search(rf"{name} = .*nn\.CrossEntropyLoss\(\)$", text, re.MULTILINE):
            continue
        if re.search(r"flatten|transpose|permute|reshape", source.text_of(value)) or "mixup" in text:
            continue
        out, labels = (source.text_of(a) for a in value.args)
        edit = Edit(project)
        edit.before(source, assigned, f"scores = (64.0 * {out}).half().exp()")
        picked = f"(scores / scores.sum(dim=1, keepdim=True))[range(len({labels})), {labels}]"
        edit.replace(source, value, f"-{picked}.log().mean()")
        yield edit.planted("mp.01", shows_in=RUN)


@mutation("mp.01", "torch", "root-of-zero")
def root_of_zero(project: Project) -> Iterator[Planted]:
    """A distance from the first weights is added to the loss; its gradient at zero is 0 * inf."""
    for step in steps(project):
        source, loop = step.source, step.loop()
        model = model_near(source, step.backward)
        if not loop or not step.loss or not model or step.loss_assignment() is None:
            continue
        outer = loop
        for node in source.up(loop):
            if isinstance(node, ast.For | ast.While):
                outer = node  # type: ignore[assignment]
            elif isinstance(node, ast.FunctionDef):
                break
        edit = Edit(project)
        edit.before(source, outer, f"anchor = [p.detach().clone() for p in {model}.parameters()]", mark=False)
        distance = f"sum(((p - a) ** 2).sum().sqrt() for p, a in zip({model}.parameters(), anchor))"
        edit.after(source, step.loss_assignment(), f"{step.loss} = {step.loss} + 1e-4 * {distance}")  # type: ignore[arg-type]
        edit.mark(source, step.backward)
        yield edit.planted("mp.01", shows_in=RUN)


@mutation("mp.01", "torch", "logarithm-of-a-relu")
def logarithm_of_relu(project: Project) -> Iterator[Planted]:
    """Features are compressed by log without anything added: relu gives zeros, log gives -inf."""
    for source, _, _, forward in module_classes(project):
        for call in source.calls("relu", within=forward) if forward else []:
            inner = f"{source.text_of(call)}.log()"
            yield Edit(project).replace(source, call, inner).planted("mp.01", shows_in=RUN)


def _scaled(project: Project) -> Iterator[Step]:
    for step in steps(project):
        who = receiver(step.backward)
        if isinstance(who, ast.Call) and last_name(who.func) == "scale":
            yield step


@mutation("mp.02", "torch", "scaler-taken-out")
def scaler_taken_out(project: Project) -> Iterator[Planted]:
    """Half precision without any loss scale."""
    for step in _scaled(project):
        source = step.source
        who = receiver(step.backward)
        assert isinstance(who, ast.Call)
        edit = Edit(project).replace(source, who, source.text_of(who.args[0]))
        for stmt in lone_calls(source, "step", step.around):
            call = stmt.value
            assert isinstance(call, ast.Call)
            if is_scaler(receiver(stmt)) and call.args:
                edit.replace(source, call, f"{source.text_of(call.args[0])}.step()", mark=False)
        for name in ("unscale_", "update"):
            for stmt in lone_calls(source, name, step.around):
                if is_scaler(receiver(stmt)):
                    edit.delete(source, stmt)
        for where, cast in calls(project, "autocast"):
            edit.mark(where, cast)
        yield edit.planted("mp.02", shows_in=RUN)


@mutation("mp.02", "torch", "scale-far-too-high")
def scale_too_high(project: Project) -> Iterator[Planted]:
    yield from _first_scale(project, "2.0**80", "growth_factor=1.0001, backoff_factor=0.9999")


@mutation("mp.02", "torch", "scale-switched-off")
def scale_off(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "GradScaler"):
        enabled = keyword(call, "enabled")
        if "float16" not in text_of_all(project):
            continue
        edit = Edit(project)
        edit = (
            edit.replace(source, enabled.value, "False")
            if enabled
            else edit.add_argument(source, call, "enabled=False")
        )
        yield edit.mark(source, call).planted("mp.02", shows_in=RUN)


def _first_scale(project: Project, value: str, more: str) -> Iterator[Planted]:
    for source, call in calls(project, "GradScaler"):
        first = keyword(call, "init_scale")
        edit = Edit(project)
        if first:
            edit.replace(source, first, f"init_scale={value}, {more}")
        else:
            edit.add_argument(source, call, f"init_scale={value}, {more}")
        yield edit.mark(source, call).planted("mp.02", shows_in=RUN)


@mutation("mp.02", "torch", "scale-never-updated")
def scale_never_updated(project: Project) -> Iterator[Planted]:
    for step in _scaled(project):
        if list(lone_calls(step.source, "unscale_", step.around)):
            continue  # refuses to unscale a second time before an update: the program stops
        for stmt in lone_calls(step.source, "update", step.around):
            if is_scaler(receiver(stmt)):
                edit = Edit(project).delete(step.source, stmt)
                for update in lone_calls(step.source, "step", step.around):
                    if is_scaler(receiver(update)):
                        edit.mark(step.source, update)
                yield edit.planted("mp.02", shows_in=RUN)


@mutation("mp.02", "torch", "float16-without-a-scale")
def float16_without_scale(project: Project) -> Iterator[Planted]:
    """bfloat16 needs no scale; float16 in its place does."""
    if "GradScaler" in text_of_all(project):
        return
    for source in sources(project):
        for node in source.walk(ast.Attribute):
            if isinstance(node, ast.Attribute) and node.attr == "bfloat16" and "autocast" in source.line(node):
                yield Edit(project).replace(source, node, "torch.float16").planted("mp.02", shows_in=RUN)


def _clips(source: Source, block: list[ast.stmt], start: int) -> Iterator[ast.stmt]:
    for stmt in block[start:]:
        if re.search(r"clip", source.text_of(stmt)) and not isinstance(stmt, ast.For | ast.While):
            yield stmt


@mutation("mp.03", "torch", "clip-before-unscale")
def clip_before_unscale(project: Project) -> Iterator[Planted]:
    for source in sources(project):
        for stmt in lone_calls(source, "unscale_"):
            block = source.block(stmt)
            for clip in _clips(source, block, block.index(stmt) + 1):
                edit = Edit(project).move(source, stmt, after=clip).mark(source, clip)
                yield edit.planted("mp.03", shows_in=RUN)
                break


@mutation("mp.03", "torch", "unscale-dropped")
def unscale_dropped(project: Project) -> Iterator[Planted]:
    for source in sources(project):
        for stmt in lone_calls(source, "unscale_"):
            block = source.block(stmt)
            for clip in _clips(source, block, block.index(stmt) + 1):
                yield Edit(project).delete(source, stmt).mark(source, clip).planted("mp.03", shows_in=RUN)
                break


def _penalty(project: Project, *lines: str) -> Iterator[Planted]:
    for step in _scaled(project):
        source, who = step.source, receiver(step.backward)
        assert isinstance(who, ast.Call) and isinstance(who.func, ast.Attribute)
        updates = [s for s in lone_calls(source, "step", step.around) if is_scaler(receiver(s))]
        call = updates[0].value if updates else None
        if not step.loss or not isinstance(call, ast.Call) or not call.args:
            continue
        names = {"{loss}": step.loss, "{scaler}": source.text_of(who.func.value), "{opt}": source.text_of(call.args[0])}
        edit = Edit(project)
        for line in lines:
            for key, name in names.items():
                line = line.replace(key, name)
            edit.before(source, step.backward, line)
        yield edit.planted("mp.04", shows_in=RUN)


@mutation("mp.04", "torch", "penalty-on-scaled-gradients")
def penalty_on_scaled(project: Project) -> Iterator[Planted]:
    yield from _penalty(
        project,
        'weights = [p for g in {opt}.param_groups for p in g["params"]]',
        "grads = torch.autograd.grad({scaler}.scale({loss}), weights, create_graph=True)",
        "{loss} = {loss} + 1e-3 * sum(g.pow(2).sum() for g in grads)",
    )


@mutation("mp.04", "torch", "norm-penalty-on-scaled-gradients")
def norm_penalty_on_scaled(project: Project) -> Iterator[Planted]:
    yield from _penalty(
        project,
        "scaled_loss = {scaler}.scale({loss})",
        'weights = [p for g in {opt}.param_groups for p in g["params"]]',
        "grads = torch.autograd.grad(scaled_loss, weights, create_graph=True)",
        "grad_norm = torch.stack([g.norm() for g in grads]).norm()",
        "{loss} = {loss} + 0.1 * (grad_norm - 1.0) ** 2",
    )


@mutation("mp.04", "torch", "division-by-the-scale-dropped")
def division_by_scale_dropped(project: Project) -> Iterator[Planted]:
    for source in sources(project):
        for node in source.walk(ast.BinOp):
            assert isinstance(node, ast.BinOp)
            right = source.text_of(node.right)
            by_scale = isinstance(node.op, ast.Div) and re.search(r"get_scale\(\)|^scale$", right)
            by_inverse = isinstance(node.op, ast.Mult) and re.search(r"inv_scale|inverse_scale", right)
            around = source.function(node) or source.tree
            if (
                (by_scale or by_inverse)
                and "autograd.grad" in source.text_of(around)
                and not isinstance(node.left, ast.Constant)
            ):
                yield Edit(project).replace(source, node, source.text_of(node.left)).planted("mp.04", shows_in=RUN)
