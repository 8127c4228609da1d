"""Faults of data processing in PyTorch projects (dp.01 to dp.05)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from data_torch import inputs_are_numbers
from editing import Edit, Source, keyword, last_name, sources
from planting import Planted, Project, mutation
from reading_torch import loaders, lone_calls

RUN = ("script", "run")
STATISTICS = re.compile(
    r"mean|mu|std|sigma|scale|loc|cent|spread|offset|avg|\.m\b|\.s\b|\bm s\b|\blo|min|dev|sd", re.IGNORECASE
)
UNSCALED = re.compile(
    r"\b\d{3,}\.0\b|\* \d{2,}\b|(?<![.\d/])(?<!/ )\d{2,}(?:\.\d)? \* (?:torch|rng|np)|(?<![.\d])\d{2,} \+"
)
HELD_OUT = re.compile(r"val|test|_va\b|va_|\bxv\b|dev|held|eval|_te\b")


def _normalisations(project: Project) -> Iterator[tuple[Source, ast.BinOp, str]]:
    """(a - b) / c outside of losses and models, with the text of a."""
    for source in sources(project):
        for node in source.walk(ast.BinOp):
            assert isinstance(node, ast.BinOp)
            if not isinstance(node.op, ast.Div) or not isinstance(node.left, ast.BinOp):
                continue
            if not isinstance(node.left.op, ast.Sub) or isinstance(node.left.left, ast.Constant):
                continue
            around = source.function(node)
            if around and re.search(r"forward|loss|lr|factor|warm|lambda|linear|cosine|penalty|encode", around.name):
                continue
            words = source.text_of(node.left.right) + " " + source.text_of(node.right)
            constants = [isinstance(n, ast.Constant) for n in (node.left.right, node.right)]
            if constants[0] != constants[1] or isinstance(source.parents[node], ast.BinOp | ast.Compare):
                continue
            if all(constants) or STATISTICS.search(words):
                yield source, node, source.text_of(node.left.left)


def _all_replaced(project: Project, new: str) -> Iterator[Planted]:
    edit = Edit(project)
    found = list(_normalisations(project))
    for source, node, what in found:
        edit.replace(source, node, new.format(what))
    if found and inputs_are_numbers(project):
        yield edit.planted("dp.01", field="0", shows_in=("script", "run", "data"), because=("hp.01",))


@mutation("dp.01", "torch", "normalisation-dropped")
def normalisation_dropped(project: Project) -> Iterator[Planted]:
    # Without large numbers in the making of the data the raw values may be harmless as they are.
    where = "\n".join(t for n, t in project.files.items() if n.endswith(".py") and re.search(r"rand|rng", t))
    if UNSCALED.search(where) and "255" not in where:
        yield from _all_replaced(project, "{}")


@mutation("dp.01", "torch", "scaled-by-255-instead")
def scaled_up_instead(project: Project) -> Iterator[Planted]:
    yield from _all_replaced(project, "{} * 255.0")


@mutation("dp.01", "torch", "division-by-255-dropped")
def division_dropped(project: Project) -> Iterator[Planted]:
    for source in sources(project):
        for node in source.walk(ast.BinOp, ast.Call):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _is_255(node.right):
                old, value = node, source.text_of(node.left)
            elif isinstance(node, ast.Call) and last_name(node.func) in ("div", "div_") and _is_255(node.args[0]):
                assert isinstance(node.func, ast.Attribute)
                old, value = node, source.text_of(node.func.value)
            else:
                continue
            edit = Edit(project).replace(source, old, value)
            yield edit.planted("dp.01", field="0", shows_in=("script", "run", "data"))


def _is_255(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value in (255, 127.5)


@mutation("dp.02", "torch", "held-out-part-not-normalised")
def held_out_raw(project: Project) -> Iterator[Planted]:
    for source, node, what in _normalisations(project):
        if HELD_OUT.search(source.text_of(source.statement(node)).split("TensorDataset")[0] + what):
            stmt = source.statement(node)
            edit = Edit(project)
            if isinstance(stmt, ast.Assign) and source.text_of(stmt.targets[0]) == what and stmt.value is node:
                # x_val = x_val says nothing: the line goes, and the place is where the raw values are used.
                edit.delete(source, stmt)
                later = [n for n in source.walk(ast.Name) if getattr(n, "id", "") == what and n.lineno > stmt.lineno]
                yield edit.mark(source, later[0]).planted("dp.02", shows_in=RUN)
            else:
                yield edit.replace(source, node, what).planted("dp.02", shows_in=RUN)


@mutation("dp.02", "torch", "held-out-part-by-other-numbers")
def held_out_other_numbers(project: Project) -> Iterator[Planted]:
    for source, node, what in _normalisations(project):
        if HELD_OUT.search(source.text_of(source.statement(node)).split("TensorDataset")[0] + what):
            yield Edit(project).replace(source, node, f"({what} - 0.5) / 0.5").planted("dp.02", shows_in=RUN)


@mutation("dp.02", "torch", "normalised-in-training-only")
def normalised_in_training_only(project: Project) -> Iterator[Planted]:
    for source, node, what in _normalisations(project):
        around = source.function(node)
        flags = (
            [a.arg for a in around.args.args if a.arg in ("train", "training", "augment", "is_train")] if around else []
        )
        if flags and isinstance(source.parents[node], ast.Return):
            edit = Edit(project).replace(source, node, f"{source.text_of(node)} if {flags[0]} else {what}")
            yield edit.planted("dp.02", shows_in=RUN)


@mutation("dp.02", "torch", "augmentation-in-evaluation")
def augmentation_in_evaluation(project: Project) -> Iterator[Planted]:
    for source in sources(project):
        for node in source.walk(ast.Call):
            assert isinstance(node, ast.Call)
            for name in ("train", "augment", "training", "is_train", "random", "aug", "jitter", "augmented"):
                flag = keyword(node, name)
                if (
                    flag
                    and isinstance(flag.value, ast.Constant)
                    and flag.value.value is False
                    and (
                        (isinstance(node.func, ast.Name) and node.func.id[:1].isupper())
                        or "data" in last_name(node.func)
                    )
                ):
                    yield Edit(project).replace(source, flag.value, "True").planted("dp.02", shows_in=RUN)


@mutation("dp.02", "torch", "flag-of-augmentation-ignored")
def flag_ignored(project: Project) -> Iterator[Planted]:
    """The test for the flag goes, so that evaluation is augmented as well."""
    flag = r"(self\.)?(train|augment|training|is_train|aug|augmentation)"
    for source in sources(project):
        for node in source.walk(ast.If):
            assert isinstance(node, ast.If)
            text = source.text_of(node.test)
            around = source.function(node)
            if around and around.name in ("forward", "run_epoch", "log"):
                continue
            if re.fullmatch(rf"{flag} and .+", text, re.DOTALL) and isinstance(node.test, ast.BoolOp):
                if re.search(r"rand|random|flip|roll|noise", source.text_of(node)) and not node.orelse:
                    rest = source.text_of(node.test.values[1])
                    yield Edit(project).replace(source, node.test, rest).planted("dp.02", shows_in=RUN)
            elif (
                re.fullmatch(flag, text)
                and not node.orelse
                and re.search(r"rand|random|flip|roll|noise|rng", source.text_of(node))
            ):
                lines = source.text.splitlines()[node.body[0].lineno - 1 : node.end_lineno]
                depth = len(source.indent(node.body[0]))
                edit = Edit(project).before(source, node, *(line[depth:] for line in lines)).delete(source, node)
                yield edit.planted("dp.02", shows_in=RUN)


@mutation("dp.03", "torch", "shuffle-false")
def shuffle_false(project: Project) -> Iterator[Planted]:
    for source, call, training in loaders(project):
        shuffle = keyword(call, "shuffle")
        if training and shuffle and isinstance(shuffle.value, ast.Constant) and shuffle.value.value is True:
            edit = Edit(project).replace(source, shuffle.value, "False").mark(source, call)
            yield edit.planted("dp.03", shows_in=RUN)


@mutation("dp.03", "torch", "shuffle-left-out")
def shuffle_left_out(project: Project) -> Iterator[Planted]:
    for source, call, training in loaders(project):
        shuffle = keyword(call, "shuffle")
        if training and shuffle and isinstance(shuffle.value, ast.Constant) and shuffle.value.value is True:
            yield Edit(project).remove_argument(source, call, shuffle).planted("dp.03", shows_in=RUN)


@mutation("dp.03", "torch", "order-not-drawn")
def order_not_drawn(project: Project) -> Iterator[Planted]:
    """In loops and samplers that draw their own order, the order is left as it is."""
    for source in sources(project):
        for call in source.calls("randperm", "permutation"):
            around = source.inside(call, ast.FunctionDef, ast.For)
            in_iter = isinstance(around, ast.FunctionDef) and around.name in (
                "__iter__",
                "batches",
                "iterate",
                "minibatches",
            )
            if (isinstance(around, ast.For) or in_iter) and call.args:
                library = source.text_of(call.func).split(".")[0]
                new = f"{library if library in ('torch', 'np') else 'np'}.arange({source.text_of(call.args[0])})"
                if library in ("torch", "np"):
                    yield Edit(project).replace(source, call, new).planted("dp.03", shows_in=RUN)
        for stmt in lone_calls(source, "shuffle"):
            around = source.function(stmt)
            if around and around.name in ("__iter__", "batches", "iterate", "minibatches", "_order"):
                edit = Edit(project)
                others = list(lone_calls(source, "shuffle", around))
                for other in others:
                    edit.delete(source, other)
                edit.mark(source, source.block(stmt)[0]).mark(source, around)
                yield edit.planted("dp.03", shows_in=RUN)
                break


@mutation("dp.03", "torch", "sequential-sampler")
def sequential_sampler(project: Project) -> Iterator[Planted]:
    for source, call, training in loaders(project):
        shuffle = keyword(call, "shuffle")
        data = call.args[0] if call.args else None
        if (
            training
            and shuffle
            and data is not None
            and isinstance(data, ast.Name | ast.Attribute)
            and re.search(r"from torch.utils.data import", source.text)
            and source.text_of(shuffle.value) == "True"
        ):
            edit = Edit(project)
            what = f"sampler=torch.utils.data.SequentialSampler({source.text_of(data)})"
            if re.search(r"^import torch$", source.text, re.MULTILINE):
                edit.replace(source, shuffle, what).mark(source, call)
                yield edit.planted("dp.03", shows_in=RUN)
