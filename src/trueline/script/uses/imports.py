"""What imports bind, and what the files of a project offer to each other."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from trueline.apitable.given import packages, public_names
from trueline.apitable.pairs import pairs_by_name
from trueline.script.project import Project
from trueline.script.source import read_source
from trueline.script.uses.roles import family_of, role_of
from trueline.script.uses.value import ClassInfo, ClassRef, FileRef, Ref, Value, ref

# Packages that no module of a project is taken for.
_OWN: Final = frozenset(("torch", "mindspore"))


class Imports:
    """The names of a project's files, each read once for what stands at its top."""

    def __init__(self, project: Project | None) -> None:
        self._project = project
        self._names: dict[str, dict[str, Value | None]] = {}

    def bound(self, node: ast.Import | ast.ImportFrom, path: Path) -> Iterator[tuple[str, Value | None]]:
        """The names that a statement binds, and what each stands for."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                yield alias.asname or name, self._module(name, path)
            return
        home = self.home(node, path)
        for alias in node.names:
            if alias.name == "*":
                yield from self._star(home)
            else:
                yield alias.asname or alias.name, self.member(home, alias.name)

    def member(self, home: Value | None, name: str) -> Value | None:
        """A name of a module."""
        if isinstance(home, Ref):
            return ref(f"{home.name}.{name}")
        if isinstance(home, FileRef):
            path = Path(home.path)
            found = self.names(home.path)
            if name in found:
                return found[name]
            folder = path if path.suffix != ".py" else path.parent if path.name == "__init__.py" else None
            if folder is not None and self._project is not None:
                place = self._project.find_relative(name, 1, folder / "__init__.py")
                return FileRef(str(place)) if place is not None else None
        return None

    def names(self, path: str) -> dict[str, Value | None]:
        """What stands at the top of a file of the project."""
        if path not in self._names:
            # Files that import each other see what is known so far.
            found = self._names[path] = {}
            place = Path(path)
            if place.suffix == ".py":
                self._read(read_source(place, path).tree.body, place, found)
        return self._names[path]

    def _read(self, statements: list[ast.stmt], path: Path, names: dict[str, Value | None]) -> None:
        for node in statements:
            match node:
                case ast.Import() | ast.ImportFrom():
                    names.update(self.bound(node, path))
                case ast.ClassDef():
                    bases = [self.dotted(base, names) for base in node.bases]
                    info = ClassInfo(node.name, str(path), node.lineno, bases)
                    derive(info)
                    names[node.name] = ClassRef(info)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    names[node.name] = None
                case ast.Assign(targets=[ast.Name(id=name)]):
                    names[name] = self.dotted(node.value, names)
                case ast.If() | ast.Try():
                    self._read(node.body, path, names)
                    self._read([one for one in node.orelse if isinstance(one, ast.stmt)], path, names)
                case _:
                    pass

    def dotted(self, node: ast.expr, names: dict[str, Value | None]) -> Value | None:
        """What a dotted name stands for."""
        if isinstance(node, ast.Name):
            return names.get(node.id)
        if isinstance(node, ast.Attribute):
            return self.member(self.dotted(node.value, names), node.attr)
        return None

    def _module(self, name: str, path: Path) -> Value | None:
        package = name.partition(".")[0]
        kind = packages().get(package, "")
        if package in _OWN or kind == "neutral" or package in sys.stdlib_module_names:
            return ref(name)
        if self._project is not None:
            place = self._project.find(name, path) or self._project.find_folder(name, path)
            if place is not None:
                return FileRef(str(place))
        return ref(name)

    def home(self, node: ast.ImportFrom, path: Path) -> Value | None:
        """The module that a statement imports from."""
        if not node.level:
            return self._module(node.module or "", path)
        if self._project is None:
            return None
        place = self._project.find_relative(node.module or "", node.level, path)
        return FileRef(str(place)) if place is not None else None

    def _star(self, home: Value | None) -> Iterator[tuple[str, Value | None]]:
        if isinstance(home, FileRef):
            for name, value in list(self.names(home.path).items()):
                if not name.startswith("_"):
                    yield name, value
        elif isinstance(home, Ref) and family_of(home.name):
            for word in sorted(_offered(home.name)):
                yield word, ref(f"{home.name}.{word}")


def _offered(module: str) -> set[str]:
    """The public names of a module, and those that the table of pairs knows in it."""
    begin = f"{module}."
    found = set(public_names().get(module, ()))
    known = (name[len(begin) :] for name in pairs_by_name() if name.startswith(begin))
    found.update(word for word in known if "." not in word)
    return found


def derive(info: ClassInfo) -> None:
    """Whether a class is a network, and which class of a framework it derives from."""
    for base in info.bases:
        if isinstance(base, ClassRef):
            info.network = info.network or base.info.network
            info.framework_base = info.framework_base or base.info.framework_base
        elif isinstance(base, Ref) and (family := family_of(base.name)):
            info.framework_base = info.framework_base or base.name
            if role_of(base.name) == "module" and not info.network:
                info.network = family
