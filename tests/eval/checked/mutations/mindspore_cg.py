"""Faults in the network's graph of MindSpore projects (cg.01 to cg.04)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from editing import Edit, Source, last_name, sources
from planting import Planted, Project, mutation
from reading_mindspore import LAYERS, RUN, cells, finish, loss_calls, need, ops, sequentials, top_cells
from reading_torch import calls, text_of_all

RUN_ONLY = ("run",)


def layers(source: Source, init: ast.FunctionDef) -> dict[str, ast.Call]:
    """Attributes of a Cell that a call makes in __init__."""
    found: dict[str, ast.Call] = {}
    for node in source.walk(ast.Assign, within=init):
        assert isinstance(node, ast.Assign)
        targets, values = [node.targets[0]], [node.value]
        if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
            targets, values = node.targets[0].elts, node.value.elts
        for target, value in zip(targets, values, strict=False):
            while isinstance(value, ast.Call) and last_name(value.func) == "to_float":
                value = value.func.value  # type: ignore[attr-defined]
            if isinstance(target, ast.Attribute) and isinstance(value, ast.Call):
                found[target.attr] = value
    return found


def uses(source: Source, construct: ast.FunctionDef, name: str) -> list[ast.Call]:
    """Calls self.name(...) in construct."""
    return [c for c in source.calls(name, within=construct) if source.text_of(c.func) == f"self.{name}"]


def _size(source: Source, call: ast.Call) -> tuple[str, str]:
    return tuple(source.text_of(a) for a in call.args[:2]) if len(call.args) >= 2 else ("", "?")  # type: ignore


@mutation("cg.01", "mindspore", "weights-shared-by-two-layers")
def weights_shared(project: Project) -> Iterator[Planted]:
    """One tensor for two layers of the same size: all of the weight, or else the bias."""
    for source, _, init, _ in cells(project):
        dense = [(n, c) for n, c in layers(source, init).items() if last_name(c.func) == "Dense"]
        for (one, a), (two, b) in pairwise(dense):
            shared = "weight" if _size(source, a) == _size(source, b) else "bias"
            if _size(source, a)[1] != _size(source, b)[1] or "has_bias=False" in source.text_of(a) + source.text_of(b):
                continue
            edit = Edit(project).after(source, init.body[-1], f"self.{two}.{shared} = self.{one}.{shared}")
            yield finish(edit, "cg.01", shows_in=RUN)
    for source, call in sequentials(project):
        dense_at = [(n, a) for n, a in enumerate(call.args) if isinstance(a, ast.Call) and last_name(a.func) == "Dense"]
        stmt = source.statement(call)
        if not isinstance(stmt, ast.Assign) or not isinstance(stmt.targets[0], ast.Name | ast.Attribute):
            continue
        name = source.text_of(stmt.targets[0])
        for (one, a), (two, b) in pairwise(dense_at):
            if _size(source, a)[1] == _size(source, b)[1]:
                yield finish(Edit(project).after(source, stmt, f"{name}[{two}].bias = {name}[{one}].bias"), "cg.01")


@mutation("cg.01", "mindspore", "one-norm-for-both-places")
def one_module_for_both(project: Project) -> Iterator[Planted]:
    """Two layers of the same kind are built, the first is called in both places."""
    for source, _, init, construct in cells(project):
        made = layers(source, init)
        for one, a in made.items():
            for two, b in made.items():
                same = source.text_of(a) == source.text_of(b) and one < two
                called = uses(source, construct, two)
                if same and called and re.search(r"Norm|Dense|Conv|Block", source.text_of(a)):
                    edit = Edit(project).replace(source, called[0].func, f"self.{one}")
                    yield finish(edit, "cg.01", shows_in=RUN, because=("cg.03", "tr.13"))


@mutation("cg.01", "mindspore", "shared-encoder-copied")
def shared_encoder_copied(project: Project) -> Iterator[Planted]:
    """A part that has to serve two inputs with one set of weights gets a second set."""
    for source, _, init, construct in cells(project):
        given = [a.arg for a in init.args.args]
        for node in source.walk(ast.Assign, within=init):
            assert isinstance(node, ast.Assign)
            target = node.targets[0]
            if not isinstance(target, ast.Attribute):
                continue
            made = last_name(node.value.func) if isinstance(node.value, ast.Call) else ""
            passed = isinstance(node.value, ast.Name) and node.value.id in given
            own = passed or made in [c[1].name for c in cells(project)]
            called = uses(source, construct, target.attr)
            if own and len(called) == 2:
                edit = Edit(project)
                need(edit, source, "copy", "import copy")
                edit.after(source, node, f"self.{target.attr}_b = copy.deepcopy(self.{target.attr})")
                edit.replace(source, called[1].func, f"self.{target.attr}_b")
                yield finish(edit, "cg.01", shows_in=RUN_ONLY)


@mutation("cg.01", "mindspore", "output-not-tied")
def output_not_tied(project: Project) -> Iterator[Planted]:
    for source, _, init, construct in cells(project):
        for node in source.walk(ast.Attribute, within=construct):
            text = source.text_of(node)
            if text.endswith(".embedding_table.T"):
                table = text.removesuffix(".T")
                line = f'self.unembed = Parameter(initializer("normal", {table}.shape), name="unembed")'
                edit = Edit(project).after(source, init.body[-1], line).replace(source, node, "self.unembed.T")
                need(edit, source, "Parameter", "from mindspore import Parameter")
                need(edit, source, "initializer", "from mindspore.common.initializer import initializer")
                yield finish(edit, "cg.01", shows_in=RUN_ONLY)


def parameter_lists(project: Project) -> Iterator[tuple[Source, ast.Call, str]]:
    """Every `net.trainable_params()` that goes to an optimizer or to the function that makes it."""
    for source, call in calls(project, "trainable_params"):
        holder = source.parents[call]
        held = call.func.value if isinstance(call.func, ast.Attribute) else None
        known = isinstance(holder, ast.Call) and last_name(holder.func) not in (
            "len",
            "sum",
            "list",
            "enumerate",
            "Tensor",
        )
        if known and held is not None and not isinstance(source.parents[holder], ast.comprehension | ast.For):
            yield source, call, source.text_of(held)


def _deep(project: Project) -> bool:
    return len(list(calls(project, *LAYERS, "LSTM", "GRU", "Embedding"))) > 1


@mutation("cg.02", "mindspore", "first-layer-not-in-the-optimizer")
def first_layer_left_out(project: Project) -> Iterator[Planted]:
    for source, call, _ in parameter_lists(project):
        if not re.search(r"EMA|Tuple", source.text_of(source.parents[call])) and _deep(project):
            edit = Edit(project).replace(source, call, f"{source.text_of(call)}[2:]")
            yield finish(edit, "cg.02", shows_in=RUN)


@mutation("cg.02", "mindspore", "only-the-last-layer-in-the-optimizer")
def only_last_layer(project: Project) -> Iterator[Planted]:
    for source, call, name in parameter_lists(project):
        built = [c for _, c in sequentials(project)]
        if (
            built
            and isinstance(call.func, ast.Attribute)
            and re.search(rf"{re.escape(name)} = nn.Sequential", source.text)
        ):
            edit = Edit(project).replace(source, call.func.value, f"{name}[-1]")
            yield finish(edit, "cg.02", shows_in=RUN)
        for other, node, init, _ in top_cells(project):
            dense = [n for n, c in layers(other, init).items() if last_name(c.func) in LAYERS]
            if dense and len(layers(other, init)) > 1 and re.search(rf"{re.escape(name)} = {node.name}\(", source.text):
                edit = Edit(project).replace(source, call.func, f"{name}.{dense[-1]}.trainable_params")
                yield finish(edit, "cg.02", shows_in=RUN)


@mutation("cg.02", "mindspore", "stop-gradient-in-construct")
def stop_gradient_in_construct(project: Project) -> Iterator[Planted]:
    for source, _, init, construct in cells(project):
        made = layers(source, init)
        for name, layer in made.items():
            weighted = last_name(layer.func) in (*LAYERS, "SequentialCell", "LSTM", "GRU")
            for call in uses(source, construct, name) if weighted else []:
                below = call.args[0] if call.args else None
                inner = isinstance(below, ast.Call) and "self." in source.text_of(below)
                if inner or (isinstance(below, ast.Name) and below.id not in [a.arg for a in construct.args.args]):
                    edit = Edit(project)
                    edit.replace(source, below, f"{ops(edit, source)}.stop_gradient({source.text_of(below)})")
                    yield finish(edit, "cg.02", shows_in=RUN)


@mutation("cg.03", "mindspore", "residual-dropped")
def residual_dropped(project: Project) -> Iterator[Planted]:
    for source, _, _, construct in cells(project):
        for node in source.walk(ast.BinOp, within=construct):
            assert isinstance(node, ast.BinOp)
            added = isinstance(node.op, ast.Add) and isinstance(node.left, ast.Name)
            if added and isinstance(node.right, ast.Call) and "self." in source.text_of(node.right):
                edit = Edit(project).replace(source, node, source.text_of(node.right))
                yield finish(edit, "cg.03", shows_in=("script",))


def _mark_built(edit: Edit, source: Source, construct: ast.FunctionDef, name: str) -> Edit:
    """Where the layer that is left out is built: naming it there is right too, as it is for torch."""
    for node in source.walk(ast.Assign, within=source.parents[construct]):
        assert isinstance(node, ast.Assign)
        if f"self.{name}" in re.findall(r"self\.\w+", source.text_of(node.targets[0])):
            edit.mark(source, node)
    return edit


def _unlinked(project: Project, pattern: str) -> Iterator[tuple[Source, ast.FunctionDef, str]]:
    for source, _, init, construct in cells(project):
        for name, layer in layers(source, init).items():
            if re.search(pattern, last_name(layer.func)) and uses(source, construct, name):
                yield source, construct, name


@mutation("cg.03", "mindspore", "norm-or-activation-never-called")
def never_called(project: Project) -> Iterator[Planted]:
    for source, construct, name in _unlinked(project, r"Norm|^ReLU$|^Tanh$|^GELU$"):
        called = uses(source, construct, name)
        inner = [c for c in called if not any(c in ast.walk(d) for d in called if d is not c)]
        if len(inner) != len(called) or any(len(c.args) != 1 for c in called):
            continue
        edit = Edit(project)
        for call in called:
            edit.replace(source, call, source.text_of(call.args[0]))
        _mark_built(edit, source, construct, name)
        because = ("tr.13",) if "orm" in name or "bn" in name else ()
        yield finish(edit, "cg.03", shows_in=RUN, because=because)


@mutation("cg.03", "mindspore", "layer-jumped-over")
def layer_jumped_over(project: Project) -> Iterator[Planted]:
    """A hidden layer of equal width is built and left out of construct."""
    for source, _, init, construct in cells(project):
        for name, layer in layers(source, init).items():
            sizes = _size(source, layer)
            for call in uses(source, construct, name) if last_name(layer.func) == "Dense" else []:
                stmt = source.statement(call)
                if sizes[0] == sizes[1] and isinstance(stmt, ast.Assign) and len(construct.body) > 1:
                    target = source.text_of(stmt.targets[0])
                    if call.args and source.text_of(call.args[0]) == target:
                        edit = Edit(project).delete(source, stmt).mark(source, construct)
                        behind = construct.body[construct.body.index(stmt) + 1 :] if stmt in construct.body else []
                        edit.mark(source, behind[0]) if behind else None
                        _mark_built(edit, source, construct, name)
                        yield finish(edit, "cg.03", shows_in=RUN, because=("tr.13",))


@mutation("cg.03", "mindspore", "term-not-added")
def term_not_added(project: Project) -> Iterator[Planted]:
    """A parameter of the network's own (positions, bias, scale) is left out of the sum."""
    for source, _, init, construct in cells(project):
        made = [n for n, c in layers(source, init).items() if last_name(c.func) == "Parameter"]
        for node in source.walk(ast.BinOp, within=construct):
            if (
                isinstance(node, ast.BinOp)
                and isinstance(node.op, ast.Add | ast.Mult)
                and last_name(node.right) in made
            ):
                edit = Edit(project).replace(source, node, source.text_of(node.left))
                _mark_built(edit, source, construct, last_name(node.right))
                yield finish(edit, "cg.03", shows_in=RUN, because=("tr.13",))


def wrong_head(project: Project) -> str:
    text = text_of_all(project)
    if re.search(r"BCEWithLogits|binary_cross_entropy_with_logits", text):
        return "sigmoid"
    return "softmax" if re.search(r"CrossEntropy|cross_entropy", text) else ""


@mutation("cg.04", "mindspore", "softmax-or-sigmoid-before-the-loss")
def softmax_before_loss(project: Project) -> Iterator[Planted]:
    kind = wrong_head(project)
    for source, call in loss_calls(project) if kind else []:
        axis = ", axis=-1" if kind == "softmax" else ""
        edit = Edit(project)
        edit.replace(source, call.args[0], f"{ops(edit, source)}.{kind}({source.text_of(call.args[0])}{axis})")
        yield finish(edit, "cg.04", shows_in=RUN)


@mutation("cg.04", "mindspore", "network-ends-in-softmax-or-sigmoid")
def network_ends_in_softmax(project: Project) -> Iterator[Planted]:
    kind = wrong_head(project)
    axis = ", axis=-1" if kind == "softmax" else ""
    for source, call in sequentials(project) if kind else []:
        around = source.function(call)
        generates = around is not None and re.search("gen|dec", around.name)  # may well end in a sigmoid
        if last_name(getattr(call.args[-1], "func", call)) == "Dense" and not generates:
            layer = "nn.Softmax(axis=-1)" if kind == "softmax" else "nn.Sigmoid()"
            last = call.args[-1]
            edit = Edit(project).replace(source, last, f"{source.text_of(last)}, {layer}").mark(source, call)
            yield finish(edit, "cg.04", shows_in=RUN)
    for source, _, _, construct in top_cells(project) if kind else []:
        value = construct.body[-1].value if isinstance(construct.body[-1], ast.Return) else None
        if isinstance(value, ast.Call) and not re.search("softmax|sqrt|sigmoid", source.text_of(value)):
            edit = Edit(project)
            edit.replace(source, value, f"{ops(edit, source)}.{kind}({source.text_of(value)}{axis})")
            yield finish(edit, "cg.04", shows_in=RUN)


@mutation("cg.04", "mindspore", "probabilities-into-nll")
def probabilities_into_nll(project: Project) -> Iterator[Planted]:
    if re.search(r"NLLLoss|nll_loss", text_of_all(project)):
        for source in sources(project):
            for call in source.calls("log_softmax", "LogSoftmax"):
                new = source.text_of(call.func).replace("log_softmax", "softmax").replace("LogSoftmax", "Softmax")
                yield finish(Edit(project).replace(source, call.func, new), "cg.04", shows_in=RUN)
