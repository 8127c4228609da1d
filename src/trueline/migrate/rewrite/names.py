"""Which name of torch an expression means: imports, and names that functions bind themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from trueline.script.canonical import canonical

FRAMEWORKS: Final = ("torch", "torchvision", "torchaudio", "torchtext")
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef | ast.Module
_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module)


@dataclass(frozen=True, slots=True)
class Import:
    """One name that an import binds: the full name, and the statement.

    ``home`` is the file of the project that it is taken from, where another one has imported it.
    """

    local: str
    full: str
    statement: ast.Import | ast.ImportFrom
    alias: ast.alias
    home: str = ""


class Names:
    """The names of one file."""

    def __init__(self, tree: ast.Module, taken: Iterable[Import] = ()) -> None:
        self.tree = tree
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
        self.imports = [*_imports(tree), *taken]
        self._aliases = {one.local: one.full for one in self.imports}
        self._bound: dict[ast.AST, frozenset[str]] = {}
        # Every name that stands anywhere in the file: what a new import may not take.
        self.used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | {
            argument.arg for argument in ast.walk(tree) if isinstance(argument, ast.arg)
        }

    @cached_property
    def rebound(self) -> frozenset[str]:
        """Imported names that the file binds somewhere else too."""
        scopes = [node for node in ast.walk(self.tree) if isinstance(node, _SCOPES)]
        bound = {name for scope in scopes for name in self._binds(scope)}
        return frozenset(bound & set(self._aliases))

    @property
    def aliases(self) -> Mapping[str, str]:
        """What the imports bind."""
        return self._aliases

    def full(self, node: ast.AST) -> str:
        """The full name of an expression; "" where it is no imported name."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._aliases or self._hidden(node):
            return ""
        return canonical(".".join((self._aliases[node.id], *reversed(parts))))

    def torch(self, node: ast.AST) -> str:
        """The full name where it is torch's."""
        found = self.full(node)
        return found if found.split(".")[0] in FRAMEWORKS else ""

    def scope(self, node: ast.AST) -> Scope:
        """The function, class or file that a node stands in."""
        place = self.parents.get(node)
        while place is not None and not isinstance(place, _SCOPES):
            place = self.parents.get(place)
        return place or self.tree

    def statement(self, node: ast.AST) -> ast.stmt:
        """The statement that a node stands in."""
        place: ast.AST = node
        while not isinstance(place, ast.stmt):
            place = self.parents[place]
        return place

    def enclosing(self, node: ast.AST) -> Iterator[ast.AST]:
        """All nodes around a node, from the inside."""
        place = self.parents.get(node)
        while place is not None:
            yield place
            place = self.parents.get(place)

    def _hidden(self, name: ast.Name) -> bool:
        """Whether a scope around a name binds it itself."""
        scope: Scope = self.scope(name)
        while not isinstance(scope, ast.Module):
            if name.id in self._binds(scope):
                return True
            scope = self.scope(scope)
        return name.id in self._binds(scope)

    def _binds(self, scope: Scope) -> frozenset[str]:
        if scope not in self._bound:
            self._bound[scope] = frozenset(_bindings(scope))
        return self._bound[scope]


def _imports(tree: ast.Module) -> Iterator[Import]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                local = alias.asname or alias.name.split(".")[0]
                yield Import(local, alias.name if alias.asname else local, node, alias)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            for alias in node.names:
                yield Import(alias.asname or alias.name, f"{node.module}.{alias.name}", node, alias)


def _bindings(scope: Scope) -> Iterator[str]:
    """The names that a scope binds, imports left out."""
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        for argument in ast.walk(scope.args):
            if isinstance(argument, ast.arg):
                yield argument.arg
    body = [scope.body] if isinstance(scope, ast.Lambda) else scope.body
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
            continue
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name
        if not isinstance(node, ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))
