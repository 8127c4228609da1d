"""From an entry point to its object: the module or file is imported, the name looked up in it."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Self

from trueline.adapters import FRAMEWORKS
from trueline.adapters.guest.definitions.loaded import left_out
from trueline.adapters.guest.definitions.modules import OwnModules, own_modules
from trueline.adapters.guest.faults import interpreter, said_for
from trueline.adapters.guest.trouble import SideTrouble
from trueline.adapters.guest.wire import Content
from trueline.adapters.nouns import Foreign, Value

_MISSING = object()


@dataclass(frozen=True, slots=True)
class Asked:
    """An entry point as received by the process: a file or module, a name in it, and the arguments to call it with."""

    side: str
    module: str
    name: str
    is_file: bool
    folder: Path
    args: tuple[object, ...] = ()
    kwargs: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def arrived(cls, content: Content) -> Self:
        """The request of the parent; its folder becomes the working directory and the first entry of ``sys.path``."""
        folder = Path(content["folder"])
        os.chdir(folder)
        sys.path.insert(0, str(folder))
        return cls(
            content["side"],
            content["module"],
            content["name"],
            content["is_file"],
            folder,
            tuple(content.get("args", ())),
            content.get("kwargs", {}),
        )


def imported(asked: Asked, *, work: bool = True) -> ModuleType:
    """The imported module or file; what it raises becomes a SideTrouble.

    Without ``work``, of a module of the user's that does more than define when it is imported only that is run which
    the asked name needs.
    """
    # A module that reads the command line as it is imported is to find none.
    sys.argv = [asked.module]
    if not work:
        _leave_work_out(asked)
    with said_for(asked.side, "importing"):
        return import_file(asked.side, Path(asked.module)) if asked.is_file else _imported(asked)


def _leave_work_out(asked: Asked) -> None:
    path = Path(asked.module).absolute()
    modules = OwnModules([_top(path)[0], asked.folder] if asked.is_file else [asked.folder])
    file = path if asked.is_file else modules.locate(asked.module)
    if file is not None:
        modules.follow(file, asked.name.partition(".")[0])
        sys.meta_path.insert(0, modules)


def _top(path: Path) -> tuple[Path, list[str]]:
    """The folder that a file is imported from, and its module's name below that."""
    top, parts = path.parent, [path.stem]
    while (top / "__init__.py").is_file() and top.name.isidentifier():
        parts.insert(0, top.name)
        top = top.parent
    return top, parts


def _imported(asked: Asked) -> ModuleType:
    try:
        return importlib.import_module(asked.module)
    except ModuleNotFoundError as error:
        lacks = error.name or ""
        if lacks and (asked.module == lacks or asked.module.startswith(f"{lacks}.")):
            raise SideTrouble(
                "side.no_module", side=asked.side, module=asked.module, folder=str(asked.folder)
            ) from None
        raise _lacking(asked.side, error) from None


def _lacking(side: str, error: ModuleNotFoundError) -> SideTrouble | ModuleNotFoundError:
    """The error for a package that the user's module imports and that is not installed."""
    package = (error.name or "").partition(".")[0]
    if package in sys.modules or not package:
        return error
    if package in FRAMEWORKS:
        return SideTrouble("side.no_framework", side=side, framework=package, python=interpreter())
    return SideTrouble("side.no_package", side=side, package=package, python=interpreter())


def import_file(side: str, file: Path) -> ModuleType:
    """A file of the user's imported as a module, with its own folder on the path."""
    path = file.absolute()
    if not path.is_file():
        raise SideTrouble("side.no_file", side=side, file=str(file))
    top, parts = _top(path)
    sys.path.insert(0, str(top))
    try:
        if len(parts) > 1:
            return importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
        return _alone(path)
    except ModuleNotFoundError as error:
        raise _lacking(side, error) from None


def _alone(path: Path) -> ModuleType:
    """A file outside of any package; its name may be taken, or no valid module name."""
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else f"user_file_{path.stem}"
    modules = own_modules()
    spec = (
        modules.spec_of_file(name, path) if modules is not None else None
    ) or importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def found_in(side: str, module: ModuleType, shown: str, name: str) -> Foreign:
    """The object in a module under a name, which may be dotted."""
    held: Foreign = module
    for part in name.split("."):
        inside = getattr(held, part, _MISSING)
        if inside is _MISSING:
            if held is module and (left := left_out(part)) is not None:
                raise SideTrouble("side.left_out_name", side=side, **left)
            near = difflib.get_close_matches(
                part, [candidate for candidate in dir(held) if not candidate.startswith("_")], n=1
            )
            if near:
                raise SideTrouble("side.no_factory_near", side=side, name=name, module=shown, near=near[0])
            raise SideTrouble("side.no_factory", side=side, name=name, module=shown)
        held = inside
    return held


def required(function: Foreign) -> list[str] | None:
    """The required parameters of a callable; None where it has no signature."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty and parameter.kind not in variadic
    ]


def type_name(value: Value) -> str:
    """The type of a value, as a user would import it."""
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
