"""Absurd settings in MindSpore projects (hp.01 to hp.03)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from editing import Edit, keyword, sources
from planting import Planted, Project, mutation
from reading_mindspore import RUN, finish, optimizer_calls
from reading_torch import Setting, calls, settings

RATE = r"(base_|max_|peak_|init_|start_)?(lr|learning_rate|rate)(_\w+)?"
EPOCHS = r"(max_|num_|n_|total_|num_train_)?(epochs?|rounds?)"
BATCH = r"(per_device_)?(train_)?(batch|bs|batch_size|batchsize|bsz|per_batch)"


def _positional(project: Project, name: str) -> Iterator[Setting]:
    """Numbers given by position to a function of the project, or to `Model.train`."""
    named: dict[str, list[str]] = {"train": ["epochs", "data"]}
    for source in sources(project):
        for node in source.walk(ast.FunctionDef):
            if isinstance(node, ast.FunctionDef):
                arguments = [a.arg for a in node.args.args if a.arg != "self"]
                named[node.name if node.name != "__init__" else source.parents[node].name] = arguments  # type: ignore
    named["batch"] = ["batch_size"]
    for function, arguments in named.items():
        for source, call in calls(project, function):
            for argument, node in zip(arguments, call.args, strict=False):
                number = isinstance(node, ast.Constant) and type(node.value) in (int, float)
                if number and re.fullmatch(name, argument):
                    yield Setting(source, node, float(node.value))


def _in_files(project: Project, name: str) -> Iterator[Setting]:
    """Numbers of JSON and YAML files, several to a line too."""
    for file, text in project.files.items():
        if not file.endswith(".py"):
            for number, line in enumerate(text.splitlines(), 1):
                for match in re.finditer(r'(?<![\w-])"?([\w-]+)"?\s*:\s*(\d[\d.eE+-]*)', line):
                    if re.fullmatch(name, match[1]):
                        yield Setting(None, None, float(match[2]), file, number)


def _numbers(project: Project, name: str) -> Iterator[Setting]:
    yield from (s for s in settings(project, name) if s.source is not None)
    yield from _in_files(project, name)
    yield from _positional(project, name)


def _set(project: Project, setting: Setting, new: str, code: str, name: str, **more: object) -> Planted:
    if setting.source is not None and setting.node is not None:
        return finish(Edit(project).replace(setting.source, setting.node, new), code, **more)
    lines = project.files[setting.file].splitlines(keepends=True)
    pattern = rf'((?<![\w-])"?{name}"?\s*:\s*)\d[\d.eE+-]*'
    lines[setting.line - 1] = re.sub(pattern, lambda m: m[1] + new, lines[setting.line - 1], count=1)
    files = {**finish(Edit(project), code).files, setting.file: "".join(lines)}
    return Planted(files, code, ((setting.file, setting.line),), **more)  # type: ignore[arg-type]


@mutation("hp.01", "mindspore", "rate-far-too-high")
def rate_far_too_high(project: Project) -> Iterator[Planted]:
    for setting in _numbers(project, RATE):
        if 1e-6 < setting.value < 1:
            yield _set(project, setting, "50.0", "hp.01", RATE, shows_in=RUN, because=("mp.01",))


@mutation("hp.01", "mindspore", "rate-far-too-low")
def rate_far_too_low(project: Project) -> Iterator[Planted]:
    for setting in _numbers(project, RATE):
        if 1e-6 < setting.value < 1:
            yield _set(project, setting, "1.0e-9", "hp.01", RATE, shows_in=RUN, because=("hp.02",))


@mutation("hp.01", "mindspore", "rate-times-1000")
def rate_times_1000(project: Project) -> Iterator[Planted]:
    """A slip in the unit at the optimizer itself (1e0 for 1e-3)."""
    for source, call in optimizer_calls(project):
        rate = keyword(call, "learning_rate")
        if rate and isinstance(rate.value, ast.Constant | ast.Name | ast.Attribute | ast.Subscript):
            text = source.text_of(rate.value)
            made = (
                "lr"
                if isinstance(rate.value, ast.Name) and re.search(rf"\b{text} = (\[|nn\.\w+_lr)", source.text)
                else ""
            )
            if not made:
                edit = Edit(project).replace(source, rate.value, f"{text} * 1000")
                yield finish(edit, "hp.01", shows_in=RUN, because=("mp.01",))


@mutation("hp.02", "mindspore", "one-epoch")
def one_epoch(project: Project) -> Iterator[Planted]:
    for setting in _numbers(project, EPOCHS):
        if 2 <= setting.value <= 100:
            yield _set(project, setting, "1", "hp.02", EPOCHS, shows_in=RUN)


@mutation("hp.02", "mindspore", "epochs-without-end")
def epochs_without_end(project: Project) -> Iterator[Planted]:
    for setting in _numbers(project, EPOCHS):
        if 2 <= setting.value <= 20:
            yield _set(project, setting, "40", "hp.02", EPOCHS, shows_in=RUN)


def _keep_remainders(edit: Edit, project: Project) -> None:
    """A batch larger than the set must not be dropped, or nothing would be trained."""
    for source, call in calls(project, "batch"):
        given = keyword(call, "drop_remainder")
        if given:
            edit.replace(source, given.value, "False", mark=False)


def _with_batch(project: Project, setting: Setting, size: str) -> Planted:
    edit = Edit(project)
    _keep_remainders(edit, project)
    more = {"shows_in": RUN, "because": ("hp.02",)}
    if setting.source is not None and setting.node is not None:
        return finish(edit.replace(setting.source, setting.node, size), "hp.03", **more)
    kept = finish(edit, "hp.03").files
    alone = _set(project, setting, size, "hp.03", BATCH, **more)
    return Planted({**alone.files, **kept}, "hp.03", alone.places, **more)  # type: ignore[arg-type]


@mutation("hp.03", "mindspore", "batch-4096")
def batch_4096(project: Project) -> Iterator[Planted]:
    for setting in _numbers(project, BATCH):
        if 4 <= setting.value <= 256:
            yield _with_batch(project, setting, "4096")


@mutation("hp.03", "mindspore", "whole-set-as-one-batch")
def whole_set(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "batch"):
        held = call.func.value if isinstance(call.func, ast.Attribute) else None
        if call.args and isinstance(held, ast.Name) and not re.search("val|test|eval", held.id):
            edit = Edit(project)
            _keep_remainders(edit, project)
            edit.replace(source, call.args[0], f"{held.id}.get_dataset_size()")
            yield finish(edit, "hp.03", shows_in=RUN, because=("hp.02",))
