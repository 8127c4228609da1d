"""Where something was handed in: the call whose argument a loop of a function goes through."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from trueline.model.location import Location
from trueline.script.script import Script
from trueline.script.trace import CALL, Scope
from trueline.script.values import Function


def handed_at(scope: Scope, scopes: Sequence[Scope]) -> Location:
    """The outermost call that hands in what a loop goes through; the loop itself where it comes from elsewhere."""
    place = scope.place
    for call, _ in handed_through(scope, scopes):
        place = call.place
    return place


def handed_through(scope: Scope, scopes: Sequence[Scope]) -> Iterator[tuple[Scope, str]]:
    """The calls that hand in what a loop goes through, innermost first, each with the parameter that takes it."""
    before = scopes[: scopes.index(scope)] if scope in scopes else scopes
    calls = [
        other_scope for other_scope in before if other_scope.kind == CALL and isinstance(other_scope.value, Function)
    ]
    place = scope.place
    wanted: str | None = None
    called = ""
    for call in reversed(calls):
        function = call.value
        if not isinstance(function, Function):
            break
        names = _parameters(function.node)
        if wanted is None:
            parameters = [name for name in _iterated_names(function.node, place.line) if name in names]
        else:
            parameters = [name for name in _argument_names(function.node, place.line, wanted, called) if name in names]
        if not parameters:
            break
        if any("train" in name for name in parameters):
            # The name says what it is: whoever wrote it here meant it.
            break
        wanted, place = _position(function, parameters[0]), call.place
        called = getattr(function.node, "name", "")
        yield call, parameters[0]


def _position(function: Function, name: str) -> str:
    """A parameter as its caller may name it: by its name, and by its place."""
    names = _parameters(function.node)
    at = names.index(name) - (1 if function.bound is not None else 0)
    return f"{name}@{at}"


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[str]:
    return [child.arg for child in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


def _iterated_names(tree: ast.AST, line: int) -> Iterator[str]:
    for node in ast.walk(tree):
        sources: list[ast.expr] = []
        if isinstance(node, ast.For | ast.AsyncFor) and node.lineno == line:
            sources = [node.iter]
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) and node.lineno == line:
            sources = [node.generators[0].iter]
        for source in sources:
            yield from _names(source)


def _argument_names(tree: ast.AST, line: int, wanted: str, called: str) -> Iterator[str]:
    name, _, at = wanted.partition("@")
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.lineno == line]
    # Of several calls on a line, the one by this name; objects are called by theirs.
    named = [node for node in calls if ast.unparse(node.func).rpartition(".")[2] == called]
    for node in named or calls:
        given = [child.value for child in node.keywords if child.arg == name]
        if not given and int(at) < len(node.args):
            given = [node.args[int(at)]]
        for child in given:
            yield from _names(child)


def _names(node: ast.AST) -> Iterator[str]:
    return (child.id for child in ast.walk(node) if isinstance(child, ast.Name))


def said_at(script: Script, place: Location) -> str:
    """The names that the result of a statement is given: variables, keys of a dict, arguments."""
    words: list[str] = []
    for source in script.files:
        if source.shown == place.file:
            for node in ast.walk(source.tree):
                words += _given(node, place.line)
    return " ".join(words).lower()


def _given(node: ast.AST, line: int) -> Iterator[str]:
    if isinstance(node, ast.Assign) and node.lineno <= line <= (node.end_lineno or node.lineno):
        for target in node.targets:
            yield from (ast.unparse(child) for child in ast.walk(target) if isinstance(child, ast.Name | ast.Attribute))
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and value.lineno == line:
                yield key.value
