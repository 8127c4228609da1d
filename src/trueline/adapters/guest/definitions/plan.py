"""Which statements of a module that works when it is imported are run: those that the wanted names need."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trueline.adapters.guest.definitions.source import DEFINED, FUNCTIONS, Source, is_main_guard
from trueline.adapters.guest.definitions.unit import Unit, running_and_defined, units, works
from trueline.adapters.guest.definitions.working import LOOP, Work, Working, gravest

# Code that reads these looks names up that nobody can see.
_LOOKS_UP: Final = frozenset({"globals", "eval", "vars", "exec", "__import__"})
_ALWAYS: Final = frozenset({"__all__", "__version__"})


@dataclass(frozen=True)
class Plan:
    """A module without its work: ``lines`` were left out because of ``work``.

    ``lost`` are names that only those lines set, with the first of them; ``stale`` those that they set again.
    """

    path: Path
    tree: ast.Module
    lines: tuple[tuple[int, int], ...]
    work: Work
    lost: Mapping[str, int]
    stale: Mapping[str, int]


def _never(_: ast.ImportFrom, __: str) -> bool:
    return False


def _always(_: str) -> bool:
    return True


@dataclass(frozen=True)
class Imports:
    """What is known of what a module imports.

    ``withheld`` says of an imported name that a module of the user's own makes it by work, ``there`` of a module
    whether it can be imported.
    """

    withheld: Callable[[ast.ImportFrom, str], bool] = _never
    there: Callable[[str], bool] = _always


@dataclass(frozen=True)
class Kept:
    """What is run of a module: ``needed`` are the names that the wanted ones need, ``plan`` None where all is run."""

    plan: Plan | None
    needed: frozenset[str]
    strong: tuple[ast.stmt, ...]


def planned(source: Source, working: Working, wanted: Iterable[str] | None, imports: Imports) -> Kept:
    """What to run for these names, or for all that a module without its training has (None)."""
    if not works(source, working):
        return Kept(None, frozenset(), tuple(source.statements))
    found = units(source, working)
    choice = _Choice(source, found, imports)
    choice.want(_ALWAYS if wanted is not None else {name for unit in found if not unit.never for name in unit.stores})
    choice.want(wanted or ())
    choice.settle()
    if all(unit in choice.kept for unit in found if unit.works):
        return Kept(None, frozenset(), tuple(source.statements))
    strong = tuple(unit.node for unit in found if unit in choice.strong)
    return Kept(choice.plan(), frozenset(choice.needed), strong)


def names_by_work(source: Source, working: Working) -> frozenset[str]:
    """The names that a module which works when it is imported makes by that, or from it."""
    if not works(source, working):
        return frozenset()
    return frozenset(_Choice(source, units(source, working), Imports()).heavy)


class _Choice:
    """Grows from the wanted names to the statements that they need, transitively."""

    def __init__(self, source: Source, found: list[Unit], imports: Imports) -> None:
        self._source, self._units, self._imports = source, found, imports
        self.needed: set[str] = set()
        self.kept: set[Unit] = set()
        self.strong: set[Unit] = set()
        self._storing: dict[str, list[Unit]] = {}
        self._changing: dict[str, list[Unit]] = {}
        for unit in found:
            for name in unit.stores:
                self._storing.setdefault(name, []).append(unit)
            for name in unit.changes:
                self._changing.setdefault(name, []).append(unit)
        self._impossible = {unit for unit in found if unit.never}
        self._spread()
        self.heavy = self._found_heavy()

    def _spread(self) -> None:
        """What reads a name that only work sets cannot run without it."""
        grew = True
        while grew:
            lost = {
                name for name, storing in self._storing.items() if all(unit in self._impossible for unit in storing)
            }
            more = {unit for unit in self._units if not unit.defines and unit.reads & lost} - self._impossible
            self._impossible |= more
            grew = bool(more)

    def want(self, names: Iterable[str]) -> None:
        """These names, and what making them needs."""
        waiting = [name for name in names if name not in self.needed]
        while waiting:
            name = waiting.pop()
            if name in self.needed:
                continue
            self.needed.add(name)
            for unit in self._storing.get(name, ()):
                if unit in self._impossible or unit.acts:
                    continue
                self.kept.add(unit)
                self.strong.add(unit)
                waiting += self._reads(unit)
            for unit in self._changing.get(name, ()):
                if unit not in self._impossible and unit.work is None and not unit.acts:
                    self.kept.add(unit)
                    waiting += self._reads(unit)

    def _reads(self, unit: Unit) -> list[str]:
        if unit.imports:
            return []
        inside = [each for each in running_and_defined(unit.node) if isinstance(each, DEFINED)]
        return [*unit.reads, *(name for each in inside for name in self._source.read_later(each))]

    def settle(self) -> None:
        """All that belongs to what is wanted, and all that only defines."""
        before, own = -1, self._own()
        while before != len(self.kept) + len(self.needed):
            before = len(self.kept) + len(self.needed)
            for unit in self._units:
                if unit not in self.kept and unit not in self._impossible and self._belongs(unit):
                    self.kept.add(unit)
                    # Nobody may call a function; a class, and what is decorated, may be looked up.
                    plain = isinstance(unit.node, FUNCTIONS) and not unit.node.decorator_list
                    later = () if plain else self._reads(unit)
                    self.want({*unit.reads, *(name for name in later if self._is_light(name) and name in own)})

    def _belongs(self, unit: Unit) -> bool:
        if is_main_guard(unit.node) or isinstance(unit.node, ast.Pass):
            return True
        if unit.imports:
            return self._kept_names(unit) != []
        if unit.work is not None and (unit.work.kind != LOOP or not (unit.stores | unit.changes) & self.needed):
            return False
        if not all(name in self.needed or self._is_light(name) for name in unit.reads):
            return False
        if unit.defines or unit.declares or _is_text(unit.node):
            return True
        touched = (unit.changes | (unit.stores if not unit.acts else frozenset())) & self._own()
        if touched:
            return bool(touched & self.needed)
        if unit.acts and unit.stores & self.needed:
            return True
        # A setting, of a framework or of Python: it is no business of any name that is left out.
        return not (unit.reads & self._own() - self.needed - self._source.defined.keys()) and (
            unit.acts or not unit.stores
        )

    def _own(self) -> set[str]:
        return {name for name, storing in self._storing.items() if not all(unit.imports for unit in storing)}

    def _is_light(self, name: str) -> bool:
        """Whether a name is made without work."""
        return name not in self.heavy

    def _found_heavy(self) -> set[str]:
        """The names that are not made without work."""
        heavy: set[str] = set()
        grew = True
        while grew:
            more = {
                name
                for name, storing in self._storing.items()
                if name not in heavy and not all(self._is_made_lightly(unit, name, heavy) for unit in storing)
            }
            heavy |= more
            grew = bool(more)
        return heavy

    def _is_made_lightly(self, unit: Unit, name: str, heavy: set[str]) -> bool:
        if isinstance(unit.node, ast.ImportFrom):
            there = self._imports.there(self._source.absolute(unit.node))
            return there and not self._imports.withheld(unit.node, name)
        if isinstance(unit.node, ast.Import):
            return all(self._imports.there(alias.name) for alias in unit.node.names)
        if unit in self._impossible or (unit.work is not None and unit.work.kind != LOOP):
            return False
        return not heavy.intersection(self._reads(unit))

    def _kept_names(self, unit: Unit) -> list[ast.alias]:
        """What of an import is run: names made by work, and packages that are not there, only where they are needed."""
        node = unit.node
        if isinstance(node, ast.Import):
            return [alias for alias in node.names if unit.stores & self.needed or self._imports.there(alias.name)]
        if not isinstance(node, ast.ImportFrom) or not (
            unit.stores & self.needed or self._imports.there(self._source.absolute(node))
        ):
            return []
        return [
            alias
            for alias in node.names
            if (alias.asname or alias.name) in self.needed
            or not self._imports.withheld(node, alias.asname or alias.name)
        ]

    def plan(self) -> Plan:
        """The module without the statements that are not kept."""
        if _LOOKS_UP & self.needed:
            self.want(name for name in self._storing if self._is_light(name))
            self.settle()
        out = [unit for unit in self._units if unit not in self.kept]
        here = {name for unit in self.kept for name in unit.stores}
        set_by: dict[str, int] = {}
        for unit in out:
            for name in unit.stores | unit.sets:
                set_by.setdefault(name, unit.node.lineno)
        lost = {name: line for name, line in set_by.items() if name not in here}
        stale = {
            name: unit.node.lineno
            for unit in out
            if unit in self._impossible
            for name in (unit.stores | unit.sets) & self.needed & here
            if name not in self._source.defined
        }
        work = gravest(unit.work for unit in out if unit.work is not None)
        assert work is not None
        tree = ast.Module(self._filtered(self._source.statements), [])
        return Plan(self._source.path, tree, _ranges(self._source, out), work, lost, stale)

    def _filtered(self, body: list[ast.stmt]) -> list[ast.stmt]:
        nodes = {id(unit.node): unit for unit in self._units}
        found: list[ast.stmt] = []
        for node in body:
            unit = nodes.get(id(node))
            if unit is None:
                found += self._compound(node)
            elif unit in self.kept:
                found.append(self._imported(unit))
        return found

    def _imported(self, unit: Unit) -> ast.stmt:
        node = unit.node
        if not isinstance(node, ast.Import | ast.ImportFrom) or len(names := self._kept_names(unit)) == len(node.names):
            return node
        fewer = ast.Import(names) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, names, node.level)
        return ast.copy_location(fewer, node)

    def _compound(self, node: ast.stmt) -> list[ast.stmt]:
        """A compound statement with what is kept of its blocks."""
        blocks = {
            name: self._filtered(getattr(node, name)) for name in ("body", "orelse", "finalbody") if hasattr(node, name)
        }
        handlers = [
            ast.copy_location(
                ast.ExceptHandler(one.type, one.name, self._filtered(one.body) or [ast.copy_location(ast.Pass(), one)]),
                one,
            )
            for one in getattr(node, "handlers", ())
        ]
        if not any(blocks.values()):
            return []
        blocks["body"] = blocks["body"] or [ast.copy_location(ast.Pass(), node)]
        fields = {name: getattr(node, name) for name in node._fields}
        fields |= blocks | ({"handlers": handlers} if handlers else {})
        return [ast.copy_location(type(node)(**fields), node)]


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _ranges(source: Source, out: list[Unit]) -> tuple[tuple[int, int], ...]:
    """First and last lines of what is left out, with nothing but blank lines and comments between as one."""
    text = source.text.decode("utf-8", "replace").splitlines()
    found: list[tuple[int, int]] = []
    for unit in sorted(out, key=lambda one: one.node.lineno):
        start, end = unit.node.lineno, unit.node.end_lineno or unit.node.lineno
        between = text[found[-1][1] : start - 1] if found else ["x"]
        if all(not line.strip() or line.strip().startswith("#") for line in between):
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return tuple(found)
