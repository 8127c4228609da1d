"""A user's file as a syntax tree: what its names stand for, and what its functions and classes read."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, TypeAlias

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Defined: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINED: Final = (*FUNCTIONS, ast.ClassDef)
_NESTED: Final = ("body", "orelse", "finalbody")


@dataclass(frozen=True)
class Source:
    """One file: ``package`` is what its relative imports are relative to."""

    path: Path
    text: bytes
    tree: ast.Module
    package: str = ""

    @classmethod
    def read(cls, path: Path, package: str = "") -> Source | None:
        """The file; None where Python cannot read it either, which its import then says."""
        try:
            text = path.read_bytes()
            tree = ast.parse(text, str(path))
            # What it cannot be read by, later, it is not read by now.
            text.decode("utf-8")
        except (OSError, SyntaxError, ValueError):
            return None
        return cls(path, text, tree, package)

    @cached_property
    def tables(self) -> dict[tuple[str, int], symtable.SymbolTable]:
        """The names of each function and class, by its own name and line."""
        return dict(_scopes(symtable.symtable(self.text.decode("utf-8"), str(self.path), "exec")))

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """All statements that run on import, outermost only."""
        return self.tree.body

    @cached_property
    def importing(self) -> list[ast.Import | ast.ImportFrom]:
        """All imports, those inside functions too."""
        return [node for node in _statements(self.tree.body) if isinstance(node, ast.Import | ast.ImportFrom)]

    @cached_property
    def imports(self) -> dict[str, str]:
        """What each imported name stands for, wherever in the file it is imported."""
        found: dict[str, str] = {}
        for node in self.importing:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    found[alias.asname or alias.name.partition(".")[0]] = (
                        alias.name if alias.asname else alias.name.partition(".")[0]
                    )
            else:
                module = self.absolute(node)
                for alias in node.names:
                    found[alias.asname or alias.name] = f"{module}.{alias.name}"
        return found

    @cached_property
    def defined(self) -> dict[str, Defined]:
        """Functions and classes of the module itself, those behind a condition too."""
        return {node.name: node for node in at_module_level(self.tree.body) if isinstance(node, DEFINED)}

    @cached_property
    def instances(self) -> dict[str, ast.Call]:
        """The call that each name of the module is assigned from."""
        found: dict[str, ast.Call] = {}
        for node in at_module_level(self.tree.body):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                found.update((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))
        return found

    def absolute(self, node: ast.ImportFrom) -> str:
        """The whole name of the module that a statement imports from."""
        if not node.level:
            return node.module or ""
        parts = self.package.split(".")
        above = parts[: len(parts) - node.level + 1]
        return ".".join([*above, *([node.module] if node.module else [])])

    def resolved(self, node: ast.expr) -> str:
        """The dotted name of what is called, with the imported names in full; empty where it has none."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name):
            parts.append(self.imports.get(node.id, node.id))
        elif parts:
            # What a call returns has no name, its method has.
            parts.append("")
        return ".".join(reversed(parts))

    def read_later(self, node: Defined) -> set[str]:
        """The names of the module that code inside reads when it is called."""
        table = self.tables.get((node.name, node.lineno))
        if table is None:
            return names_read(node)
        inner = table.get_children() if isinstance(node, ast.ClassDef) else [table]
        return {name for one in inner for name in _global_names(one)}

    def read_at_once(self, node: Defined) -> set[str]:
        """The names of the module that its definition reads."""
        outer: list[ast.expr] = list(node.decorator_list)
        if isinstance(node, ast.ClassDef):
            outer += [*node.bases, *(keyword.value for keyword in node.keywords)]
            table = self.tables.get((node.name, node.lineno))
            inside = _own_globals(table) if table is not None else names_read(node)
        else:
            outer += [*node.args.defaults, *(value for value in node.args.kw_defaults if value is not None)]
            outer += _annotations(node)
            inside = set()
        return inside | {name for each in outer for name in names_read(each)}


def _annotations(node: Function) -> list[ast.expr]:
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
    found = [argument.annotation for argument in arguments if argument is not None]
    return [annotation for annotation in (*found, node.returns) if annotation is not None]


def at_module_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements that are in no function or class, the outer ones first."""
    for node in body:
        yield node
        if not isinstance(node, DEFINED) and not is_main_guard(node):
            for inner in bodies(node):
                yield from at_module_level(inner)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        for inner in bodies(node):
            yield from _statements(inner)


def bodies(node: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a compound statement."""
    found = [getattr(node, name) for name in _NESTED if getattr(node, name, None)]
    found += [handler.body for handler in getattr(node, "handlers", ())]
    return found + [case.body for case in getattr(node, "cases", ())]


def is_main_guard(node: ast.stmt) -> bool:
    """Whether this is ``if __name__ == "__main__"``, which an import does not run."""
    if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare):
        return False
    sides = [node.test.left, *node.test.comparators]
    names = {side.id for side in sides if isinstance(side, ast.Name)}
    texts = {side.value for side in sides if isinstance(side, ast.Constant)}
    return "__name__" in names and "__main__" in texts and isinstance(node.test.ops[0], ast.Eq)


def names_read(node: ast.AST) -> set[str]:
    """All names that are read in a node."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}


def _scopes(table: symtable.SymbolTable) -> Iterator[tuple[tuple[str, int], symtable.SymbolTable]]:
    for child in table.get_children():
        yield (child.get_name(), child.get_lineno()), child
        yield from _scopes(child)


def _own_globals(table: symtable.SymbolTable) -> set[str]:
    found = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global() and symbol.is_referenced()}
    for child in table.get_children():
        # A comprehension runs where it stands.
        if child.get_type() == "function" and child.get_name().endswith("comp"):
            found |= _global_names(child)
    return found


def _global_names(table: symtable.SymbolTable) -> set[str]:
    found = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global() and symbol.is_referenced()}
    return found.union(*(_global_names(child) for child in table.get_children()))
