"""The statements of a module that run or are left out as one: what each reads, what it sets, what work it does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from trueline.adapters.guest.definitions.source import (
    DEFINED,
    Defined,
    Source,
    bodies,
    is_main_guard,
    names_read,
)
from trueline.adapters.guest.definitions.working import NEVER, Work, Working, running
from trueline.apitable.work import BESIDE_DEFINING

_COMPOUND: Final = (ast.If, ast.Try, ast.TryStar, ast.With)
_IMPORTS: Final = (ast.Import, ast.ImportFrom)
_ACTS: Final = (ast.Expr, ast.For, ast.AsyncFor, ast.While, ast.Assert, ast.Raise)


@dataclass(frozen=True, eq=False)
class Unit:
    """One statement: ``stores`` are names that it assigns, ``changes`` names of objects that it may change.

    ``sets`` are names of the module that functions which it calls assign.
    """

    node: ast.stmt
    reads: frozenset[str]
    stores: frozenset[str]
    changes: frozenset[str] = field(default_factory=frozenset)
    work: Work | None = None
    sets: frozenset[str] = field(default_factory=frozenset)

    @property
    def never(self) -> bool:
        """Whether no definition needs it."""
        return self.work is not None and self.work.kind in NEVER

    @property
    def works(self) -> bool:
        """Whether it does more than define."""
        return self.work is not None and self.work.kind not in BESIDE_DEFINING

    @property
    def defines(self) -> bool:
        """Whether it is a function or a class."""
        return isinstance(self.node, DEFINED)

    @property
    def imports(self) -> bool:
        """Whether it is an import."""
        return isinstance(self.node, _IMPORTS)

    @property
    def declares(self) -> bool:
        """Whether an import, a function or a class is in it, behind a condition."""
        return isinstance(self.node, _COMPOUND) and any(
            isinstance(each, (*_IMPORTS, *DEFINED)) for each in running_and_defined(self.node)
        )

    @property
    def acts(self) -> bool:
        """Whether it is there for what it does, and assigns nothing but on the way."""
        return isinstance(self.node, _ACTS)


def works(source: Source, working: Working) -> bool:
    """Whether a module does more than define when it is imported."""
    found = (working.of_statement(source, node) for node in source.statements)
    return any(work is not None and work.kind not in BESIDE_DEFINING for work in found)


def units(source: Source, working: Working) -> list[Unit]:
    """The statements of a module; of a compound one that works those inside."""
    return list(_units(source, source.statements, working, frozenset(), None))


def _units(
    source: Source, body: list[ast.stmt], working: Working, above: frozenset[str], held: Work | None
) -> Iterator[Unit]:
    for node in body:
        if is_main_guard(node):
            yield Unit(node, frozenset(), frozenset())
            continue
        work = working.of_statement(source, node) or held
        if work is not None and isinstance(node, _COMPOUND):
            head, own = _head(node)
            for inner in bodies(node):
                within = held or working.of_statement(source, own)
                yield from _units(source, inner, working, above | head, within)
            continue
        yield Unit(node, above | _reads(source, node), _stores(node), _changes(source, node), work, _sets(source, node))


def _head(node: ast.stmt) -> tuple[frozenset[str], ast.stmt]:
    """What the first line of a compound statement reads, and that line alone."""
    if isinstance(node, ast.If):
        return frozenset(names_read(node.test)), ast.copy_location(ast.Expr(node.test), node)
    if isinstance(node, ast.With):
        own = ast.copy_location(ast.With(node.items, []), node)
        return frozenset(names_read(own)), own
    return frozenset(), ast.copy_location(ast.Pass(), node)


def running_and_defined(node: ast.AST) -> Iterator[ast.AST]:
    """What of a statement runs with it, functions and classes included but not their code."""
    yield node
    for child in ast.iter_child_nodes(node) if not isinstance(node, DEFINED) else ():
        yield from running_and_defined(child)


def _reads(source: Source, node: ast.stmt) -> frozenset[str]:
    if isinstance(node, DEFINED):
        return frozenset(source.read_at_once(node))
    found = names_read(node) if not isinstance(node, _COMPOUND) else set()
    if isinstance(node, _COMPOUND):
        for each in running_and_defined(node):
            if isinstance(each, DEFINED):
                found |= source.read_at_once(each)
            elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
                found.add(each.id)
    if isinstance(node, ast.AugAssign):
        found |= _stores(node)
    return frozenset(found)


def _stores(node: ast.stmt) -> frozenset[str]:
    found: set[str] = set()
    for each in running_and_defined(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store | ast.Del):
            found.add(each.id)
        elif isinstance(each, DEFINED):
            found.add(each.name)
        elif isinstance(each, _IMPORTS):
            found.update(alias.asname or alias.name.partition(".")[0] for alias in each.names)
    return frozenset(found)


def _changes(source: Source, node: ast.stmt) -> frozenset[str]:
    """The names whose objects a statement may change: by a member that it sets, or by a call."""
    if isinstance(node, DEFINED):
        return frozenset()
    found: set[str] = set()
    for each in running(node):
        if isinstance(each, ast.Attribute | ast.Subscript) and isinstance(each.ctx, ast.Store | ast.Del):
            found |= _root(each)
        elif isinstance(each, ast.Expr) and isinstance(each.value, ast.Call):
            found |= _changed_by(source, each.value)
    return frozenset(found - source.imports.keys())


def _changed_by(source: Source, call: ast.Call) -> set[str]:
    name = source.resolved(call.func)
    found = _root(call.func) if isinstance(call.func, ast.Attribute) else set()
    defined = source.defined.get(name)
    if defined is not None:
        found |= _set_inside(source, defined)
    # What is handed to a function of the user's, or to one that works in place.
    if defined is not None or ".init." in name or name.endswith("_"):
        found |= {root for argument in call.args for root in _root(argument)}
    return found


def _sets(source: Source, node: ast.stmt) -> frozenset[str]:
    """The names of the module that the functions which a statement names declare as global."""
    if isinstance(node, DEFINED):
        return frozenset()
    waiting, seen = [source.defined[name] for name in names_read(node) if name in source.defined], set()
    found: set[str] = set()
    while waiting:
        defined = waiting.pop()
        if defined.name not in seen:
            seen.add(defined.name)
            found.update(name for each in ast.walk(defined) if isinstance(each, ast.Global) for name in each.names)
            waiting += [source.defined[name] for name in source.read_later(defined) if name in source.defined]
    return frozenset(found)


def _set_inside(source: Source, node: Defined) -> set[str]:
    """The names of the module whose objects a function changes, and those that it assigns."""
    found: set[str] = set()
    assigned: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Global):
            assigned.update(each.names)
        elif isinstance(each, ast.Attribute | ast.Subscript) and isinstance(each.ctx, ast.Store):
            found |= _root(each)
        elif isinstance(each, ast.Expr) and isinstance(each.value, ast.Call):
            found |= _root(each.value.func) if isinstance(each.value.func, ast.Attribute) else set()
    return found & source.read_later(node) | assigned


def _root(node: ast.expr) -> set[str]:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return {node.id} if isinstance(node, ast.Name) else set()
