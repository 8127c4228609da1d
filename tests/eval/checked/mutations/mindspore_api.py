"""API differences overlooked and modes not set in MindSpore projects (api.01, api.02)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from editing import Edit, Source, keyword
from planting import Planted, Project, mutation
from reading_mindspore import RUN, acts_in_training, finish, mode_calls
from reading_torch import calls


@mutation("api.01", "mindspore", "dropout-given-what-is-kept")
def dropout_given_what_is_kept(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "Dropout", "dropout"):
        share = keyword(call, "p")
        if share is None:
            continue
        if isinstance(share.value, ast.Constant) and 0 < share.value.value < 0.5:
            new = f"{1 - share.value.value:g}"
        elif isinstance(share.value, ast.BinOp) and source.text_of(share.value.left) in ("1", "1.0"):
            new = source.text_of(share.value.right)
        else:
            continue
        yield finish(Edit(project).replace(source, share.value, new), "api.01", shows_in=RUN)


@mutation("api.01", "mindspore", "batchnorm-momentum-of-torch")
def batchnorm_momentum(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "BatchNorm1d", "BatchNorm2d", "BatchNorm3d"):
        momentum = keyword(call, "momentum")
        edit = Edit(project)
        if momentum and isinstance(momentum.value, ast.Constant) and momentum.value.value > 0.5:
            edit.replace(source, momentum.value, f"{1 - momentum.value.value:g}")
        elif not momentum and len(call.args) < 3:
            edit.add_argument(source, call, "momentum=0.1")
        else:
            continue
        yield finish(edit, "api.01", shows_in=("script",))


# Arguments whose default differs from torch's: without them the framework's own value is taken silently.
DIFFERENT = {
    "LeakyReLU": ("alpha",),
    "GELU": ("approximate",),
    "gelu": ("approximate",),
    "RMSProp": ("decay", "epsilon"),
    "LayerNorm": ("epsilon",),
    "Adagrad": ("accum",),
    "leaky_relu": ("alpha",),
    "Embedding": ("embedding_table",),
    "SmoothL1Loss": ("reduction",),
}


@mutation("api.01", "mindspore", "differing-default-left-implicit")
def differing_default(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, *DIFFERENT):
        for argument in call.keywords:
            names = DIFFERENT["".join(source.text_of(call.func).split(".")[-1:])]
            if argument.arg in names:
                edit = Edit(project).remove_argument(source, call, argument)
                yield finish(edit, "api.01", shows_in=("script",))


@mutation("api.01", "mindspore", "padding-left-implicit")
def padding_left_implicit(project: Project) -> Iterator[Planted]:
    """Conv2d pads to `same` unless told otherwise, torch does not pad."""
    for source, call in calls(project, "Conv2d", "Conv1d"):
        mode, padding = keyword(call, "pad_mode"), keyword(call, "padding")
        if not mode or not isinstance(mode.value, ast.Constant):
            continue
        edit = Edit(project)
        if mode.value.value == "same":
            edit.remove_argument(source, call, mode)
        elif mode.value.value == "pad" and padding and source.text_of(padding.value) == "1":
            rest = [a for a in [*call.args, *call.keywords] if a not in (mode, padding)]
            new = f"{source.text_of(call.func)}({', '.join(source.text_of(a) for a in rest)})"
            edit.replace(source, call, new)
        else:
            continue
        yield finish(edit, "api.01", shows_in=("script",))


def _next_places(edit: Edit, source: Source, stmt: ast.stmt) -> Edit:
    """Where a mode that is not set is missed: the loop or statement behind, and the function."""
    block = source.block(stmt)
    behind = block[block.index(stmt) + 1 :]
    loops = [s for s in behind if isinstance(s, ast.For)]
    for node in [*behind[:1], *loops[:1]]:
        edit.mark(source, node)
    around = source.function(stmt)
    if around or not behind:
        edit.mark(source, around or stmt)
    return edit


@mutation("api.02", "mindspore", "training-mode-not-set")
def training_mode_not_set(project: Project) -> Iterator[Planted]:
    found = list(mode_calls(project, True))
    if not acts_in_training(project) or not found:
        return
    edit = Edit(project)
    for source, stmt in found:
        _next_places(edit.delete(source, stmt), source, stmt)
    yield finish(edit, "api.02", shows_in=RUN)


@mutation("api.02", "mindspore", "training-mode-set-once")
def training_mode_set_once(project: Project) -> Iterator[Planted]:
    """In front of the epochs instead of in each: after the first evaluation it is gone."""
    if not acts_in_training(project) or not list(mode_calls(project, False)):
        return
    for source, stmt in mode_calls(project, True):
        loop = source.inside(stmt, ast.For)
        if isinstance(loop, ast.For) and stmt in loop.body and source.function(loop) is source.function(stmt):
            edit = Edit(project).move(source, stmt, before=loop)
            inner = [s for s in loop.body if isinstance(s, ast.For)]
            yield finish(edit.mark(source, inner[0] if inner else loop), "api.02", shows_in=RUN)


@mutation("api.02", "mindspore", "evaluation-mode-not-set")
def evaluation_mode_not_set(project: Project) -> Iterator[Planted]:
    if not acts_in_training(project):
        return
    for source, stmt in mode_calls(project, False):
        if isinstance(source.parents[stmt], ast.If):
            continue
        edit = Edit(project).delete(source, stmt)
        yield finish(_next_places(edit, source, stmt), "api.02", shows_in=RUN, because=("tr.09",))


@mutation("api.02", "mindspore", "evaluation-in-training-mode")
def evaluation_in_training_mode(project: Project) -> Iterator[Planted]:
    if not acts_in_training(project):
        return
    for source, stmt in mode_calls(project, False):
        if isinstance(source.parents[stmt], ast.If) or not isinstance(stmt.value, ast.Call):
            continue
        value = stmt.value.args[0] if stmt.value.args else stmt.value.keywords[0].value
        yield finish(Edit(project).replace(source, value, "True"), "api.02", shows_in=RUN, because=("tr.09",))
