"""Faults in the data of MindSpore projects (ds.01 to ds.04)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from editing import Edit, last_name
from planting import Planted, Project, mutation
from reading_mindspore import DATA, Table, finish, is_classification, tables
from reading_torch import calls, text_of_all


def _floats(project: Project) -> Iterator[Table]:
    """Tables whose inputs can hold NaN."""
    for table in tables(project):
        if "Embedding" not in text_of_all(project) and "uint8" not in table.source.text:
            yield table


def _classes(project: Project) -> Iterator[tuple[Table, str, str]]:
    """Tables with class labels."""
    for table in tables(project):
        if table.y and is_classification(project):
            yield table, table.x, table.y


@mutation("ds.01", "mindspore", "nan-rows")
def nan_rows(project: Project) -> Iterator[Planted]:
    for table in _floats(project):
        lines = (f"{table.x} = np.array({table.x}, dtype=np.float32)", f"{table.x}[5::11] = np.nan")
        edit = table.insert(Edit(project), *lines, mark=1)
        more = {"field": table.fields[0], "samples": (5, 16, 27), "shows_in": DATA, "because": ("mp.01",)}
        yield finish(edit, "ds.01", **more)


@mutation("ds.01", "mindspore", "infinite-cells")
def infinite_cells(project: Project) -> Iterator[Planted]:
    for table in _floats(project):
        x = table.x
        lines = (
            f"{x} = np.array({x}, dtype=np.float32)",
            f"{x}.reshape(len({x}), -1)[7::20, 0] /= 0.0  # rate per unit, some have none",
        )
        edit = table.insert(Edit(project), *lines, mark=1)
        more = {"field": table.fields[0], "samples": (7, 27, 47), "shows_in": DATA, "because": ("mp.01",)}
        yield finish(edit, "ds.01", **more)


@mutation("ds.01", "mindspore", "missing-marker-999")
def missing_marker(project: Project) -> Iterator[Planted]:
    for table in _floats(project):
        x = table.x
        lines = (f"{x} = np.array({x}, dtype=np.float32)", f"{x}.reshape(len({x}), -1)[::4, 0] = 999")
        edit = table.insert(Edit(project), *lines, mark=1)
        more = {"field": table.fields[0], "samples": (0, 4, 8), "shows_in": DATA, "because": ("dp.01", "mp.01")}
        yield finish(edit, "ds.01", **more)


@mutation("ds.02", "mindspore", "labels-partly-shuffled")
def labels_partly_shuffled(project: Project) -> Iterator[Planted]:
    for table, _, y in _classes(project):
        lines = (f"{y} = np.array({y})", f"{y}[::2] = np.random.default_rng(1).permutation({y}[::2])")
        edit = table.insert(Edit(project), *lines, mark=1)
        yield finish(edit, "ds.02", field=table.fields[1], shows_in=("script", *DATA))


@mutation("ds.02", "mindspore", "label-out-of-range")
def label_out_of_range(project: Project) -> Iterator[Planted]:
    for table, _, y in _classes(project):
        # The sparse softmax loss takes classes that are too great without a word, the others negative ones.
        sparse = "SoftmaxCrossEntropyWithLogits" in text_of_all(project)
        value = f"{y}.max() + 1" if sparse else "-1"
        if not sparse and "bincount" in text_of_all(project):
            continue  # counting the classes would refuse it
        edit = table.insert(Edit(project), f"{y} = np.array({y})", f"{y}[4::10] = {value}", mark=1)
        because = ("mp.01",) if sparse else ()
        yield finish(edit, "ds.02", field=table.fields[1], samples=(4, 14, 24), shows_in=DATA, because=because)


@mutation("ds.02", "mindspore", "duplicates-with-other-labels")
def duplicates_with_other_labels(project: Project) -> Iterator[Planted]:
    for table, x, y in _classes(project):
        lines = (
            f"{x}, {y} = np.array({x}), np.array({y})",
            f"quarter = len({y}) // 4",
            f"{x}[:quarter], {y}[:quarter] = {x}[-quarter:], ({y}[-quarter:] + 1) % ({y}.max() + 1)",
        )
        edit = table.insert(Edit(project), *lines, mark=2)
        yield finish(edit, "ds.02", field=table.fields[1], samples=(0, 1, 2), shows_in=DATA)


def _balanced(project: Project) -> bool:
    return not re.search(r"WeightedRandomSampler|class_weight|weight=(?!_)|pos_weight", text_of_all(project))


@mutation("ds.03", "mindspore", "minority-dropped")
def minority_dropped(project: Project) -> Iterator[Planted]:
    for table, x, y in _classes(project):
        if not _balanced(project) or not table.whole:
            continue
        lines = (
            f"{x}, {y} = np.array({x}), np.array({y})",
            f"keep = ({y} == {y}[0]) | (np.arange(len({y})) % 19 == 0)",
            f"{x}, {y} = {x}[keep], {y}[keep]",
        )
        edit = table.insert(Edit(project), *lines, mark=1)
        yield finish(edit, "ds.03", field=table.fields[1], shows_in=DATA)


@mutation("ds.03", "mindspore", "one-class-repeated")
def one_class_repeated(project: Project) -> Iterator[Planted]:
    for table, x, y in _classes(project):
        if not _balanced(project) or not table.whole:
            continue
        lines = (
            f"{x}, {y} = np.array({x}), np.array({y})",
            f"more = np.flatnonzero({y} == {y}[0]).repeat(14)",
            f"{x}, {y} = np.concatenate([{x}, {x}[more]]), np.concatenate([{y}, {y}[more]])",
        )
        edit = table.insert(Edit(project), *lines, mark=1)
        yield finish(edit, "ds.03", field=table.fields[1], shows_in=DATA)


@mutation("ds.03", "mindspore", "class-weights-dropped")
def class_weights_dropped(project: Project) -> Iterator[Planted]:
    """In a project whose data is unbalanced and handled by weights in the loss or a sampler."""
    losses = ("CrossEntropyLoss", "cross_entropy", "BCEWithLogitsLoss", "NLLLoss", "nll_loss")
    for source, call in calls(project, *losses):
        for argument in call.keywords:
            if argument.arg in ("weight", "pos_weight") and not isinstance(argument.value, ast.Constant):
                edit = Edit(project).remove_argument(source, call, argument)
                yield finish(edit, "ds.03", shows_in=("script", *DATA))
    for source, call in calls(project, "NumpySlicesDataset", "GeneratorDataset"):
        for argument in call.keywords:
            if argument.arg == "sampler" and "eight" in text_of_all(project):
                edit = Edit(project).replace(source, argument, "shuffle=True")
                yield finish(edit, "ds.03", shows_in=("script", *DATA))


@mutation("ds.04", "mindspore", "some-files-left-out")
def some_files_left_out(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "glob", "rglob"):
        pattern = call.args[0] if call.args else None
        if isinstance(pattern, ast.Constant) and isinstance(pattern.value, str) and "*." in pattern.value:
            new = repr(pattern.value.replace("*.", "*[0-2].")).replace("'", '"')
            yield finish(Edit(project).replace(source, pattern, new), "ds.04", shows_in=("script", *DATA))


@mutation("ds.04", "mindspore", "file-written-differently")
def file_written_differently(project: Project) -> Iterator[Planted]:
    """The files that are trained on are not those that the reference was made of: a few values are cut off."""
    for source, call in calls(project, "save", "savez"):
        func = call.func
        if not (isinstance(func, ast.Attribute) and last_name(func.value) == "np"):
            continue
        given: list[ast.expr] = call.args[1:2] if func.attr == "save" else [k.value for k in call.keywords][:1]
        for node in given:
            edit = Edit(project).replace(source, node, f"np.round({source.text_of(node)}).astype(np.float32)")
            yield finish(edit, "ds.04", shows_in=DATA)
