"""What a statement of a user's module does beyond defining, in its own calls or in the functions that it calls."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from trueline.adapters.guest.definitions.source import DEFINED, FUNCTIONS, Defined, Source, bodies, is_main_guard
from trueline.apitable.work import (
    DOWNLOAD,
    EXIT,
    LOAD_WEIGHTS,
    NOTEBOOK,
    READ_DATA,
    START_PROCESSES,
    START_PROGRAMS,
    TRAIN,
    WRITE,
    work_of_call,
)

ARGUMENTS: Final = "arguments"
LOOP: Final = "loop"
# What of several is said, and what a definition never needs: these are not run whoever asks for their names.
_ORDER: Final = (
    TRAIN,
    EXIT,
    NOTEBOOK,
    START_PROCESSES,
    DOWNLOAD,
    READ_DATA,
    WRITE,
    ARGUMENTS,
    LOOP,
    START_PROGRAMS,
    LOAD_WEIGHTS,
)
NEVER: Final = frozenset({TRAIN, EXIT, NOTEBOOK})
# A loop of so many turns is work, whatever it does.
_MANY_TURNS: Final = 1000
_WRITING_MODES: Final = frozenset("wax+")

# The function or class of a (resolved) name, and the file that it is in.
Lookup: TypeAlias = Callable[[Source, str], "tuple[Source, Defined] | None"]


@dataclass(frozen=True, slots=True)
class Work:
    """What is done, at which line of the module, by which call."""

    kind: str
    line: int
    call: str


class Working:
    """Judges statements; functions that several call are followed once."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._known: dict[tuple[Path, int], Work | None] = {}

    def of_statement(self, source: Source, node: ast.stmt) -> Work | None:
        """The gravest work of a statement at module level."""
        if isinstance(node, DEFINED) or is_main_guard(node):
            return None
        found = list(self._of_nodes(source, running(node), None))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            name = source.resolved(node.value.func)
            if work_of_call(name, _count(node.value)) == EXIT:
                found.append(Work(EXIT, node.lineno, name))
        for each in running(node):
            if isinstance(each, ast.For | ast.While) and _long(each):
                found.append(Work(LOOP, each.lineno, "for" if isinstance(each, ast.For) else "while"))
        return gravest(found)

    def _of_nodes(self, source: Source, nodes: Iterable[ast.AST], held_in: ast.ClassDef | None) -> Iterator[Work]:
        for node in nodes:
            if isinstance(node, ast.Call):
                yield from self._of_call(source, node, held_in)

    def _of_call(self, source: Source, call: ast.Call, held_in: ast.ClassDef | None) -> Iterator[Work]:
        name, line = source.resolved(call.func), call.lineno
        kind = work_of_call(name, _count(call))
        if kind is not None and kind != EXIT:
            yield Work(kind, line, name.lstrip("."))
        if any(word.arg == "download" and _is_true(word.value) for word in call.keywords):
            yield Work(DOWNLOAD, line, name)
        if name == "open" and _writes(call):
            yield Work(WRITE, line, name)
        if name.endswith(".parse_args") and not call.args and _asks_for_arguments(source):
            yield Work(ARGUMENTS, line, name)
        for where, defined, holder in self._called(source, call, name, held_in):
            work = self._of_defined(where, defined, holder)
            if work is not None:
                yield replace(work, line=line, call=name.lstrip("."))

    def _called(
        self, source: Source, call: ast.Call, name: str, held_in: ast.ClassDef | None
    ) -> Iterator[tuple[Source, Defined, ast.ClassDef | None]]:
        """The user's own functions that a call runs, with the class of a method."""
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        holder = (source, held_in) if held_in is not None and name == f"self.{method}" else None
        if method and holder is None:
            holder = self._class_of(source, call.func)
        if holder is None:
            found = self._lookup(source, name)
            if found is not None:
                yield *found, None
            return
        where, held = holder
        for one in held.body:
            if isinstance(one, FUNCTIONS) and one.name == method:
                yield where, one, held

    def _class_of(self, source: Source, func: ast.expr) -> tuple[Source, ast.ClassDef] | None:
        """The user's own class whose object a method is called of."""
        assert isinstance(func, ast.Attribute)
        base: ast.expr | None = func.value
        if isinstance(base, ast.Name):
            base = source.instances.get(base.id)
        while isinstance(base, ast.Call):
            found = self._lookup(source, source.resolved(base.func))
            if found is not None and isinstance(found[1], ast.ClassDef):
                return found[0], found[1]
            base = base.func.value if isinstance(base.func, ast.Attribute) else None
        return None

    def _of_defined(self, source: Source, node: Defined, held_in: ast.ClassDef | None) -> Work | None:
        """What calling a function, or making an object of a class, does."""
        key = (source.path, node.lineno)
        if key not in self._known:
            # One that calls itself does nothing new by that.
            self._known[key] = None
            self._known[key] = gravest(self._inside(source, node, held_in))
        return self._known[key]

    def _inside(self, source: Source, node: Defined, held_in: ast.ClassDef | None) -> Iterator[Work]:
        if not isinstance(node, ast.ClassDef):
            yield from self._of_nodes(source, ast.walk(node), held_in)
            return
        if any(source.resolved(base).endswith("Dataset") for base in node.bases):
            yield Work(READ_DATA, node.lineno, node.name)
        for method in node.body:
            if isinstance(method, FUNCTIONS) and method.name == "__init__":
                yield from self._of_nodes(source, ast.walk(method), node)


def running(node: ast.AST) -> Iterator[ast.AST]:
    """What of a statement runs with it: all but the code of functions and classes."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (*DEFINED, ast.Lambda)):
            yield from running(child)


def gravest(found: Iterable[Work]) -> Work | None:
    """The work that is said of several."""
    return min(found, key=lambda work: _ORDER.index(work.kind), default=None)


def _count(call: ast.Call) -> int:
    return len(call.args) + len(call.keywords)


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _writes(call: ast.Call) -> bool:
    modes = [*call.args[1:2], *(word.value for word in call.keywords if word.arg == "mode")]
    return any(isinstance(mode, ast.Constant) and _WRITING_MODES & set(str(mode.value)) for mode in modes)


def _long(node: ast.For | ast.While) -> bool:
    """Whether a loop calls something many times, or until something happens."""
    calls = any(isinstance(each, ast.Call) for body in bodies(node) for one in body for each in ast.walk(one))
    if isinstance(node, ast.While):
        return calls
    turns = node.iter
    if not calls or not isinstance(turns, ast.Call) or not isinstance(turns.func, ast.Name) or turns.func.id != "range":
        return False
    end = turns.args[-1 if len(turns.args) < 3 else 1] if turns.args else None
    return isinstance(end, ast.Constant) and isinstance(end.value, int) and end.value >= _MANY_TURNS


def _asks_for_arguments(source: Source) -> bool:
    """Whether a parser of the file ends the process where the command line is empty."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            words = {word.arg: word.value for word in node.keywords}
            first = node.args[0] if node.args else None
            named = isinstance(first, ast.Constant) and not str(first.value).startswith("-")
            optional = words.get("nargs")
            free = isinstance(optional, ast.Constant) and optional.value in ("?", "*")
            if ("required" in words and _is_true(words["required"])) or (named and not free):
                return True
    return False
