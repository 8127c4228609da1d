"""Faults of the first weights in PyTorch projects (wi.01, wi.02)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from editing import Edit, Source, first_import, keyword, last_name, sources
from planting import Planted, Project, mutation
from reading_torch import calls, lone_calls, module_classes, parameters_given, receiver, text_of_all

RUN = ("script", "run")
BECAUSE = ("cg.02", "tr.13", "hp.01")


def _before_optimizer(project: Project, line: str) -> Iterator[Planted]:
    """Set every matrix of the model in front of the optimizer."""
    for source, stmt, name in parameters_given(project):
        if "requires_grad" in source.text_of(source.function(stmt) or source.tree) or "load_state_dict" in text_of_all(
            project
        ):
            continue
        if not re.search(r"^import torch\b", source.text, re.MULTILINE):
            continue
        lines = (f"for p in {name}.parameters():", "    if p.dim() > 1:", f"        {line}")
        edit = Edit(project)
        for text in lines:
            edit.before(source, stmt, text)
        yield edit.planted("wi.01", shows_in=RUN, because=BECAUSE)


@mutation("wi.01", "torch", "all-matrices-zero")
def all_zero(project: Project) -> Iterator[Planted]:
    yield from _before_optimizer(project, "torch.nn.init.zeros_(p)")


@mutation("wi.01", "torch", "all-matrices-constant")
def all_constant(project: Project) -> Iterator[Planted]:
    yield from _before_optimizer(project, "torch.nn.init.constant_(p, 0.01)")


@mutation("wi.01", "torch", "initialiser-replaced-by-zeros")
def initialiser_zeros(project: Project) -> Iterator[Planted]:
    """The project's own initialisation sets zeros."""
    drawn = ("normal_", "xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_", "trunc_normal_")
    for source, call in calls(project, *drawn, "orthogonal_", "uniform_"):
        if re.search(r"init\.", source.text_of(call.func)) and call.args:
            what = source.text_of(call.args[0])
            around = source.function(call)
            loop = source.inside(call, ast.For)
            if not re.search(r"weight|\bp\b|param", what) or re.search(r"lora|head|last|out\.", what):
                continue
            if (around and re.search("init|reset", around.name)) or loop:
                where = source.text_of(call.func).rsplit(".", 1)[0]
                edit = Edit(project).replace(source, call, f"{where}.zeros_({what})")
                yield edit.planted("wi.01", shows_in=RUN, because=BECAUSE)


@mutation("wi.01", "torch", "hidden-layer-zero")
def hidden_layer_zero(project: Project) -> Iterator[Planted]:
    """A zero initialisation meant for the last layer stands behind a hidden one."""
    for source, _, made, forward in module_classes(project):
        if not made or not forward:
            continue
        parts = [
            (s, source.text_of(s.targets[0]))
            for s in made.body
            if isinstance(s, ast.Assign) and isinstance(s.value, ast.Call) and last_name(s.value.func) == "Linear"
        ]
        if len(parts) < 2:
            continue
        stmt, target = parts[0]
        if not _feeds_others(source, forward, target):
            continue
        nn = source.text_of(stmt.value.func).rsplit("Linear", 1)[0]  # type: ignore[attr-defined]
        if nn:
            edit = Edit(project).after(source, made.body[-1], f"{nn}init.zeros_({target}.weight)")
            yield edit.planted("wi.01", shows_in=RUN, because=BECAUSE)


def _feeds_others(source: Source, forward: ast.FunctionDef, target: str) -> bool:
    """Whether what this layer gives goes into something else of the network."""
    for call in ast.walk(forward):
        if isinstance(call, ast.Call) and source.text_of(call.func) == target:
            return isinstance(source.parents[call], ast.Assign | ast.Call)
    return False


def _loads(project: Project) -> Iterator[tuple[Source, ast.Expr, ast.Call]]:
    """Statements that load weights into a network (not into an optimizer, a schedule or a scaler)."""
    for source in sources(project):
        for stmt in lone_calls(source, "load_state_dict"):
            name = source.text_of(receiver(stmt))
            call = stmt.value
            assert isinstance(call, ast.Call)
            if call.args and re.search(r"best", source.text_of(call.args[0])):
                continue  # the best state so far is often the present one: nothing would show
            if (
                not re.search(r"opt|sched|scaler|decay|plateau|sampler|ema$|warm|cosine", name, re.IGNORECASE)
                and call.args
            ):
                yield source, stmt, call


@mutation("wi.02", "torch", "names-with-a-prefix-not-strict")
def prefix_not_strict(project: Project) -> Iterator[Planted]:
    for source, _, call in _loads(project):
        state = source.text_of(call.args[0])
        if keyword(call, "strict") and source.text_of(keyword(call, "strict").value) == "False":  # type: ignore[union-attr]
            continue
        edit = Edit(project)
        renamed = f'{{f"module.{{k}}": v for k, v in {state}.items()}}'
        strict = keyword(call, "strict")
        if strict:
            edit.replace(source, strict.value, "False", mark=False)
            edit.replace(source, call.args[0], renamed)
        else:
            edit.replace(source, call.args[0], f"{renamed}, strict=False")
        yield edit.mark(source, call).planted("wi.02", shows_in=RUN)


@mutation("wi.02", "torch", "prefix-kept-not-strict")
def prefix_kept(project: Project) -> Iterator[Planted]:
    """The line that takes the prefix off goes, and strict loading with it."""
    for source, stmt, call in _loads(project):
        around = source.function(stmt) or source.tree
        for node in source.walk(ast.Assign, within=around):
            if isinstance(node, ast.Assign) and re.search(
                r"removeprefix|replace\(.module|\[7:\]", source.text_of(node)
            ):
                edit = Edit(project).delete(source, node)
                strict = keyword(call, "strict")
                if strict:
                    edit.replace(source, strict.value, "False")
                else:
                    edit.replace(source, call.args[0], f"{source.text_of(call.args[0])}, strict=False")
                yield edit.mark(source, call).planted("wi.02", shows_in=RUN)


@mutation("wi.02", "torch", "loaded-into-a-copy")
def loaded_into_copy(project: Project) -> Iterator[Planted]:
    for source, stmt, _call in _loads(project):
        who = receiver(stmt)
        edit = Edit(project).replace(source, who, f"copy.deepcopy({source.text_of(who)})")
        if not re.search(r"^import copy$", source.text, re.MULTILINE):
            edit.before(source, first_import(source), "import copy", mark=False)
        yield edit.planted("wi.02", shows_in=RUN)


@mutation("wi.02", "torch", "only-what-fits-nothing-fits")
def filtered_away(project: Project) -> Iterator[Planted]:
    """Entries are taken by a name that the file does not use; what is missing stays as it was drawn."""
    for source, _, call in _loads(project):
        state = source.text_of(call.args[0])
        edit = Edit(project)
        strict = keyword(call, "strict")
        new = f'{{k: v for k, v in {state}.items() if k.startswith("backbone.network.")}}'
        if strict:
            edit.replace(source, strict.value, "False", mark=False).replace(source, call.args[0], new)
        else:
            edit.replace(source, call.args[0], f"{new}, strict=False")
        yield edit.mark(source, call).planted("wi.02", shows_in=RUN)
