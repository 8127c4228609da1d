"""Groups of weights for an optimizer: lists that are collected for one and then forgotten."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trueline.apitable.functions import functions_of
from trueline.apitable.traits import Trait
from trueline.model.location import Location
from trueline.script.script import Script
from trueline.script.trace import Event
from trueline.script.values import Seq, Table

_ADDING = functions_of(Trait.COLLECTS)


def groups_written_at(built: Event) -> Location | None:
    """Where an optimizer's groups are written down."""
    groups = built.arg(0, "params")
    if not isinstance(groups, Seq) or groups.open or not groups.items:
        return None
    places = [value.place for value in groups.items if isinstance(value, Table) and value.place is not None]
    return places[0] if len(places) == len(groups.items) else None


def forgotten(place: Location, script: Script) -> str | None:
    """A list of weights that nothing reads, collected where an optimizer's groups are written down."""
    for source in script.files:
        if source.shown != place.file:
            continue
        for function in ast.walk(source.tree):
            if isinstance(function, ast.FunctionDef) and _holds(function, place.line):
                name = next(_lists_nobody_reads(function), None)
                if name is not None:
                    return name
    return None


def _holds(function: ast.FunctionDef, line: int) -> bool:
    inner = [node for node in ast.walk(function) if isinstance(node, ast.FunctionDef) and node is not function]
    return function.lineno <= line <= (function.end_lineno or 0) and not any(_holds(node, line) for node in inner)


def _lists_nobody_reads(function: ast.FunctionDef) -> Iterator[str]:
    """Local lists of weights: made at once from parameters(), or filled in a loop over them."""
    known = dict(_assigned(function))
    adding = [node for node in ast.walk(function) if _adds(node)]
    filled = {id(name) for node in adding for name in ast.walk(_receiver(node)) if isinstance(name, ast.Name)}
    read = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in filled
    }
    for name, value in known.items():
        if name in read:
            continue
        if isinstance(value, ast.ListComp) and _is_of_weights(value.generators[0].iter, known):
            if "requires_grad" not in ast.dump(value):
                yield name
        elif isinstance(value, ast.List) and not value.elts and _is_filled(function, name, known):
            yield name


def _assigned(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign):
            continue
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Name):
            yield target.id, value
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for child, held in zip(target.elts, value.elts, strict=True):
                if isinstance(child, ast.Name):
                    yield child.id, held


def _adds(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ADDING


def _receiver(node: ast.AST) -> ast.AST:
    return node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else node


def _is_filled(function: ast.FunctionDef, name: str, known: dict[str, ast.expr]) -> bool:
    """Whether weights are put into a list, in a loop over all of them."""
    for loop in ast.walk(function):
        if not isinstance(loop, ast.For) or not _is_of_weights(loop.iter, known) or "requires_grad" in ast.dump(loop):
            continue
        for node in ast.walk(loop):
            if _adds(node) and any(
                isinstance(part, ast.Name) and part.id == name for part in ast.walk(_receiver(node))
            ):
                return True
    return False


def _is_of_weights(node: ast.AST, known: dict[str, ast.expr], depth: int = 0) -> bool:
    for child in ast.walk(node):
        if isinstance(child, ast.Attribute) and child.attr in functions_of(Trait.LISTS_PARAMETERS):
            return True
        if isinstance(child, ast.Name) and child.id in known and depth < 3:
            held = known[child.id]
            if held is not node and _is_of_weights(held, known, depth + 1):
                return True
    return False
