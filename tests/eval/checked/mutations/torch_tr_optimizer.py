"""Faults of what the optimizer holds in PyTorch projects: decay and time of building (tr.05, tr.06)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from editing import Edit, first_import, keyword, last_name, own_lines, sources
from planting import Planted, Project, mutation
from reading_torch import OPTIMIZERS, calls, model_near, module_classes, optimizers_built, text_of_all

RUN = ("script", "run")


@mutation("tr.05", "torch", "groups-replaced-by-all-parameters")
def decay_on_everything(project: Project) -> Iterator[Planted]:
    text = text_of_all(project)
    if not re.search(r"weight_decay['\"]?\s*[:=]\s*0(\.0)?\b", text):
        return
    decays = re.findall(r"weight_decay\s*(?::\s*float\s*)?=\s*([\d.e-]+)", text)
    for source, call in calls(project, *OPTIMIZERS):
        if not call.args or re.search(r"\.parameters\(\)$", source.text_of(call.args[0])):
            continue
        model = model_near(source, call)
        if model and not keyword(call, "weight_decay"):
            values = [d for d in decays if float(d) > 0]
            value = values[0] if values else "0.01"
            edit = Edit(project).replace(source, call.args[0], f"{model}.parameters()")
            last = [*call.args, *call.keywords][-1]
            if last is call.args[0]:
                edit = Edit(project).replace(source, last, f"{model}.parameters(), weight_decay={value}")
            else:
                edit.replace(source, last, f"{source.text_of(last)}, weight_decay={value}", mark=False)
            yield edit.mark(source, call).planted("tr.05", shows_in=RUN)


@mutation("tr.05", "torch", "test-for-one-dimension-broken")
def decay_test_broken(project: Project) -> Iterator[Planted]:
    for source in sources(project):
        for node in source.walk(ast.Compare):
            assert isinstance(node, ast.Compare)
            left = source.text_of(node.left)
            right = node.comparators[0]
            if not re.search(r"\.(ndim|dim\(\)|ndimension\(\))$", left) or not isinstance(right, ast.Constant):
                continue
            if "decay" not in source.text_of(source.function(node) or source.tree):
                continue
            # Every parameter now falls on the side that decays.
            new = {("Gt", 1): "> 0", ("GtE", 2): ">= 1", ("Lt", 2): "< 1", ("LtE", 1): "< 1", ("Eq", 1): "== 0"}
            told = new.get((type(node.ops[0]).__name__, right.value))
            inverse = {("Gt", 1), ("GtE", 2)}
            if told:
                edit = Edit(project).replace(source, node, f"{left} {told}")
                # The complementary test, if it is written out, must change with it or parameters appear twice.
                key = (type(node.ops[0]).__name__, right.value)
                for other in source.walk(ast.Compare, within=source.function(node) or source.tree):
                    assert isinstance(other, ast.Compare)
                    if other is not node and re.search(r"\.(ndim|dim\(\))$", source.text_of(other.left)):
                        value = other.comparators[0]
                        mate = (type(other.ops[0]).__name__, getattr(value, "value", None))
                        if mate in new and (mate in inverse) != (key in inverse):
                            edit.replace(source, other, f"{source.text_of(other.left)} {new[mate]}", mark=False)
                yield edit.planted("tr.05", shows_in=RUN)
                break


@mutation("tr.06", "torch", "model-copied-after-the-optimizer")
def model_copied(project: Project) -> Iterator[Planted]:
    yield from _after_optimizer(project, "{model} = copy.deepcopy({model})", "import copy")


@mutation("tr.06", "torch", "model-built-again-after-the-optimizer")
def model_built_again(project: Project) -> Iterator[Planted]:
    yield from _after_optimizer(project, None, None)


def _after_optimizer(project: Project, line: str | None, needed: str | None) -> Iterator[Planted]:
    classes = {node.name for _, node, _, _ in module_classes(project)} | {"Sequential"}
    for source, stmt in optimizers_built(project):
        match = re.search(r"(?<![\w.])(\w+)\.parameters\(\)|\w\((\w+)[,)]", source.text_of(stmt.value))
        if not match:
            continue
        name = match[1] or match[2]
        around = source.function(stmt) or source.tree
        built = [
            n
            for n in source.walk(ast.Assign, within=around)
            if isinstance(n, ast.Assign) and last_name(n.targets[0]) == name and isinstance(n.targets[0], ast.Name)
        ]
        built = [n for n in built if any(last_name(c.func) in classes for c in ast.walk(n) if isinstance(c, ast.Call))]
        if len(built) != 1 or built[0].lineno > stmt.lineno or source.block(built[0]) is not source.block(stmt):
            continue
        lines = [line.format(model=name)] if line else own_lines(source, built[0])
        edit = Edit(project).after(source, stmt, *lines).mark(source, stmt)
        if needed and not re.search(rf"^{needed}$", source.text, re.MULTILINE):
            edit.before(source, first_import(source), needed, mark=False)
        yield edit.planted("tr.06", shows_in=RUN, because=("cg.02",))


@mutation("tr.05", "torch", "second-group-decays-as-well")
def second_group_decays(project: Project) -> Iterator[Planted]:
    """The group of norms and biases is given the decay of the other group."""
    decays = [
        d for d in re.findall(r"weight_decay\s*(?::\s*float\s*)?=\s*([\d.e-]+)", text_of_all(project)) if float(d)
    ]
    for source in sources(project):
        for node in source.walk(ast.List):
            assert isinstance(node, ast.List)
            values = [_decay_of(element) for element in node.elts]
            zero = [v for v in values if isinstance(v, ast.Constant) and v.value == 0]
            other = [v for v in values if v is not None and v not in zero]
            if len(node.elts) == 2 and len(zero) == 1 and (other or decays):
                new = source.text_of(other[0]) if other else decays[0]
                edit = Edit(project).replace(source, zero[0], new).mark(source, source.statement(node))
                yield edit.planted("tr.05", shows_in=RUN)


def _decay_of(element: ast.expr) -> ast.expr | None:
    """The weight decay of a parameter group written as {...} or dict(...)."""
    if isinstance(element, ast.Call):
        given = keyword(element, "weight_decay")
        return given.value if given else None
    if isinstance(element, ast.Dict):
        for key, value in zip(element.keys, element.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == "weight_decay":
                return value
    return None
