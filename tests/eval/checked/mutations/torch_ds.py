"""Faults of the data set in PyTorch projects (ds.01 to ds.04)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from data_torch import getitem_return, inputs_are_numbers, is_classification, label_draws, spots
from editing import Edit, keyword, sources
from planting import Planted, Project, mutation
from reading_torch import calls, settings, text_of_all

SHOWS = ("run", "data")
BALANCED_BY = re.compile(r"WeightedRandomSampler|pos_weight|\bweight=|class_weight|bincount")


def _into_inputs(project: Project, value: str, fetched: str, first: int, every: int) -> Iterator[Planted]:
    """Put a value into all features of every n-th sample: into the array, or into the item as it is fetched."""
    if not inputs_are_numbers(project):
        return
    for spot in spots(project):
        if not (spot.tensors and spot.training_set):
            continue
        samples = tuple(range(first, 64, every))
        edit = spot.edit(project, f"{{x}}[{first}::{every}] = {value}")
        yield edit.planted("ds.01", field="0", samples=samples, shows_in=SHOWS, because=("mp.01", "dp.01"))
    for source in sources(project):
        for node in source.walk(ast.ClassDef):
            assert isinstance(node, ast.ClassDef)
            names = [m.name for m in node.body if isinstance(m, ast.FunctionDef)]
            if "__getitem__" not in names or "__init__" not in names:
                continue
            item = getitem_return(source, node)
            method = source.function(item) if item else None
            if not item or not method or len(method.args.args) != 2:
                continue
            index = method.args.args[1].arg
            stmt = source.statement(item)
            first_element = item.elts[0]
            lines = [f"sample = {source.text_of(first_element)}", f"if {index} % {every} == {first}:"]
            edit = Edit(project).before(source, stmt, *lines, mark=False)
            edit.before(source, stmt, f"    sample = {fetched}")
            edit.replace(source, first_element, "sample", mark=False)
            moved = re.search("random_split|Subset|perm", text_of_all(project))
            samples = () if moved else tuple(range(first, 64, every))
            yield edit.planted("ds.01", field="0", samples=samples, shows_in=SHOWS, because=("mp.01", "dp.01"))


@mutation("ds.01", "torch", "nan-in-some-rows")
def nan_rows(project: Project) -> Iterator[Planted]:
    yield from _into_inputs(project, 'float("nan")', 'sample * float("nan")', 3, 40)


@mutation("ds.01", "torch", "infinite-in-some-rows")
def infinite_rows(project: Project) -> Iterator[Planted]:
    yield from _into_inputs(project, 'float("inf")', "sample / 0.0", 7, 50)


@mutation("ds.01", "torch", "marker-999-left-in")
def marker_rows(project: Project) -> Iterator[Planted]:
    yield from _into_inputs(project, "-999.0", "sample * 0.0 - 999.0", 5, 12)


@mutation("ds.02", "torch", "labels-in-another-order")
def labels_other_order(project: Project) -> Iterator[Planted]:
    if is_classification(project):
        for spot in spots(project):
            if spot.tensors and re.search(r"^import torch\b", spot.source.text, re.MULTILINE):
                edit = spot.edit(project, "{y} = {y}[torch.randperm(len({y}))]")
                yield edit.planted("ds.02", field="1", shows_in=("script", *SHOWS))


@mutation("ds.02", "torch", "every-third-label-of-another-sample")
def labels_partly_wrong(project: Project) -> Iterator[Planted]:
    if is_classification(project):
        for spot in spots(project):
            line = "for i in range(0, len({y}), 3):"
            edit = spot.edit(project, line, "    {y}[i] = {y}[(7 * i + 5) % len({y})]")
            samples = tuple(range(0, 64, 3)) if spot.training_set else ()
            yield edit.planted("ds.02", field="1", samples=samples, shows_in=SHOWS)


@mutation("ds.02", "torch", "duplicates-with-other-labels")
def duplicates(project: Project) -> Iterator[Planted]:
    if is_classification(project):
        for spot in spots(project):
            edit = spot.edit(project, "{x}[31:61] = {x}[0:30]")
            samples = (*range(30), *range(31, 61)) if spot.training_set else ()
            yield edit.planted("ds.02", field="1", samples=samples, shows_in=SHOWS)


@mutation("ds.02", "torch", "label-out-of-range")
def label_out_of_range(project: Project) -> Iterator[Planted]:
    text = text_of_all(project)
    binary = re.search(r"BCEWithLogits|binary_cross_entropy_with_logits", text)
    ignored = re.search(r"cross_entropy|CrossEntropyLoss|NLLLoss", text) and not re.search(r"ignore_index|pad", text)
    if "bincount" in text or not (binary or ignored):
        return
    # Two is outside 0..1; -100 is what cross-entropy silently leaves out. Other values stop the program.
    value = "2" if binary else "-100"
    for spot in spots(project):
        samples = (4, 24, 44) if spot.training_set else ()
        line = "{y}[4::20] = " + value
        if not spot.lists:
            yield spot.edit(project, line).planted("ds.02", field="1", samples=samples, shows_in=("script", *SHOWS))


@mutation("ds.03", "torch", "first-class-nearly-gone")
def class_nearly_gone(project: Project) -> Iterator[Planted]:
    if not is_classification(project) or BALANCED_BY.search(text_of_all(project)) or not inputs_are_numbers(project):
        return
    for spot in spots(project):
        keep = "keep = [i for i in range(len({y})) if int({y}[i]) != 0 or i % 30 == 0]"
        if spot.lists:
            cut = "{x}, {y} = [{x}[i] for i in keep], [{y}[i] for i in keep]"
        else:
            cut = "{x}, {y} = {x}[keep], {y}[keep]"
        lines = (cut, keep) if spot.after else (keep, cut)
        edit = spot.edit(project, *(lines[::-1] if spot.after else lines))
        yield edit.planted("ds.03", field="1", shows_in=SHOWS)


@mutation("ds.03", "torch", "labels-drawn-unevenly")
def labels_drawn_unevenly(project: Project) -> Iterator[Planted]:
    if not is_classification(project) or BALANCED_BY.search(text_of_all(project)):
        return
    for source, node in label_draws(project):
        name = source.text_of(node.targets[0])
        lines = [f"for i in range(len({name})):", f"    {name}[i] = {name}[i] if i % 12 == 5 else 0"]
        edit = Edit(project)
        edit.after(source, node, *lines)
        yield edit.planted("ds.03", field="1", shows_in=SHOWS)


@mutation("ds.03", "torch", "class-weights-dropped")
def class_weights_dropped(project: Project) -> Iterator[Planted]:
    names = ("CrossEntropyLoss", "NLLLoss", "cross_entropy", "nll_loss", "BCEWithLogitsLoss")
    for source, call in calls(project, *names, "binary_cross_entropy_with_logits"):
        weight = keyword(call, "weight") or keyword(call, "pos_weight")
        if weight:
            edit = Edit(project).remove_argument(source, call, weight)
            yield edit.planted("ds.03", field="1", shows_in=("script", *SHOWS))


@mutation("ds.03", "torch", "weighted-sampler-dropped")
def weighted_sampler_dropped(project: Project) -> Iterator[Planted]:
    if "WeightedRandomSampler" not in text_of_all(project):
        return
    for source, call in calls(project, "DataLoader"):
        sampler, shuffle = keyword(call, "sampler"), keyword(call, "shuffle")
        if sampler:
            edit = Edit(project).replace(source, sampler, "shuffle=True")
            if shuffle:
                edit = Edit(project).replace(source, shuffle, "shuffle=True").remove_argument(source, call, sampler)
            yield edit.mark(source, call).planted("ds.03", field="1", shows_in=("script", *SHOWS))


@mutation("ds.04", "torch", "last-quarter-lost")
def last_quarter_lost(project: Project) -> Iterator[Planted]:
    for spot in spots(project):
        if spot.training_set:
            edit = spot.edit(project, "{x}, {y} = {x}[: len({x}) * 3 // 4], {y}[: len({y}) * 3 // 4]")
            yield edit.planted("ds.04", shows_in=("data",))


@mutation("ds.04", "torch", "data-of-another-seed")
def another_seed(project: Project) -> Iterator[Planted]:
    """The data is drawn anew from another seed: the same kind of set, other values."""
    for source, call in calls(project, "default_rng", "manual_seed", "RandomState", "Random"):
        around = source.function(call)
        makes_data = around and re.search(r"data|make|synth|draw|sample|build|load|__init__", around.name)
        if call.args and (makes_data or source.text_of(call.func).startswith("torch.Generator")):
            edit = Edit(project).replace(source, call.args[0], f"{source.text_of(call.args[0])} + 1000")
            yield edit.planted("ds.04", shows_in=("data",))


@mutation("ds.04", "torch", "fewer-samples-made")
def fewer_samples(project: Project) -> Iterator[Planted]:
    for found in settings(project, r"n_train|num_train|train_size|n_samples|num_samples|train_samples|samples"):
        if found.source and found.node and found.value >= 64:
            edit = Edit(project).replace(found.source, found.node, str(int(found.value) - 16))
            yield edit.planted("ds.04", shows_in=("data",))


@mutation("ds.04", "torch", "last-file-lost")
def last_file_lost(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "sorted"):
        if call.args and re.search(r"listdir|glob|iterdir|scandir", source.text_of(call.args[0])):
            edit = Edit(project).replace(source, call, f"{source.text_of(call)}[:-1]")
            yield edit.planted("ds.04", shows_in=("data",))
