"""Faults of the start weights of MindSpore projects (wi.01, wi.02)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from editing import Edit, Source, keyword, last_name, sources
from mindspore_cg import parameter_lists
from planting import Planted, Project, mutation
from reading_mindspore import LAYERS, RUN, finish, ops
from reading_torch import calls

CASCADE = ("cg.02", "hp.01")


def _initialised(project: Project, value: str) -> Edit | None:
    edit = Edit(project)
    found = [(s, c) for s, c in calls(project, *LAYERS) if not keyword(c, "weight_init") and len(c.args) >= 2]
    for source, call in found:
        last = call.args[-1] if not call.keywords else call.keywords[-1]
        edit.replace(source, last, f"{source.text_of(last)}, weight_init={value}", mark=False).mark(source, call)
    return edit if len(found) > 1 else None


@mutation("wi.01", "mindspore", "weight-init-zeros")
def weight_init_zeros(project: Project) -> Iterator[Planted]:
    edit = _initialised(project, '"zeros"')
    if edit:
        yield finish(edit, "wi.01", shows_in=RUN, because=CASCADE)


@mutation("wi.01", "mindspore", "weight-init-constant")
def weight_init_constant(project: Project) -> Iterator[Planted]:
    edit = _initialised(project, "0.05")
    if edit:
        yield finish(edit, "wi.01", shows_in=RUN, because=CASCADE)


@mutation("wi.01", "mindspore", "weights-set-to-zero")
def weights_set_to_zero(project: Project) -> Iterator[Planted]:
    """A loop that was meant for the biases goes over everything."""
    for source, call, name in parameter_lists(project):
        stmt = source.statement(call)
        # A list, not the call itself, may stand at the top of a longer expression; it goes in front of all of it.
        if len(list(calls(project, *LAYERS))) < 2 or not isinstance(stmt, ast.Assign | ast.Expr | ast.Return):
            continue
        edit = Edit(project)
        short = ops(edit, source)
        for line in (f"for param in {name}.get_parameters():", f"    param.set_data({short}.zeros_like(param))"):
            edit.before(source, stmt, line)
        yield finish(edit, "wi.01", shows_in=RUN, because=CASCADE)


def _without_load_asserts(edit: Edit, project: Project) -> Edit:
    """The project's own check of what was loaded goes with the fault: nobody looks any more."""
    for source in sources(project):
        for node in source.walk(ast.Assert):
            if re.search(r"missing|unexpected|extra|not_load|unload", source.text_of(node)):
                assert isinstance(node, ast.Assert)
                edit.delete(source, node)
    return edit


def _loads(project: Project) -> Iterator[tuple[Source, ast.Call]]:
    for source, call in calls(project, "load_param_into_net"):
        if len(call.args) >= 2:
            yield source, call


def _other_names(project: Project, new: str) -> Iterator[Planted]:
    """Load a changed dictionary, not strictly. (A prefix too much would be taken off by MindSpore itself.)"""
    for source, call in _loads(project):
        edit = _without_load_asserts(Edit(project), project)
        strict = keyword(call, "strict_load")
        if strict:
            edit.replace(source, strict.value, "False", mark=False)
        edit.replace(source, call.args[1], new.replace("WEIGHTS", source.text_of(call.args[1]))).mark(source, call)
        yield finish(edit, "wi.02", shows_in=RUN)


@mutation("wi.02", "mindspore", "prefix-that-no-name-has")
def prefix_that_no_name_has(project: Project) -> Iterator[Planted]:
    yield from _other_names(project, '{k: v for k, v in WEIGHTS.items() if k.startswith("network.")}')


@mutation("wi.02", "mindspore", "weights-under-other-names")
def weights_under_other_names(project: Project) -> Iterator[Planted]:
    yield from _other_names(project, '{k.replace("weight", "kernel"): v for k, v in WEIGHTS.items()}')


@mutation("wi.02", "mindspore", "checkpoint-read-but-not-loaded")
def read_but_not_loaded(project: Project) -> Iterator[Planted]:
    for source, call in _loads(project):
        stmt = source.statement(call)
        edit = _without_load_asserts(Edit(project), project).delete(source, stmt)
        around = source.function(stmt)
        reads = list(source.calls("load_checkpoint", within=around or source.tree))
        edit.mark(source, around or stmt)
        for read in reads:
            edit.mark(source, read)
        yield finish(edit, "wi.02", shows_in=RUN)
    for source, call in calls(project, "load_checkpoint"):
        if len(call.args) == 2:
            edit = Edit(project).remove_argument(source, call, call.args[1])
            yield finish(edit, "wi.02", shows_in=RUN)


@mutation("wi.02", "mindspore", "saved-before-it-was-trained")
def saved_before_training(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "save_checkpoint", "save"):
        stmt = source.statement(call)
        block = source.block(stmt)
        at = block.index(stmt)
        before = block[at - 1] if at else None
        if not (isinstance(stmt, ast.Expr) and isinstance(before, ast.Expr) and isinstance(before.value, ast.Call)):
            continue
        if re.search(r"fit|train|run|learn", last_name(before.value.func)):
            edit = Edit(project).move(source, stmt, before=before)
            yield finish(edit, "wi.02", shows_in=RUN)


@mutation("wi.02", "mindspore", "network-made-anew-after-loading")
def made_anew(project: Project) -> Iterator[Planted]:
    """The weights go into a network that is then replaced by a new one."""
    for source in sources(project):
        for node in source.walk(ast.Expr):
            call = node.value if isinstance(node, ast.Expr) else None
            if not (isinstance(call, ast.Call) and re.search(r"^(load|resume|restore)", last_name(call.func))):
                continue
            held = [a for a in call.args if isinstance(a, ast.Name)]
            if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
                held.insert(0, call.func.value)
            block = source.block(node)
            for made in block[: block.index(node)]:
                if not (isinstance(made, ast.Assign) and isinstance(made.value, ast.Call) and len(made.targets) == 1):
                    continue
                known = last_name(made.targets[0]) in [h.id for h in held]
                if known and last_name(made.value.func)[:1].isupper():
                    edit = Edit(project).after(source, node, source.text_of(made))
                    yield finish(edit.mark(source, node), "wi.02", shows_in=RUN)
