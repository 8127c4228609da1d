"""Where a PyTorch project makes its data: the places at which a fault can be put into inputs and labels."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from editing import Edit, Source, last_name, sources
from planting import Project
from reading_torch import EVALUATION, calls, text_of_all

CLASSES = re.compile(r"cross_entropy|CrossEntropyLoss|NLLLoss|nll_loss|BCE|binary_cross", re.IGNORECASE)
MAKES_DATA = re.compile(r"make|synth|gen|build|load|sample|draw|data|blob|read|create|toy|fake|simulate|render|prepare")
LABELS = re.compile(r"y|ys|labels?|targets?|cls|klass|kinds?|classes|y_\w+|which|digits?|category")
RANDOM = re.compile(r"rand|rng|normal|choice|integers|poisson|uniform|multinomial|gen\b")


@dataclass(frozen=True)
class Spot:
    """Statements put at this place see inputs `x` and labels `y` of all samples."""

    source: Source
    stmt: ast.stmt
    x: str
    y: str
    taken_out: tuple[tuple[ast.expr, str], ...]  # expressions that get a name first
    after: bool
    tensors: bool  # x and y are tensors for certain
    lists: bool  # x or y is a plain list
    training_set: bool  # sample indexes are those of the training set

    def edit(self, project: Project, *lines: str) -> Edit:
        """An edit that puts the lines (with {x} and {y}) there; they are the place of the fault."""
        edit = Edit(project)
        used = [
            pair for pair in self.taken_out if any(f"{{{k}}}" in line for line in lines for k in self._keys(pair[1]))
        ]
        named = [f"{name} = {self.source.text_of(node)}" for node, name in used]
        if named:
            edit.before(self.source, self.stmt, *named, mark=False)
        for node, name in used:
            edit.replace(self.source, node, name, mark=False)
        told = [line.replace("{x}", self.x).replace("{y}", self.y) for line in lines]
        for line in told:
            if self.after:
                edit.after(self.source, self.stmt, line, mark=line == told[0])
            else:
                edit.before(self.source, self.stmt, line, mark=line == told[0])
        return edit

    def _keys(self, name: str) -> str:
        return "x" * (name == self.x) + "y" * (name == self.y)


def is_classification(project: Project) -> bool:
    return bool(CLASSES.search(text_of_all(project)))


def inputs_are_numbers(project: Project) -> bool:
    """Whether inputs are measured values, not identifiers that an embedding looks up."""
    return not re.search(r"nn\.Embedding|EmbeddingBag", text_of_all(project))


def spots(project: Project) -> list[Spot]:
    return [*_tensor_datasets(project), *_dataset_classes(project), *_functions(project)]


def _named(node: ast.expr, name: str) -> tuple[str, tuple[tuple[ast.expr, str], ...]]:
    if isinstance(node, ast.Name):
        return node.id, ()
    return name, ((node, name),)


def _is_evaluation(source: Source, node: ast.AST) -> bool:
    stmt = source.statement(node)
    target = source.text_of(stmt.targets[0]) if isinstance(stmt, ast.Assign) else ""
    words = f"{target} {source.text_of(node)}"
    return bool(re.search(r"val|test|_va\b|_te\b|dev|held|eval", words))


def _tensor_datasets(project: Project) -> Iterator[Spot]:
    for source, call in calls(project, "TensorDataset"):
        if len(call.args) < 2 or any(isinstance(a, ast.Starred) for a in call.args) or _is_evaluation(source, call):
            continue
        if source.inside(call, ast.ListComp, ast.DictComp, ast.Lambda, ast.GeneratorExp):
            continue
        stmt = source.statement(call)
        around = source.function(call)
        parameters = {a.arg for a in around.args.args} if around else set()
        x, outer_x = _named(call.args[0], "inputs")
        y, outer_y = _named(call.args[-1], "labels")
        both = x in parameters or any(isinstance(n, ast.Name) and n.id in parameters for n in ast.walk(call.args[0]))
        yield Spot(source, stmt, x, y, outer_x + outer_y, False, True, False, not both)


def _dataset_classes(project: Project) -> Iterator[Spot]:
    for source in sources(project):
        for node in source.walk(ast.ClassDef):
            assert isinstance(node, ast.ClassDef)
            methods = {m.name: m for m in node.body if isinstance(m, ast.FunctionDef)}
            if "__getitem__" not in methods or "__init__" not in methods:
                continue
            item = getitem_return(source, node)
            if not item:
                continue
            pair = [_attribute_of(source, element, methods["__getitem__"]) for element in (item.elts[0], item.elts[-1])]
            if not all(pair) or pair[0] == pair[1]:
                continue
            made = methods["__init__"]
            texts = [source.text_of(n.value) for n in made.body if isinstance(n, ast.Assign)]
            lists = any(text.startswith("[") or "list" in text for text in texts)
            tensors = any("torch" in text or "tensor" in text for text in texts)
            x, y = f"self.{pair[0]}", f"self.{pair[1]}"
            assigned = {last_name(t) for n in ast.walk(made) if isinstance(n, ast.Assign) for t in _targets(n)}
            if {pair[0], pair[1]} <= assigned:
                yield Spot(source, made.body[-1], x, y, (), True, tensors and not lists, lists, False)


def _targets(node: ast.Assign) -> list[ast.expr]:
    return [e for t in node.targets for e in (t.elts if isinstance(t, ast.Tuple) else [t])]


def getitem_return(source: Source, node: ast.ClassDef) -> ast.Tuple | None:
    """The tuple that __getitem__ of a dataset class gives back."""
    method = next(m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "__getitem__")
    for stmt in source.walk(ast.Return, within=method):
        if isinstance(stmt, ast.Return) and isinstance(stmt.value, ast.Tuple) and len(stmt.value.elts) >= 2:
            return stmt.value
    return None


def _attribute_of(source: Source, element: ast.expr, method: ast.FunctionDef) -> str | None:
    """The `images` of self.images[i], also through a local name."""
    nodes = list(ast.walk(element))
    names = {n.id for n in nodes if isinstance(n, ast.Name)}
    for stmt in ast.walk(method):
        if isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], ast.Name) and stmt.targets[0].id in names:
            nodes.extend(ast.walk(stmt.value))
    for node in nodes:
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Attribute)
            and last_name(node.value.value) == "self"
        ):
            return node.value.attr
    return None


def _functions(project: Project) -> Iterator[Spot]:
    for source in sources(project):
        for node in source.walk(ast.FunctionDef):
            assert isinstance(node, ast.FunctionDef)
            last = node.body[-1]
            if not isinstance(last, ast.Return) or not isinstance(last.value, ast.Tuple) or len(last.value.elts) != 2:
                continue
            text = source.text_of(node)
            if not MAKES_DATA.search(node.name) or EVALUATION.search(node.name) or not RANDOM.search(text):
                continue
            if re.search(r"backward|no_grad|DataLoader|nn\.|Dataset\(|optim|self", text):
                continue
            x, outer_x = _named(last.value.elts[0], "inputs")
            y, outer_y = _named(last.value.elts[1], "labels")
            tensors = "torch." in text and "np." not in text
            lists = bool(re.search(rf"\b({x}|{y}) = \[", text))
            yield Spot(source, last, x, y, outer_x + outer_y, False, tensors, lists, False)


def item_methods(project: Project) -> Iterator[tuple[Source, ast.ClassDef, ast.FunctionDef]]:
    """Dataset classes with their __getitem__."""
    for source in sources(project):
        for node in source.walk(ast.ClassDef):
            assert isinstance(node, ast.ClassDef)
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and method.name == "__getitem__":
                    yield source, node, method


def label_draws(project: Project) -> Iterator[tuple[Source, ast.Assign]]:
    """Statements that draw the labels from which inputs are then made."""
    for source in sources(project):
        for node in source.walk(ast.Assign):
            assert isinstance(node, ast.Assign)
            name, text = last_name(node.targets[0]), source.text_of(node.value)
            drawn = re.search(r"randint|integers|arange\(.*%|multinomial|\.choice\(", text)
            one_by_one = source.inside(node, ast.For, ast.ListComp) or re.search(
                r"(rnd|random)\.choice|size=\(\)", text
            )
            if LABELS.fullmatch(name) and drawn and not one_by_one:
                yield source, node
