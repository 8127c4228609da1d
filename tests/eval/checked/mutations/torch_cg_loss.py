"""Wrong losses in PyTorch projects (cg.04)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from editing import Edit, Source, last_name, sources
from planting import Planted, Project, mutation
from reading_torch import calls, module_classes, steps, text_of_all

RUN = ("script", "run")


def _bound(project: Project, classes: tuple[str, ...]) -> set[str]:
    """Names under which a loss of these classes is kept anywhere in the project."""
    found: set[str] = set()
    for source in sources(project):
        for node in source.walk(ast.Assign):
            assert isinstance(node, ast.Assign)
            targets = node.targets[0].elts if isinstance(node.targets[0], ast.Tuple) else [node.targets[0]]
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            for target, value in zip(targets, values, strict=False):
                if isinstance(value, ast.Call) and last_name(value.func) in classes:
                    found.add(last_name(target))
    return found


def _training_losses(
    project: Project, functions: tuple[str, ...], classes: tuple[str, ...]
) -> Iterator[tuple[Source, ast.Call]]:
    """Calls of such a loss, those of training first, that do not stand in an evaluation."""
    names = set(functions) | _bound(project, classes)
    others = re.search(r"MSELoss|mse_loss|kl_div|KLDiv", text_of_all(project))
    if others:
        names = set(functions) | {n for n in names if n not in ("criterion", "loss_fn")}
    trained = {id(s.around) for s in steps(project)}
    found = []
    for source, call in calls(project, *names):
        around = source.function(call) or source.tree
        if len(call.args) >= 2 and not re.search(r"eval|valid|test|score|accuracy", getattr(around, "name", "")):
            inside = source.inside(call, ast.With)
            if not (inside and re.search("no_grad|inference", source.text_of(inside).split("\n")[0])):
                found.append((id(around) not in trained, source, call))
    for _, source, call in sorted(found, key=lambda f: f[0]):
        yield source, call


@mutation("cg.04", "torch", "softmax-before-cross-entropy")
def softmax_before_loss(project: Project) -> Iterator[Planted]:
    for source, call in _training_losses(project, ("cross_entropy",), ("CrossEntropyLoss",)):
        if not re.search("softmax", source.text_of(call)):
            new = f"{_closed(source, call.args[0])}.softmax(dim=1)"
            yield Edit(project).replace(source, call.args[0], new).planted("cg.04", shows_in=RUN)


@mutation("cg.04", "torch", "softmax-in-the-network")
def softmax_in_network(project: Project) -> Iterator[Planted]:
    """The last layer of a classifier is a softmax, and the loss has its own."""
    text = text_of_all(project)
    if not re.search(r"cross_entropy|CrossEntropyLoss", text) or re.search(
        r"softmax\(|Softmax\(|kl_div|KLDiv|generate", text
    ):
        return
    for source, _, _, forward in module_classes(project):
        returns = [r for r in ast.walk(forward) if isinstance(r, ast.Return)] if forward else []
        if len(returns) == 1 and isinstance(returns[0].value, ast.Call):
            called = source.text_of(returns[0].value.func)
            if re.search(
                r"self\.(fc|head|out|classifier|cls|output|linear|lm_head|proj_out|logits|fc2|fc3|net)$", called
            ):
                if re.search(
                    r"encoder|block|attention", source.text_of(source.parents[forward]).split("(")[0], re.IGNORECASE
                ):
                    continue
                value = returns[0].value
                new = f"{source.text_of(value)}.softmax(dim=-1)"
                yield Edit(project).replace(source, value, new).planted("cg.04", shows_in=RUN)
    for source, call in calls(project, "Sequential"):
        last = call.args[-1] if call.args else None
        if source.inside(call, ast.ClassDef) or not isinstance(last, ast.Call) or last_name(last.func) != "Linear":
            continue
        if isinstance(source.parents[call], ast.Assign | ast.Return | ast.Tuple):
            nn = source.text_of(last.func).rsplit("Linear", 1)[0]
            new = f"{source.text_of(last)}, {nn}Softmax(dim=-1)"
            edit = Edit(project).replace(source, last, new, mark=False).mark(source, last)
            yield edit.mark(source, call).planted("cg.04", shows_in=RUN)


@mutation("cg.04", "torch", "sigmoid-before-bce-with-logits")
def sigmoid_before_loss(project: Project) -> Iterator[Planted]:
    functions = ("binary_cross_entropy_with_logits",)
    for source, call in _training_losses(project, functions, ("BCEWithLogitsLoss",)):
        new = f"{_closed(source, call.args[0])}.sigmoid()"
        yield Edit(project).replace(source, call.args[0], new).planted("cg.04", shows_in=RUN)


@mutation("cg.04", "torch", "log-softmax-dropped")
def log_softmax_dropped(project: Project) -> Iterator[Planted]:
    """NLLLoss of raw outputs: it grows without bound below zero."""
    if not re.search(r"NLLLoss|nll_loss", text_of_all(project)):
        return
    for source, call in calls(project, "log_softmax", "LogSoftmax"):
        if last_name(call.func) == "log_softmax" and call.args:
            inner = source.text_of(call.args[0])
            if not inner.startswith("dim") and isinstance(call.func, ast.Attribute):
                if re.fullmatch(r"F|torch|nn\.functional|functional", source.text_of(call.func.value)):
                    yield Edit(project).replace(source, call, inner).planted("cg.04", shows_in=RUN)
                else:
                    value = source.text_of(call.func.value)
                    yield Edit(project).replace(source, call, value).planted("cg.04", shows_in=RUN)


@mutation("cg.04", "torch", "shapes-broadcast-in-the-loss")
def shapes_broadcast(project: Project) -> Iterator[Planted]:
    """Predictions (n, 1) against targets (n,): the squared error is taken over all pairs."""
    text = text_of_all(project)
    if not re.search(r"mse_loss|MSELoss|\.pow\(2\)\.mean|\*\* 2\)\.mean|smooth_l1|l1_loss|huber", text):
        return
    for source, _, _, forward in module_classes(project):
        for call in source.walk(ast.Call, within=forward) if forward else []:
            assert isinstance(call, ast.Call)
            if last_name(call.func) == "squeeze" and isinstance(call.func, ast.Attribute) and call.args:
                if re.search(r"BCE|binary_cross", text):
                    continue
                value = source.text_of(call.func.value)
                yield Edit(project).replace(source, call, value).planted("cg.04", shows_in=RUN, because=("tr.11",))


@mutation("cg.04", "torch", "difference-not-squared")
def difference_not_squared(project: Project) -> Iterator[Planted]:
    """The mean of the differences themselves: it falls without bound."""
    for source, call in _training_losses(project, ("mse_loss",), ("MSELoss",)):
        if len(call.args) >= 2 and isinstance(source.parents[call], ast.Assign | ast.BinOp | ast.Call):
            first, second = (source.text_of(a) for a in call.args[:2])
            new = f"({first} - {second}).mean()"
            yield Edit(project).replace(source, call, new).planted("cg.04", shows_in=RUN)


def _closed(source: Source, node: ast.expr) -> str:
    text = source.text_of(node)
    return text if isinstance(node, ast.Name | ast.Call | ast.Attribute | ast.Subscript) else f"({text})"
