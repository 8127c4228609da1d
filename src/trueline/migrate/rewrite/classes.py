"""The classes and functions of a project by name: which are networks, datasets, or build one."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from trueline.migrate.rewrite.names import Names

MODULE_BASES: Final = frozenset(("torch.nn.Module", "torch.nn.Sequential", "torch.nn.ModuleList"))
DATASET_BASES: Final = frozenset(("torch.utils.data.Dataset", "torch.utils.data.IterableDataset"))


@dataclass(slots=True)
class Classes:
    """Names of the project's network classes, dataset classes, and functions that return a network.

    ``getters`` has how many values a dataset class gives for a sample, where its source tells.
    """

    modules: set[str] = field(default_factory=set)
    datasets: set[str] = field(default_factory=set)
    iterables: set[str] = field(default_factory=set)
    builders: set[str] = field(default_factory=set)
    getters: dict[str, int] = field(default_factory=dict)
    functions: dict[str, list[tuple[Names, ast.FunctionDef]]] = field(default_factory=dict)
    defined: dict[str, ast.ClassDef] = field(default_factory=dict)
    # Classes without a constructor of their own that derive from a layer of torch.nn: its name.
    layers: dict[str, str] = field(default_factory=dict)

    def is_module(self, names: Names, node: ast.expr) -> bool:
        """Whether an expression is a class of networks, torch's own or the project's."""
        full = names.full(node)
        if is_layer_class(full):
            return True
        return isinstance(node, ast.Name | ast.Attribute) and _last(node) in self.modules


def is_layer_class(full: str) -> bool:
    """Whether a full name is that of a class of networks in torch.nn."""
    named = full.startswith("torch.nn.") and full.count(".") == 2 and full[9:10].isupper()
    return named and full != "torch.nn.Parameter"


def known_classes(files: Iterable[Names]) -> Classes:
    """Read the classes of all files of a project."""
    found = Classes()
    classes: list[tuple[Names, ast.ClassDef]] = []
    functions: list[tuple[Names, ast.FunctionDef]] = []
    for names in files:
        for node in ast.walk(names.tree):
            if isinstance(node, ast.ClassDef):
                classes.append((names, node))
                found.defined.setdefault(node.name, node)
            elif isinstance(node, ast.FunctionDef) and not isinstance(names.parents[node], ast.ClassDef):
                functions.append((names, node))
                if isinstance(names.parents[node], ast.Module):
                    found.functions.setdefault(node.name, []).append((names, node))
    # A base may stand in another file, and below the class in the order of reading.
    for _ in range(len(classes) + 1):
        before = len(found.modules) + len(found.datasets)
        for names, node in classes:
            bases = [(names.full(base), _last(base)) for base in node.bases]
            if any(full in MODULE_BASES or last in found.modules for full, last in bases) or _is_layer(bases):
                found.modules.add(node.name)
            if any(full in DATASET_BASES or last in found.datasets for full, last in bases):
                found.datasets.add(node.name)
            if any(full.endswith("IterableDataset") or last in found.iterables for full, last in bases):
                found.iterables.add(node.name)
        if before == len(found.modules) + len(found.datasets):
            break
    found.getters = dict(_getters(classes))
    found.layers = {
        node.name: names.full(node.bases[0])
        for names, node in classes
        if len(node.bases) == 1 and is_layer_class(names.full(node.bases[0])) and "__init__" not in methods(node)
        if names.full(node.bases[0]) not in MODULE_BASES
    }
    _find_builders(found, functions)
    return found


def _is_layer(bases: Iterable[tuple[str, str]]) -> bool:
    return any(is_layer_class(full) for full, _ in bases)


def _find_builders(found: Classes, functions: Iterable[tuple[Names, ast.FunctionDef]]) -> None:
    functions = list(functions)
    for _ in range(3):
        for names, function in functions:
            local: dict[str, bool] = {}
            for node in ast.walk(function):
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    local[node.targets[0].id] = _builds(found, names, node.value)
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and node.value is not None:
                    named = isinstance(node.value, ast.Name) and local.get(node.value.id, False)
                    if named or _builds(found, names, node.value):
                        found.builders.add(function.name)


def _builds(found: Classes, names: Names, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    return found.is_module(names, node.func) or _last(node.func) in found.builders


def _getters(classes: Iterable[tuple[Names, ast.ClassDef]]) -> Iterable[tuple[str, int]]:
    for _, node in classes:
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and method.name == "__getitem__":
                returned = [one.value for one in ast.walk(method) if isinstance(one, ast.Return)]
                counts = {len(one.elts) if isinstance(one, ast.Tuple) else 1 for one in returned if one is not None}
                plain = all(
                    isinstance(one, ast.Tuple | ast.Call | ast.Subscript | ast.BinOp) for one in returned
                ) and not any(isinstance(one, ast.Dict) for one in returned)
                if len(counts) == 1 and plain:
                    yield node.name, counts.pop()


def _last(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def methods(node: ast.ClassDef) -> Mapping[str, ast.FunctionDef]:
    """The methods of a class by name."""
    return {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
