"""The modules of the user's own folder, imported without the work that they do on import."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final

from trueline.adapters.guest.definitions.loaded import LOADED
from trueline.adapters.guest.definitions.plan import Imports, Kept, Plan, names_by_work, planned
from trueline.adapters.guest.definitions.source import Defined, Source, at_module_level
from trueline.adapters.guest.definitions.working import Working
from trueline.adapters.guest.faults import is_users

# A name that is handed from module to module is followed so far.
_MAX_HOPS: Final = 5
# So many files of a project are looked at before its first import; what is imported beyond is looked at then.
_MAX_FILES: Final = 100
_INSTALLED: Final = frozenset({"site-packages", "dist-packages"})


class OwnModules(MetaPathFinder):
    """Finds modules below ``roots`` that work when they are imported; all others are left to Python."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = list(dict.fromkeys(root.resolve() for root in roots))
        self._sources: dict[Path, Source | None] = {}
        self._located: dict[str, Path | None] = {}
        self._kept: dict[Path, Kept] = {}
        self._by_work: dict[Path, frozenset[str]] = {}
        # What is wanted of each file; None is all.
        self._wanted: dict[Path, set[str] | None] = {}
        self._working = Working(self._defined)

    def follow(self, path: Path, name: str) -> None:
        """Decide what is run of a file, of which a name is wanted, and of all that it imports."""
        self._wanted[path.resolve()] = {name}
        waiting = [path.resolve()]
        while waiting and len(self._kept) < _MAX_FILES:
            file = waiting.pop()
            source = self._source(file)
            if source is None:
                continue
            self._kept[file] = kept = planned(source, self._working, self._wanted[file], self._imports(source))
            for other, names in self._demands(source, kept):
                before = self._wanted.get(other, set())
                more = None if names is None or before is None else before | names
                if other not in self._wanted or more != before:
                    self._wanted[other] = more
                    waiting.append(other)

    def plan(self, path: Path) -> Plan | None:
        """What to run of a file; None where it is imported as ever."""
        file = path.resolve()
        if not self._is_own(file):
            return None
        if file not in self._kept:
            source = self._source(file)
            if source is None:
                return None
            self._kept[file] = planned(source, self._working, None, self._imports(source))
        return self._kept[file].plan

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module that works when it is imported."""
        if self.locate(fullname) is None and (path is None or not any(self._is_own(Path(one)) for one in path)):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None or not isinstance(spec.loader, SourceFileLoader):
            return None
        plan = self.plan(Path(spec.origin))
        if plan is None:
            return None
        spec.loader = Loader(fullname, spec.origin, plan)
        return spec

    def spec_of_file(self, name: str, path: Path) -> ModuleSpec | None:
        """The spec of a file outside of any package that works when it is imported."""
        plan = self.plan(path) if path.resolve() in self._wanted else None
        return spec_from_file_location(name, path, loader=Loader(name, str(path), plan)) if plan else None

    def _is_own(self, file: Path) -> bool:
        file = file.resolve()
        return (
            any(file.is_relative_to(root) for root in self._roots)
            and not _INSTALLED.intersection(file.parts)
            and is_users(str(file))
        )

    def _source(self, file: Path) -> Source | None:
        if file not in self._sources:
            root = max((one for one in self._roots if file.is_relative_to(one)), key=lambda one: len(one.parts))
            package = ".".join(file.relative_to(root).parent.parts)
            self._sources[file] = Source.read(file, package)
        return self._sources[file]

    def locate(self, module: str) -> Path | None:
        """The user's own file of a module."""
        if module not in self._located:
            parts = module.split(".")
            places = (
                place
                for root in self._roots
                for place in (root.joinpath(*parts[:-1], f"{parts[-1]}.py"), root.joinpath(*parts, "__init__.py"))
            )
            found = next((place.resolve() for place in places if all(parts) and place.is_file()), None)
            self._located[module] = found if found is not None and self._is_own(found) else None
        return self._located[module]

    def _defined(self, source: Source, name: str, hops: int = 0) -> tuple[Source, Defined] | None:
        """The user's own function or class of a name that a file knows."""
        if name in source.defined:
            return source, source.defined[name]
        module, _, last = name.rpartition(".")
        file = self.locate(module) if module else None
        other = self._source(file) if file is not None else None
        if other is None or hops > _MAX_HOPS:
            return None
        return self._defined(other, other.imports.get(last, last), hops + 1)

    def _imports(self, source: Source) -> Imports:
        """What is known of what a file imports."""

        def withheld(node: ast.ImportFrom, known: str) -> bool:
            name = next((alias.name for alias in node.names if (alias.asname or alias.name) == known), known)
            return name in self._names_by_work(source.absolute(node))

        return Imports(withheld, self._there)

    def _there(self, module: str) -> bool:
        """Whether the package of a module is installed, or the user's own."""
        top = module.partition(".")[0]
        if top in sys.modules or any((root / top).is_dir() or (root / f"{top}.py").is_file() for root in self._roots):
            return True
        return PathFinder.find_spec(top) is not None or top in sys.stdlib_module_names

    def _names_by_work(self, module: str) -> frozenset[str]:
        file = self.locate(module)
        source = self._source(file) if file is not None else None
        if file is None or source is None:
            return frozenset()
        if file not in self._by_work:
            self._by_work[file] = names_by_work(source, self._working)
        return self._by_work[file]

    def _demands(self, source: Source, kept: Kept) -> Iterator[tuple[Path, set[str] | None]]:
        """The user's own files that a file imports, and what it needs of each."""
        chosen = kept.plan is not None
        inside = [inner for node in kept.strong for inner in ast.walk(node)] if chosen else ()
        outside = [*at_module_level(source.statements)] if chosen else source.importing
        for node in dict.fromkeys([*outside, *inside]):
            if isinstance(node, ast.ImportFrom):
                yield from self._of_names(source, node, kept if chosen and node in outside else None)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self._packages(alias.name)
                    file = self.locate(alias.name)
                    if file is not None:
                        within = inside if chosen else [*ast.walk(source.tree)]
                        yield file, _members(within, alias.asname or alias.name)

    def _of_names(
        self, source: Source, node: ast.ImportFrom, kept: Kept | None
    ) -> Iterator[tuple[Path, set[str] | None]]:
        module = source.absolute(node)
        yield from self._packages(module)
        file = self.locate(module)
        names = {alias.name: alias.asname or alias.name for alias in node.names}
        for name, known in names.items():
            inner = self.locate(f"{module}.{name}")
            if inner is not None:
                yield inner, _members([*ast.walk(source.tree)], known)
        if file is None:
            return
        if "*" in names:
            yield file, None
            return
        yield file, {name for name, known in names.items() if kept is None or known in kept.needed}

    def _packages(self, module: str) -> Iterator[tuple[Path, set[str] | None]]:
        """The packages that a module is in, which are imported before it."""
        parts = module.split(".")
        for count in range(1, len(parts)):
            file = self.locate(".".join(parts[:count]))
            if file is not None:
                yield file, set()


class Loader(SourceFileLoader):
    """Loads a module by its plan; nothing of that is kept in a file."""

    def __init__(self, name: str, path: str, plan: Plan) -> None:
        super().__init__(name, path)
        self._plan = plan

    def get_code(self, _fullname: str) -> CodeType:
        """The code of the statements that are run, at their own lines."""
        LOADED.append(self._plan)
        code: CodeType = compile(self._plan.tree, self.path, "exec", dont_inherit=True)
        return code


def own_modules() -> OwnModules | None:
    """Those that this process imports without their work."""
    return next((finder for finder in sys.meta_path if isinstance(finder, OwnModules)), None)


def _members(nodes: Sequence[ast.AST], module: str) -> set[str] | None:
    """What is read of an imported module; None where it is handed on as a whole."""
    found = [each.attr for each in nodes if isinstance(each, ast.Attribute) and ast.unparse(each.value) == module]
    heads = [each for each in nodes if isinstance(each, ast.Name) and each.id == module]
    return set(found) if len(heads) <= len(found) else None
