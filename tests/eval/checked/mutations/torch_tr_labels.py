"""Labels out of step and wrong axes in PyTorch projects (tr.10, tr.11)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from data_torch import getitem_return, item_methods, spots
from editing import Edit, keyword, last_name, sources
from planting import Planted, Project, mutation
from reading_torch import calls, text_of_all

RUN = ("script", "run")


@mutation("tr.10", "torch", "label-of-the-sample-before")
def label_of_the_one_before(project: Project) -> Iterator[Planted]:
    for source, node, method in item_methods(project):
        item = getitem_return(source, node)
        if not item or len(method.args.args) != 2:
            continue
        index = method.args.args[1].arg
        for part in ast.walk(item.elts[-1]):
            if isinstance(part, ast.Subscript) and source.text_of(part.slice) == index:
                edit = Edit(project).replace(source, part.slice, f"{index} - 1")
                yield edit.planted("tr.10", shows_in=("script", "run", "data"), field="1", because=("ds.02",))


@mutation("tr.10", "torch", "labels-one-further")
def labels_one_further(project: Project) -> Iterator[Planted]:
    """x[:-1] goes with y[1:]: every sample has the label of the next."""
    for spot in spots(project):
        if spot.training_set or not spot.lists:
            edit = spot.edit(project, "{x}, {y} = {x}[:-1], {y}[1:]")
            if not re.search("random_split", text_of_all(project)) or spot.training_set:
                yield edit.planted("tr.10", shows_in=("script", "run", "data"), field="1", because=("ds.02",))


@mutation("tr.10", "torch", "targets-are-the-inputs")
def targets_are_inputs(project: Project) -> Iterator[Planted]:
    """A model of the next element is given the element itself as its target."""
    for source in sources(project):
        for node in source.walk(ast.Tuple, ast.Call):
            parts = node.elts if isinstance(node, ast.Tuple) else node.args if isinstance(node, ast.Call) else []
            if isinstance(node, ast.Call) and last_name(node.func) in ("zip", "cat", "stack"):
                continue  # pairs of neighbours, most often the widths of layers
            texts = [source.text_of(p) for p in parts]
            pairs = [(a, b) for a in texts for b in texts if re.sub(r":-1\]", "1:]", a) == b != a and ":-1]" in a]
            if pairs:
                target = parts[texts.index(pairs[0][1])]
                edit = Edit(project).replace(source, target, pairs[0][0])
                yield edit.planted("tr.10", shows_in=("script", "run", "data"), field="1")


@mutation("tr.10", "torch", "targets-two-further")
def targets_two_further(project: Project) -> Iterator[Planted]:
    """The target is cut a second time: inputs [:-1] against targets [1:] that were already moved."""
    for source in sources(project):
        for node in source.walk(ast.Tuple):
            assert isinstance(node, ast.Tuple)
            texts = [source.text_of(p) for p in node.elts]
            if (
                len(texts) == 2
                and re.fullmatch(r"(\w+)\[:-1\]", texts[0])
                and texts[1] == texts[0].replace(":-1", "1:")
            ):
                name = texts[0].split("[")[0]
                edit = Edit(project).replace(source, node, f"{name}[:-2], {name}[2:]")
                yield edit.planted("tr.10", shows_in=("script", "run", "data"), field="1")


def _axis(call: ast.Call, position: int) -> ast.expr | None:
    """The argument that says the axis, where it is the last one or the one after the batch."""
    given = keyword(call, "dim")
    node = given.value if given else call.args[position] if len(call.args) > position else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return node if node.operand.value == 1 else None
    return node if isinstance(node, ast.Constant) and node.value == 1 else None


@mutation("tr.11", "torch", "softmax-over-the-batch")
def softmax_over_batch(project: Project) -> Iterator[Planted]:
    found = []
    for source, call in calls(project, "softmax", "log_softmax", "Softmax", "LogSoftmax"):
        method = isinstance(call.func, ast.Attribute) and source.text_of(call.func.value) not in (
            "F",
            "torch",
            "nn.functional",
        )
        axis = _axis(call, 0 if method or last_name(call.func)[0].isupper() else 1)
        if axis is not None:
            found.append((bool(re.search("report|sure", source.line(call))), source, axis))
    for _, source, axis in found:
        yield Edit(project).replace(source, axis, "0").planted("tr.11", shows_in=RUN)


@mutation("tr.11", "torch", "scores-normalised-over-the-batch")
def scores_over_batch(project: Project) -> Iterator[Planted]:
    """The class is taken from scores that were normalised along the samples."""
    for source, call in calls(project, "argmax"):
        if (
            isinstance(call.func, ast.Attribute)
            and source.text_of(call.func.value) not in ("torch", "np")
            and _axis(call, 0) is not None
            and re.search(r"==|eq\(|!=", source.text_of(source.statement(call)))
        ):
            new = f"{source.text_of(call.func.value)}.softmax(dim=0)"
            yield Edit(project).replace(source, call.func.value, new).planted("tr.11", shows_in=RUN)


@mutation("tr.11", "torch", "norm-or-sum-over-the-batch")
def norm_over_batch(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "normalize", "norm"):
        axis = keyword(call, "dim")
        if axis and _axis(call, 9) is not None:
            yield Edit(project).replace(source, axis.value, "0").planted("tr.11", shows_in=RUN)
    for source, call in calls(project, "mean"):
        inner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if isinstance(inner, ast.Call) and last_name(inner.func) == "sum" and not call.args:
            axis_node = _axis(inner, 0)
            if axis_node is not None:
                yield Edit(project).replace(source, axis_node, "0").planted("tr.11", shows_in=RUN)
