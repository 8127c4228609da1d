"""Absurd hyperparameters in PyTorch projects (hp.01 to hp.03)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from editing import Edit, keyword, last_name
from planting import Planted, Project, mutation
from reading_torch import OPTIMIZERS, Setting, calls, loaders, settings, steps, text_of_all

RATE = r"lr|learning_rate|max_lr|base_lr|lr0|init_lr|peak_lr|start_lr|lr_g|lr_c|lr_max|lr_head|rate|alpha|eta"
EPOCHS = r"epochs|num_epochs|max_epochs|n_epochs|num_train_epochs|nb_epochs|total_epochs|epoch_count|rounds"
BATCH = r"batch_size|batch|bs|train_batch_size|batchsize|per_device_train_batch_size|train_bs|micro_batch|mb_size"


def _set(project: Project, found: Setting, value: str) -> Edit | None:
    edit = Edit(project)
    if found.source and found.node:
        return edit.replace(found.source, found.node, value)
    return None


def _in_file(project: Project, found: Setting, value: str, code: str, because: tuple[str, ...] = ()) -> Planted:
    """A number of a configuration file that is not Python."""
    lines = project.files[found.file].splitlines(keepends=True)
    lines[found.line - 1] = re.sub(r"(:\s*)[-+.\deE]+", rf"\g<1>{value}", lines[found.line - 1], count=1)
    text = "".join(lines)
    return Planted({found.file: text}, code, ((found.file, found.line),), shows_in=("script", "run"), because=because)


def _with_value(
    project: Project, names: str, code: str, value: str, above: float, because: tuple[str, ...] = ()
) -> Iterator[Planted]:
    for found in settings(project, names):
        if found.value <= above:
            continue
        edit = _set(project, found, value)
        if edit is None:
            yield _in_file(project, found, value, code, because)
        else:
            if code == "hp.01":
                _mark_optimizer(project, edit)
            yield edit.planted(code, shows_in=("script", "run"), because=because)


def _mark_optimizer(project: Project, edit: Edit) -> None:
    """Where the rate is used is a good place as well, if there is one such place only."""
    found = list(calls(project, *OPTIMIZERS))
    if len(found) == 1:
        edit.mark(*found[0])


def _rate(project: Project, value: str, factor: str, because: tuple[str, ...]) -> Iterator[Planted]:
    found = list(_with_value(project, RATE, "hp.01", value, 0.0, because))
    yield from found
    if not found:
        for source, call in calls(project, *OPTIMIZERS):
            rate = keyword(call, "lr")
            if rate:
                edit = Edit(project).replace(source, rate.value, f"{source.text_of(rate.value)} * {factor}")
                yield edit.mark(source, call).planted("hp.01", shows_in=("script", "run"), because=because)


@mutation("hp.01", "torch", "rate-absurdly-high")
def rate_high(project: Project) -> Iterator[Planted]:
    yield from _rate(project, "20.0", "2000.0", ("mp.01",))


@mutation("hp.01", "torch", "rate-absurdly-low")
def rate_low(project: Project) -> Iterator[Planted]:
    yield from _rate(project, "1e-10", "1e-8", ("hp.02",))


@mutation("hp.01", "torch", "sign-of-the-exponent-lost")
def exponent_sign(project: Project) -> Iterator[Planted]:
    for found in settings(project, RATE):
        if found.source and found.node:
            text = found.source.text_of(found.node)
            match = re.fullmatch(r"([\d.]+)e-0?([1-6])", text)
            if match:
                edit = _set(project, found, f"{match[1]}e{match[2]}")
                assert edit is not None
                _mark_optimizer(project, edit)
                yield edit.planted("hp.01", shows_in=("script", "run"), because=("mp.01",))


def _epochs(project: Project, change: int | None) -> Iterator[Planted]:
    seen = False
    for found in settings(project, EPOCHS):
        if not 2 <= found.value <= 50:
            continue
        value = "1" if change is None else str(int(found.value) * change)
        edit = _set(project, found, value)
        seen = True
        if edit is None:
            yield _in_file(project, found, value, "hp.02")
        else:
            yield edit.planted("hp.02", shows_in=("script", "run"))
    if seen:
        return
    for step in steps(project):
        source = step.source
        for loop in source.walk(ast.For):
            if not isinstance(loop, ast.For) or "ep" not in source.text_of(loop.target):
                continue
            if isinstance(loop.iter, ast.Call) and last_name(loop.iter.func) == "range" and loop.iter.args:
                last = loop.iter.args[-1]
                first = loop.iter.args[0] if len(loop.iter.args) == 2 else None
                start = first.value if isinstance(first, ast.Constant) else 0
                if isinstance(last, ast.Constant) and isinstance(last.value, int) and isinstance(start, int):
                    value = start + 1 if change is None else start + (last.value - start) * change
                    yield Edit(project).replace(source, last, str(value)).planted("hp.02", shows_in=("script", "run"))


@mutation("hp.02", "torch", "one-epoch-only")
def one_epoch(project: Project) -> Iterator[Planted]:
    # One evaluation says nothing about how the loss goes on: only the number itself can be read.
    yield from (replace(planted, shows_in=("script",)) for planted in _epochs(project, None))


@mutation("hp.02", "torch", "twelve-times-the-epochs")
def many_epochs(project: Project) -> Iterator[Planted]:
    if not re.search(r"patience|early", text_of_all(project)):  # which would stop in time
        yield from (replace(planted, shows_in=("run",)) for planted in _epochs(project, 12))


def _needs_many_batches(project: Project) -> bool:
    """Whether one batch per epoch would leave nothing to do, or stop the program."""
    return bool(
        re.search(r"drop_last=True|accum|% [A-Za-z_.]+ == 0|N_CRITIC|batch_sampler|WINDOW", text_of_all(project))
    )


@mutation("hp.03", "torch", "batch-of-everything")
def batch_of_everything(project: Project) -> Iterator[Planted]:
    if _needs_many_batches(project):
        return
    for source, call, training in loaders(project):
        size = keyword(call, "batch_size")
        node = size.value if size else call.args[1] if len(call.args) > 1 else None
        data = call.args[0] if call.args else None
        if (
            training
            and node is not None
            and data is not None
            and not source.text_of(node).startswith("len(")
            and isinstance(data, ast.Name | ast.Attribute)
        ):
            new = f"len({source.text_of(data)})"
            yield (
                Edit(project).replace(source, node, new).mark(source, call).planted("hp.03", shows_in=("script", "run"))
            )


@mutation("hp.03", "torch", "batch-size-8192")
def batch_size_huge(project: Project) -> Iterator[Planted]:
    if _needs_many_batches(project):
        return
    found = list(_with_value(project, BATCH, "hp.03", "8192", 1))
    for source, call, training in loaders(project):
        size = keyword(call, "batch_size")
        if training and size and isinstance(size.value, ast.Constant):
            yield (
                Edit(project)
                .replace(source, size.value, "8192")
                .mark(source, call)
                .planted("hp.03", shows_in=("script", "run"))
            )
            return
        if training:
            # The number stands elsewhere: take the setting that is not a loader's own argument.
            held_out = {k.value for _, c, t in loaders(project) if not t for k in c.keywords}
            yield from (p for p, s in zip(found, _sizes(project), strict=True) if s.node not in held_out)
            return


def _sizes(project: Project) -> list[Setting]:
    return [s for s in settings(project, BATCH) if s.value > 1]
