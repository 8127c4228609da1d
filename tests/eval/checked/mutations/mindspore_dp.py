"""Faults of the data pipeline of MindSpore projects (dp.01 to dp.05)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from editing import Edit, Source, keyword, last_name, sources
from planting import Planted, Project, mutation
from reading_mindspore import DATA, RUN, finish, in_evaluation_branch, is_evaluation, tables
from reading_torch import calls, text_of_all

ALL = ("script", *DATA)
MEAN = re.compile(r"mean|(?<![a-z])(mu|m|loc|avg|center|centre|shift|low|lo)(?![a-z])", re.IGNORECASE)
FLAG = re.compile(r"^(is_)?(train|training|augment|aug|shuffle)$")


def _without(source: Source, node: ast.List, element: ast.expr) -> str:
    return "[" + ", ".join(source.text_of(e) for e in node.elts if e is not element) + "]"


def _operations(project: Project, *names: str) -> Iterator[tuple[Source, ast.List, ast.expr]]:
    """Elements of a list of transforms."""
    for source, call in calls(project, *names):
        holder = source.parents[call]
        if isinstance(holder, ast.List) and len(holder.elts) > 1:
            yield source, holder, call


@mutation("dp.01", "mindspore", "normalize-dropped")
def normalize_dropped(project: Project) -> Iterator[Planted]:
    for source, holder, _ in _operations(project, "Normalize", "Rescale", "ToTensor"):
        rest = [e for e in holder.elts if not re.search(r"Normalize|Rescale", source.text_of(e))]
        if len(rest) < len(holder.elts) and "Rescale" in source.text_of(holder):
            new = "[" + ", ".join(source.text_of(e) for e in rest) + "]"
            cast = "lambda v: v.astype(np.float32)"
            if "import numpy as np" in source.text:
                new = f"[{cast}{', ' if rest else ''}" + new[1:]
            edit = Edit(project).replace(source, holder, new)
            yield finish(edit, "dp.01", shows_in=RUN)
            return


@mutation("dp.01", "mindspore", "rescale-dropped")
def rescale_dropped(project: Project) -> Iterator[Planted]:
    for source, holder, call in _operations(project, "Rescale"):
        edit = Edit(project).replace(source, holder, _without(source, holder, call))
        yield finish(edit, "dp.01", shows_in=RUN)
    for source in sources(project):
        for node in source.walk(ast.BinOp):
            if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)):
                continue
            if re.fullmatch(r"255(\.0?)?", source.text_of(node.right)):
                edit = Edit(project).replace(source, node, source.text_of(node.left))
                yield finish(edit, "dp.01", shows_in=RUN)


def _standardised(project: Project) -> list[tuple[Source, ast.BinOp]]:
    """Every (a - mean) / deviation outside of the networks."""
    found = []
    for source in sources(project):
        for node in source.walk(ast.BinOp):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and isinstance(node.left, ast.BinOp):
                around = source.function(node)
                if not isinstance(node.left.op, ast.Sub) or (around and around.name == "construct"):
                    continue
                if MEAN.search(source.text_of(node.left.right)):
                    found.append((source, node))
    return found


@mutation("dp.01", "mindspore", "standardise-dropped")
def standardise_dropped(project: Project) -> Iterator[Planted]:
    """Where the raw values are far from unit scale."""
    found = _standardised(project)
    raw = re.search(
        r"uniform\(\s*-?[\d.]+,\s*-?\d{2,}|normal\(\s*-?\d{2,}|exponential\(\d|\b255\b", text_of_all(project)
    )
    if found and raw:
        edit = Edit(project)
        for source, node in found:
            raw_value = node.left.left  # type: ignore[attr-defined]
            text = source.text_of(raw_value)
            edit.replace(source, node, f"({text})" if isinstance(raw_value, ast.BinOp) else text)
        yield finish(edit, "dp.01", shows_in=RUN)


@mutation("dp.01", "mindspore", "times-255")
def times_255(project: Project) -> Iterator[Planted]:
    found = _standardised(project)
    if found:
        edit = Edit(project)
        for source, node in found:
            edit.replace(source, node, f"{source.text_of(node)} * 255.0")
        yield finish(edit, "dp.01", shows_in=ALL, because=("hp.01",))
        return
    plain = [t for t in tables(project) if not any(line.startswith("inputs = ") for line in t.first)]
    if re.search(r"Normalize|Rescale|Embedding|255|uint8", text_of_all(project)) or not plain:
        return
    for source, call in calls(project, "astype"):
        stmt = source.statement(call)
        receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
        if isinstance(stmt, ast.Return) and isinstance(receiver, ast.Name | ast.BinOp) and source.function(call):
            value = stmt.value
            first = value.elts[0] if isinstance(value, ast.Tuple) else value
            if first is call and call.args and "float32" in source.text_of(call.args[0]):
                text = source.text_of(receiver)
                # A sum before .astype stands in parentheses, which are not part of it.
                new = f"({text}) * 255.0" if isinstance(receiver, ast.BinOp) else f"({text} * 255.0)"
                edit = Edit(project).replace(source, receiver, new)
                yield finish(edit, "dp.01", shows_in=ALL, because=("hp.01",))


@mutation("dp.02", "mindspore", "random-at-inference")
def random_at_inference(project: Project) -> Iterator[Planted]:
    for source in sources(project):
        for node in source.walk(ast.IfExp):
            if isinstance(node, ast.IfExp) and re.search(
                r"Random|aug|jitter|flip", source.text_of(node.body), re.IGNORECASE
            ):
                edit = Edit(project).replace(source, node, source.text_of(node.body))
                yield finish(edit, "dp.02", shows_in=RUN)
        for branch in source.walk(ast.If):
            if not isinstance(branch, ast.If) or branch.orelse or not FLAG.match(last_name(branch.test)):
                continue
            if re.search(r"Random|aug|jitter|flip|noise|crop", source.text_of(branch), re.IGNORECASE):
                edit = Edit(project).replace(source, branch.test, "True")
                yield finish(edit, "dp.02", shows_in=RUN)


@mutation("dp.02", "mindspore", "other-statistics-at-inference")
def other_statistics(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "Normalize"):
        around = source.function(call)
        flags = [a.arg for a in around.args.args if FLAG.match(a.arg)] if around else []
        if flags and len(call.args) >= 2:
            edit = Edit(project)
            for argument, other in zip(call.args[:2], ("[0.5]", "[0.5]"), strict=True):
                size = len(argument.elts) if isinstance(argument, ast.List) else 1
                value = other if size == 1 else f"[0.5] * {size}"
                edit.replace(source, argument, f"{source.text_of(argument)} if {flags[0]} else {value}")
            yield finish(edit, "dp.02", shows_in=RUN)
    for source, node in _standardised(project):
        stmt = source.statement(node)
        if isinstance(stmt, ast.Assign) and is_evaluation(source.text_of(stmt.targets[0])):
            name = source.text_of(node.left.left)  # type: ignore[attr-defined]
            edit = Edit(project).replace(source, node, f"({name} - {name}.mean(0)) / {name}.std(0)")
            yield finish(edit, "dp.02", shows_in=RUN)


def _fitted(project: Project) -> Iterator[tuple[Source, ast.Call, str]]:
    """Calls f(rows) of a fitted preprocessing object on evaluation rows, with the object's class."""
    for source in sources(project):
        made: dict[str, str] = {}
        for node in source.walk(ast.Assign):
            if isinstance(node, ast.Assign):
                targets, values = node.targets[0], node.value
                pairs = (
                    zip(targets.elts, values.elts, strict=False)
                    if isinstance(targets, ast.Tuple) and isinstance(values, ast.Tuple)
                    else [(targets, values)]
                )
                for target, value in pairs:
                    if isinstance(value, ast.Call) and re.search("tandard|cale|ormal", last_name(value.func)):
                        made[last_name(target)] = last_name(value.func)
        for call in source.walk(ast.Call):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Name)
                and call.func.id in made
                and len(call.args) == 1
            ):
                stmt = source.statement(call)
                if isinstance(stmt, ast.Assign) and is_evaluation(source.text_of(stmt.targets[0])):
                    yield source, call, made[call.func.id]


@mutation("dp.02", "mindspore", "evaluation-fitted-anew")
def evaluation_fitted_anew(project: Project) -> Iterator[Planted]:
    for source, call, name in _fitted(project):
        rows = source.text_of(call.args[0])
        edit = Edit(project).replace(source, call, f"{name}({rows})({rows})")
        yield finish(edit, "dp.02", shows_in=RUN)


@mutation("dp.02", "mindspore", "evaluation-not-preprocessed")
def evaluation_not_preprocessed(project: Project) -> Iterator[Planted]:
    for source, node in _standardised(project):
        stmt = source.statement(node)
        if isinstance(stmt, ast.Assign) and stmt.value is node and is_evaluation(source.text_of(stmt.targets[0])):
            first = source.text_of(node.left.left)  # type: ignore[attr-defined]
            if first == source.text_of(stmt.targets[0]):
                edit = Edit(project).delete(source, stmt)
                used = [n for n in source.walk(ast.Name) if isinstance(n, ast.Name) and n.id == first]
                later = [n for n in used if n.lineno > stmt.lineno]
                if later:
                    yield finish(edit.mark(source, later[0]), "dp.02", shows_in=RUN)
    for source, call, _ in _fitted(project):
        edit = Edit(project).replace(source, call, f"{source.text_of(call.args[0])}.astype(np.float32)")
        yield finish(edit, "dp.02", shows_in=RUN)


DATASETS = ("NumpySlicesDataset", "GeneratorDataset")


def training_datasets(project: Project) -> Iterator[tuple[Source, ast.Call]]:
    for source, call in calls(project, *DATASETS):
        stmt = source.statement(call)
        around = source.function(call)
        named = source.text_of(stmt).split(last_name(call.func))[0] + (around.name if around else "")
        said = named + " " + " ".join(source.text_of(a) for a in call.args[:1])
        if not is_evaluation(said) and not in_evaluation_branch(source, call):
            yield source, call


def _shuffled(call: ast.Call) -> bool:
    given = keyword(call, "shuffle")
    return not (given and isinstance(given.value, ast.Constant) and given.value.value is False)


@mutation("dp.03", "mindspore", "shuffle-false")
def shuffle_false(project: Project) -> Iterator[Planted]:
    if ".shuffle(" in text_of_all(project):
        return
    for source, call in training_datasets(project):
        given = keyword(call, "shuffle")
        if keyword(call, "sampler") or not _shuffled(call):
            continue
        edit = Edit(project)
        if given:
            edit.replace(source, given.value, "False")
        else:
            edit.add_argument(source, call, "shuffle=False")
        yield finish(edit, "dp.03", shows_in=RUN)


@mutation("dp.03", "mindspore", "shuffle-step-dropped")
def shuffle_step_dropped(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "shuffle"):
        stmt = source.statement(call)
        if (
            not isinstance(call.func, ast.Attribute)
            or isinstance(stmt, ast.Expr)
            or last_name(call.func.value) == "random"
        ):
            continue
        if re.search(r"rng|random", source.text_of(call.func)) or not isinstance(
            stmt, ast.Assign | ast.Return | ast.If
        ):
            continue
        edit = Edit(project)
        for where, made in training_datasets(project):
            if _shuffled(made):
                given = keyword(made, "shuffle")
                if given:
                    edit.replace(where, given.value, "False")
                else:
                    edit.add_argument(where, made, "shuffle=False")
        held = source.text_of(call.func.value)
        if isinstance(stmt, ast.Assign) and stmt.value is call and held == source.text_of(stmt.targets[0]):
            edit.delete(source, stmt)
            for where, made in training_datasets(project):
                edit.mark(where, made)
        else:
            edit.replace(source, call, held).mark(source, stmt)
            # What says that it does not shuffle may be named as well as what no longer does.
            for where, made in training_datasets(project):
                edit.mark(where, made)
        yield finish(edit, "dp.03", shows_in=RUN)


@mutation("dp.03", "mindspore", "generator-without-getitem")
def generator_without_getitem(project: Project) -> Iterator[Planted]:
    text = text_of_all(project)
    for source, call in training_datasets(project):
        given = keyword(call, "shuffle")
        made = call.args[0] if call.args else None
        if last_name(call.func) != "GeneratorDataset" or not isinstance(made, ast.Call) or ".shuffle(" in text:
            continue
        for other in sources(project):
            for node in other.walk(ast.FunctionDef):
                holder = other.parents[node]
                if not (isinstance(node, ast.FunctionDef) and node.name == "__getitem__" and len(node.body) == 1):
                    continue
                if not isinstance(holder, ast.ClassDef) or holder.name != last_name(made.func):
                    continue
                value = node.body[0]
                if isinstance(value, ast.Return) and value.value and not keyword(call, "sampler"):
                    index = node.args.args[1].arg
                    pad = other.indent(node)
                    new = f"def __iter__(self):\n{pad}    for {index} in range(len(self)):\n"
                    new += f"{pad}        yield {other.text_of(value.value)}"
                    edit = Edit(project).replace(other, node, new)
                    if given:
                        edit.remove_argument(source, call, given)
                    else:
                        edit.mark(source, call)
                    yield finish(edit, "dp.03", shows_in=RUN)
