"""Faults of mixed precision and of overflow in MindSpore projects (mp.01 to mp.04)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from editing import Edit, Source, keyword, last_name
from planting import Planted, Project, mutation
from reading_mindspore import RUN, finish, is_graph, loss_calls, need, ops
from reading_torch import calls, settings, text_of_all


def _ms(edit: Edit, source: Source) -> str:
    need(edit, source, "ms", "import mindspore as ms")
    return "ms"


@mutation("mp.01", "mindspore", "temperature-in-half")
def temperature_in_half(project: Project) -> Iterator[Planted]:
    for source, call in loss_calls(project):
        edit = Edit(project)
        ms = _ms(edit, source)
        text = source.text_of(call.args[0])
        edit.replace(source, call.args[0], f"({text}.astype({ms}.float16) / 1e-6).astype({ms}.float32)")
        yield finish(edit, "mp.01", shows_in=RUN)


@mutation("mp.01", "mindspore", "log-of-zero")
def log_of_zero(project: Project) -> Iterator[Planted]:
    """A penalty on the outputs whose logarithm meets zeros."""
    for source, call in loss_calls(project):
        stmt = source.statement(call)
        around = source.function(call)
        inside = any(isinstance(n, ast.Lambda) for n in source.up(call))
        if not isinstance(stmt, ast.Return | ast.Assign) or around is None or inside:
            continue
        edit = Edit(project)
        short = ops(edit, source)
        first = call.args[0]
        name = source.text_of(first)
        if not isinstance(first, ast.Name):
            edit.before(source, stmt, f"scores = {name}", mark=False)
            name = "scores"
        rest = [source.text_of(a) for a in [*call.args[1:], *call.keywords]]
        new = f"{source.text_of(call.func)}({', '.join([name, *rest])})"
        edit.replace(source, call, f"({new} - 1e-3 * {short}.log({short}.relu({name})).mean())")
        yield finish(edit, "mp.01", shows_in=RUN)


@mutation("mp.01", "mindspore", "division-by-zero-deviation")
def zero_deviation(project: Project) -> Iterator[Planted]:
    """Outputs standardised by a deviation that is always zero: it is taken over a single row."""
    for source, call in loss_calls(project):
        first = call.args[0]
        if isinstance(first, ast.Name) and not any(isinstance(n, ast.Lambda) for n in source.up(call)):
            edit = Edit(project)
            new = f"{first.id} / {ops(edit, source)}.std({first.id}[:1], 0)"
            yield finish(edit.replace(source, first, new), "mp.01", shows_in=RUN)


def _unwrap(edit: Edit, project: Project, method: str) -> int:
    """x.scale(loss) -> loss, with a mark."""
    found = 0
    for source, call in calls(project, method):
        if isinstance(call.func, ast.Attribute) and "scaler" in source.text_of(call.func.value) and len(call.args) == 1:
            inner = call.args[0]
            text = source.text_of(inner)
            stmt = source.statement(call)
            if isinstance(stmt, ast.Assign) and stmt.value is call and source.text_of(stmt.targets[0]) == text:
                edit.delete(source, stmt)
            else:
                edit.replace(source, call, text)
            found += 1
    return found


@mutation("mp.02", "mindspore", "loss-not-scaled")
def loss_not_scaled(project: Project) -> Iterator[Planted]:
    """Half precision without a loss scale: both the scaling and its inverse are gone."""
    edit = Edit(project)
    if "float16" in text_of_all(project) and _unwrap(edit, project, "scale"):
        _unwrap(edit, project, "unscale")
        yield finish(edit, "mp.02", shows_in=RUN)
    edit = Edit(project)
    found = False
    for source, call in calls(project, "Model"):
        manager = keyword(call, "loss_scale_manager")
        if manager:
            found = True
            edit.replace(source, manager.value, "None").mark(source, call)
            for other, made in calls(project, "Momentum", "SGD", "Adam", "AdamWeightDecay"):
                scale = keyword(made, "loss_scale")
                if scale:
                    edit.remove_argument(other, made, scale, mark=False)
    if found:
        yield finish(edit, "mp.02", shows_in=("script",))


@mutation("mp.02", "mindspore", "scale-far-too-high")
def scale_far_too_high(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "DynamicLossScaler", "DynamicLossScaleManager"):
        value = keyword(call, "scale_value") or keyword(call, "init_loss_scale")
        if value:
            yield finish(Edit(project).replace(source, value.value, "2**60"), "mp.02", shows_in=RUN, because=("mp.01",))
    for setting in settings(project, r"(loss_)?scale(_value)?"):
        if setting.source is not None and setting.node is not None and setting.value > 8:
            edit = Edit(project).replace(setting.source, setting.node, "1.0e30")
            yield finish(edit, "mp.02", shows_in=RUN, because=("mp.01",))


@mutation("mp.02", "mindspore", "scale-far-too-low")
def scale_far_too_low(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "DynamicLossScaler", "DynamicLossScaleManager"):
        value = keyword(call, "scale_value") or keyword(call, "init_loss_scale")
        if value:
            yield finish(Edit(project).replace(source, value.value, "2"), "mp.02", shows_in=("script",))


@mutation("mp.02", "mindspore", "optimizer-does-not-know-the-scale")
def optimizer_without_scale(project: Project) -> Iterator[Planted]:
    if "drop_overflow_update=False" not in text_of_all(project):
        return
    for source, call in calls(project, "Momentum", "SGD", "Adam", "AdamWeightDecay", "RMSProp"):
        scale = keyword(call, "loss_scale")
        if scale:
            edit = Edit(project).remove_argument(source, call, scale)
            for other, made in calls(project, "FixedLossScaleManager"):
                edit.mark(other, made)
            yield finish(edit, "mp.02", shows_in=RUN, because=("hp.01", "mp.01"))


@mutation("mp.02", "mindspore", "manager-left-at-its-default")
def manager_at_default(project: Project) -> Iterator[Planted]:
    """128 in the manager, another number in the optimizer that has to divide by it."""
    if "drop_overflow_update=False" not in text_of_all(project):
        return
    for source, call in calls(project, "FixedLossScaleManager"):
        if call.args:
            edit = Edit(project).remove_argument(source, call, call.args[0])
            yield finish(edit, "mp.02", shows_in=RUN)


@mutation("mp.02", "mindspore", "half-without-scaler")
def half_without_scaler(project: Project) -> Iterator[Planted]:
    """A float32 project is turned to half precision by one call, and nothing else is done."""
    if re.search(r"float16|amp|Embedding", text_of_all(project)):
        return
    for source, call in loss_calls(project):
        first = call.args[0]
        if not (isinstance(first, ast.Call) and isinstance(first.func, ast.Name) and len(first.args) == 1):
            continue
        for made in source.walk(ast.Assign):
            assert isinstance(made, ast.Assign)
            target, value = made.targets[0], made.value
            network = isinstance(value, ast.Call) and re.match(r"[A-Z]", last_name(value.func))
            if isinstance(target, ast.Name) and target.id == first.func.id and network and len(made.targets) == 1:
                edit = Edit(project)
                ms = _ms(edit, source)
                edit.after(source, made, f"{target.id}.to_float({ms}.float16)")
                edit.replace(source, first, f"{source.text_of(first)}.astype({ms}.float32)", mark=False)
                yield finish(edit, "mp.02", shows_in=("script",))


def _clips(project: Project) -> Iterator[tuple[Source, ast.Call, ast.Assign, ast.Call]]:
    """A clip call and the assignment g = scaler.unscale(g) before it, in one function."""
    for source, clip in calls(project, "clip_by_global_norm", "clip_by_norm", "clip_by_value"):
        around = source.function(clip)
        for call in source.calls("unscale", within=around) if around else []:
            stmt = source.statement(call)
            named = isinstance(stmt, ast.Assign) and stmt.value is call and isinstance(stmt.targets[0], ast.Name)
            if named and clip.args and source.text_of(clip.args[0]) == stmt.targets[0].id:  # type: ignore
                yield source, clip, stmt, call  # type: ignore[misc]


@mutation("mp.03", "mindspore", "clip-before-unscale")
def clip_before_unscale(project: Project) -> Iterator[Planted]:
    for source, clip, stmt, call in _clips(project):
        name = source.text_of(clip.args[0])
        earlier = source.text_of(clip).replace(f"({name},", f"({source.text_of(call.args[0])},")
        edit = Edit(project).replace(source, call.args[0], earlier)
        edit.replace(source, clip, name, mark=False).mark(source, stmt)
        yield finish(edit, "mp.03", shows_in=RUN)


@mutation("mp.03", "mindspore", "unscale-at-the-update")
def unscale_at_the_update(project: Project) -> Iterator[Planted]:
    """Unscaled only when the optimizer is called: what was clipped in between was still scaled."""
    for source, clip, stmt, call in _clips(project):
        name = source.text_of(clip.args[0])
        scaler = source.text_of(call.func)
        edit = Edit(project).delete(source, stmt)
        new = f"{scaler}({source.text_of(clip)})"
        edit.replace(source, clip, new)
        # all_finite may look at the scaled gradients as well, it keeps its argument
        if name == source.text_of(call.args[0]):
            yield finish(edit.mark(source, source.statement(clip)), "mp.03", shows_in=RUN)


@mutation("mp.04", "mindspore", "slope-of-a-scaled-score")
def slope_of_a_scaled_score(project: Project) -> Iterator[Planted]:
    """A function whose gradient goes into a penalty gets the loss scale, the penalty does not divide by it."""
    if is_graph(project) or "penalty" not in text_of_all(project):
        return
    for source, call in calls(project, "grad"):
        for given in call.args[:1]:
            for node in source.walk(ast.FunctionDef):
                if not isinstance(node, ast.FunctionDef) or node.name != last_name(given):
                    continue
                value = node.body[-1].value if isinstance(node.body[-1], ast.Return) else None
                if value is not None:
                    edit = Edit(project).replace(source, value, f"1024.0 * {source.text_of(value)}  # loss scale")
                    yield finish(edit.mark(source, call), "mp.04", shows_in=RUN)


@mutation("mp.04", "mindspore", "penalty-not-divided-by-the-scale")
def penalty_not_divided(project: Project) -> Iterator[Planted]:
    """The slope is multiplied by the scale of the loss where the penalty takes it."""
    if is_graph(project):
        return
    for source, call in calls(project, "scale"):
        around, stmt = source.function(call), source.statement(call)
        scaler = source.text_of(call.func)
        if around is None or not isinstance(stmt, ast.Return) or stmt.value is not call or "scaler" not in scaler:
            continue
        names = [a.arg for a in around.args.args if a.arg != "self"]
        if not names or len(call.args) != 1:
            continue
        edit = Edit(project)
        ms = _ms(edit, source)
        x, loss = names[0], source.text_of(call.args[0])
        inner = re.sub(rf"\b{x}\b", "v", loss)
        edit.before(source, stmt, f"slope = {ms}.grad(lambda v: {scaler}({inner}))({x})")
        edit.replace(source, call.args[0], f"{loss} + 1e-3 * (slope * slope).mean()")
        yield finish(edit, "mp.04", shows_in=RUN)
