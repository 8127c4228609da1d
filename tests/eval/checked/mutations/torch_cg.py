"""Faults of the computing graph in PyTorch projects (cg.01 to cg.04)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from editing import Edit, Source, last_name, sources
from planting import Planted, Project, mutation
from reading_torch import calls, module_classes, parameters_given

RUN = ("script", "run")
SAME_SHAPE = re.compile(r"LayerNorm|BatchNorm|GroupNorm|InstanceNorm|Dropout|RMSNorm")


@mutation("cg.01", "torch", "one-layer-many-times")
def one_layer_many_times(project: Project) -> Iterator[Planted]:
    """[Block() for _ in range(n)] becomes [Block()] * n: all are one object."""
    for source, call in calls(project, "ModuleList", "Sequential"):
        for node in call.args:
            inner = node.value if isinstance(node, ast.Starred) else node
            if not isinstance(inner, ast.GeneratorExp | ast.ListComp) or len(inner.generators) != 1:
                continue
            loop = inner.generators[0]
            names = {n.id for n in ast.walk(inner.elt) if isinstance(n, ast.Name)}
            if (
                isinstance(loop.target, ast.Name)
                and loop.target.id not in names
                and isinstance(loop.iter, ast.Call)
                and last_name(loop.iter.func) == "range"
                and len(loop.iter.args) == 1
            ):
                count = source.text_of(loop.iter.args[0])
                text = f"[{source.text_of(inner.elt)}] * {count}"
                if source.text_of(inner).startswith("("):  # the brackets of f(x for x in y) belong to the generator
                    text = f"({text})"
                edit = Edit(project).replace(source, inner, text).mark(source, source.statement(call))
                yield edit.planted("cg.01", shows_in=RUN)


@mutation("cg.01", "torch", "second-layer-is-the-first")
def second_is_first(project: Project) -> Iterator[Planted]:
    """Of two layers built alike, the second becomes a name for the first."""
    for source, _, made, _ in module_classes(project):
        seen: dict[str, str] = {}
        for stmt in made.body if made else []:
            if not isinstance(stmt, ast.Assign) or not isinstance(stmt.value, ast.Call):
                continue
            text, target = source.text_of(stmt.value), source.text_of(stmt.targets[0])
            if re.match(r"(nn\.)?(Linear|Conv|LayerNorm|BatchNorm|Embedding|GRU|LSTM)|[A-Z]\w+\(", text):
                if text in seen and target.startswith("self.") and not re.search(r"Dropout|ReLU|GELU|Loss|Tanh", text):
                    yield Edit(project).replace(source, stmt.value, seen[text]).planted("cg.01", shows_in=RUN)
                seen.setdefault(text, target)


@mutation("cg.01", "torch", "copy-is-the-model-itself")
def copy_is_the_model(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "deepcopy"):
        text = source.text_of(call.args[0])
        if re.search(r"model|net|module|student|encoder|critic", text) and "state_dict" not in text:
            stmt = source.statement(call)
            if isinstance(stmt, ast.Assign) and "requires_grad" in source.text_of(source.function(call) or source.tree):
                continue  # the copy is frozen afterwards: the model would be as well
            yield Edit(project).replace(source, call, text).planted("cg.01", shows_in=RUN)


@mutation("cg.01", "torch", "branches-not-shared")
def branches_not_shared(project: Project) -> Iterator[Planted]:
    """A module called twice (siamese) gets a second set of weights for its second call."""
    for source, _, made, forward in module_classes(project):
        if not made or not forward:
            continue
        assigned = {
            source.text_of(s.targets[0]): s
            for s in made.body
            if isinstance(s, ast.Assign) and isinstance(s.value, ast.Call) and len(s.targets) == 1
        }
        used: dict[str, list[ast.Call]] = {}
        for call in source.walk(ast.Call, within=forward):
            assert isinstance(call, ast.Call)
            used.setdefault(source.text_of(call.func), []).append(call)
        for name, found in used.items():
            if name in assigned and len(found) == 2 and not re.search(r"drop|act|relu|pool|norm", name):
                value = source.text_of(assigned[name].value)
                if not re.match(r"(nn\.)?(Linear|Conv|Sequential)|[A-Z]\w+\(", value) or "Dropout(" in value[:12]:
                    continue
                edit = Edit(project).after(source, assigned[name], f"{name}_b = {value}")
                edit.replace(source, found[1].func, f"{name}_b")
                yield edit.planted("cg.01", shows_in=())


def _first_part(project: Project, source: Source, name: str, last: bool = False) -> str | None:
    """An attribute (or index) of the model that holds weights: its first part, or its last."""
    built = [
        n
        for n in source.walk(ast.Assign)
        if isinstance(n, ast.Assign) and source.text_of(n.targets[0]) == name and isinstance(n.value, ast.Call)
    ]
    for stmt in built:
        outer = stmt.value
        while (
            isinstance(outer, ast.Call)
            and isinstance(outer.func, ast.Attribute)
            and isinstance(outer.func.value, ast.Call)
        ):
            outer = outer.func.value  # Net().to(device)
        for call in [outer]:
            if not isinstance(call, ast.Call):
                continue
            if last_name(call.func) == "Sequential" and len(call.args) > 2:
                indexes = [
                    i
                    for i, a in enumerate(call.args)
                    if isinstance(a, ast.Call) and re.search(r"Linear|Conv", last_name(a.func))
                ]
                if len(indexes) > 1:
                    return f"{name}[{indexes[-1] if last else indexes[0]}]"
            for _, node, made, _ in module_classes(project):
                if node.name == last_name(call.func) and made:
                    parts = [
                        s.targets[0].attr
                        for s in made.body
                        if isinstance(s, ast.Assign)
                        and isinstance(s.targets[0], ast.Attribute)
                        and isinstance(s.value, ast.Call)
                        and re.match(
                            r"(nn\.)?(Linear|Conv|Sequential|Embedding|ModuleList|GRU|LSTM)|[A-Z]\w+$", _name(s.value)
                        )
                        and not re.search(
                            r"Dropout|ReLU|GELU|Norm|Tanh|Loss|Pool|Flatten|Parameter|ELU", _name(s.value)
                        )
                    ]
                    if len(parts) > 1:
                        return f"{name}.{parts[-1] if last else parts[0]}"
    return None


def _name(call: ast.Call) -> str:
    return last_name(call.func)


@mutation("cg.02", "torch", "first-part-frozen-but-in-the-optimizer")
def first_part_frozen(project: Project) -> Iterator[Planted]:
    for source, stmt, name in parameters_given(project):
        part = _first_part(project, source, name)
        if part:
            lines = (f"for p in {part}.parameters():", "    p.requires_grad = False")
            yield (
                Edit(project)
                .before(source, stmt, lines[0])
                .before(source, stmt, lines[1])
                .mark(source, stmt)
                .planted("cg.02", shows_in=RUN, because=("tr.13",))
            )


@mutation("cg.02", "torch", "only-the-head-in-the-optimizer")
def only_head_in_optimizer(project: Project) -> Iterator[Planted]:
    for source, stmt, name in parameters_given(project):
        part = _first_part(project, source, name, last=True)
        for call in ast.walk(stmt.value):
            if isinstance(call, ast.Call) and source.text_of(call) == f"{name}.parameters()" and part:
                yield Edit(project).replace(source, call, f"{part}.parameters()").planted("cg.02", shows_in=RUN)


@mutation("cg.02", "torch", "detached-in-forward")
def detached_in_forward(project: Project) -> Iterator[Planted]:
    """What comes before the last layer of a network gets no gradient."""
    for source, node, made, forward in module_classes(project):
        if not made or not forward or re.search(r"detach\(\)|no_grad", source.text_of(node)):
            continue
        inputs = {a.arg for a in forward.args.args}
        for stmt in source.walk(ast.Return, within=forward):
            assert isinstance(stmt, ast.Return)
            for call in ast.walk(stmt):
                if not isinstance(call, ast.Call) or not source.text_of(call.func).startswith("self."):
                    continue
                if len(call.args) != 1 or "drop" in source.text_of(call.func):
                    continue
                inner = call.args[0]
                reassigned = [source.text_of(s.targets[0]) for s in ast.walk(forward) if isinstance(s, ast.Assign)]
                own = isinstance(inner, ast.Name) and (inner.id not in inputs or inner.id in reassigned)
                nested = isinstance(inner, ast.Call) and "self." in source.text_of(inner)
                if own or nested:
                    edit = Edit(project).replace(source, inner, f"{source.text_of(inner)}.detach()")
                    yield edit.planted("cg.02", shows_in=RUN, because=("tr.13",))
                    break


@mutation("cg.02", "torch", "second-group-forgotten")
def second_group_forgotten(project: Project) -> Iterator[Planted]:
    """Of two parameter groups only the first is given to the optimizer."""
    for source in sources(project):
        for node in source.walk(ast.List):
            assert isinstance(node, ast.List)
            if len(node.elts) == 2 and all("params" in source.text_of(e) for e in node.elts):
                edit = Edit(project).replace(source, node, f"[{source.text_of(node.elts[0])}]")
                yield edit.mark(source, source.statement(node)).planted("cg.02", shows_in=RUN)


def _parts(source: Source, made: ast.FunctionDef | None, pattern: re.Pattern[str]) -> set[str]:
    """self.names assigned a layer whose class matches."""
    found: set[str] = set()
    for stmt in ast.walk(made) if made else []:
        if isinstance(stmt, ast.Assign):
            pairs = [(stmt.targets[0], stmt.value)]
            if isinstance(stmt.targets[0], ast.Tuple) and isinstance(stmt.value, ast.Tuple):
                pairs = list(zip(stmt.targets[0].elts, stmt.value.elts, strict=False))
            for target, value in pairs:
                if isinstance(value, ast.Call) and (pattern.search(last_name(value.func)) or _square(source, value)):
                    found.add(source.text_of(target))
    return found


def _square(source: Source, value: ast.Call) -> bool:
    """A linear layer with as many outputs as inputs."""
    same = len(value.args) >= 2 and source.text_of(value.args[0]) == source.text_of(value.args[1])
    return last_name(value.func) == "Linear" and same


@mutation("cg.03", "torch", "layer-never-called")
def layer_never_called(project: Project) -> Iterator[Planted]:
    for source, _, made, forward in module_classes(project):
        parts = _parts(source, made, SAME_SHAPE)
        for call in source.walk(ast.Call, within=forward) if forward else []:
            assert isinstance(call, ast.Call)
            if source.text_of(call.func) in parts and len(call.args) == 1:
                stmt = source.statement(call)
                uses = [c for c in ast.walk(forward) if isinstance(c, ast.Call) and source.text_of(c.func) in parts]
                if sum(source.text_of(c.func) == source.text_of(call.func) for c in uses) > 1:
                    continue
                edit = Edit(project)
                kept = source.text_of(call.args[0])
                if isinstance(stmt, ast.Assign) and stmt.value is call and source.text_of(stmt.targets[0]) == kept:
                    edit.delete(source, stmt)
                else:
                    edit.replace(source, call, kept)
                built = [s for s in ast.walk(made) if isinstance(s, ast.Assign)] if made else []
                for s in built:
                    if source.text_of(call.func) in re.findall(r"self\.\w+", source.text_of(s.targets[0])):
                        edit.mark(source, s)
                yield edit.mark(source, forward).planted("cg.03", shows_in=RUN, because=("tr.13",))


@mutation("cg.03", "torch", "result-not-kept")
def result_not_kept(project: Project) -> Iterator[Planted]:
    """x = self.norm(x) becomes self.norm(x): the layer runs, its result is lost."""
    for source, _, made, forward in module_classes(project):
        parts = _parts(source, made, SAME_SHAPE)
        for stmt in ast.walk(forward) if forward else []:
            if isinstance(stmt, ast.Assign | ast.Return) and stmt.value is not None:
                for call in ast.walk(stmt.value):
                    if not isinstance(call, ast.Call) or source.text_of(call.func) not in parts or len(call.args) != 1:
                        continue
                    kept, text = source.text_of(call.args[0]), source.text_of(call)
                    if isinstance(stmt, ast.Assign) and stmt.value is call and source.text_of(stmt.targets[0]) == kept:
                        yield (
                            Edit(project).replace(source, stmt, text).planted("cg.03", shows_in=RUN, because=("tr.13",))
                        )
                    elif isinstance(call.args[0], ast.Name) and source.parents[call] is not stmt:
                        edit = Edit(project).before(source, stmt, text).replace(source, call, kept)
                        yield edit.planted("cg.03", shows_in=RUN, because=("tr.13",))


@mutation("cg.03", "torch", "shortcut-dropped")
def shortcut_dropped(project: Project) -> Iterator[Planted]:
    """x + f(x) becomes f(x): only a benchmark can tell that this is not meant."""
    for source, _, _, forward in module_classes(project):
        for node in source.walk(ast.BinOp, within=forward) if forward else []:
            assert isinstance(node, ast.BinOp)
            right = source.text_of(node.right)
            if (
                isinstance(node.op, ast.Add)
                and isinstance(node.left, ast.Name)
                and isinstance(node.right, ast.Call)
                and re.search(rf"\b{node.left.id}\b", right)
            ):
                yield Edit(project).replace(source, node, right).planted("cg.03", shows_in=())
