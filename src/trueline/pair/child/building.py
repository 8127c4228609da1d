"""From an entry point to a model and the adapter of its framework."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from trueline.adapters import FRAMEWORKS, adapters_present
from trueline.adapters.protocol import Adapter
from trueline.pair.child.faults import interpreter, said_for
from trueline.pair.sides.trouble import SideTrouble

_MISSING = object()


@dataclass(frozen=True, slots=True)
class Asked:
    """An entry point as this process finds it: a file or a module, a name in it, and what to call that with."""

    side: str
    module: str
    name: str
    is_file: bool
    folder: Path
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)


def build(asked: Asked, *, seed: int | None = 0) -> tuple[Any, Adapter]:
    """Import, find, and call where it is not a model already; what a factory draws comes from the seed."""
    # A module that reads the command line as it is imported is to find none.
    sys.argv = [asked.module]
    with said_for(asked.side, "importing"):
        imported = import_file(asked.side, Path(asked.module)) if asked.is_file else _imported(asked)
        present = adapters_present()
    for adapter in present:
        adapter.build.capture_built()
    found = _found(asked.side, imported, asked.module, asked.name)
    if not any(adapter.values.is_module(found) for adapter in present):
        found = _called(asked, found, seed)
    with said_for(asked.side, "building"):
        # The factory may have been the first to import the framework.
        for adapter in adapters_present():
            if adapter.values.is_module(found):
                return found, adapter
    raise SideTrouble("side.no_model", side=asked.side, type=_type_name(found))


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
    """Something that the user's module imports is not there."""
    package = (error.name or "").partition(".")[0]
    if package in sys.modules or not package:
        return error
    if package in FRAMEWORKS:
        return SideTrouble("side.no_framework", side=side, framework=package, python=interpreter())
    return SideTrouble("side.no_package", side=side, package=package, python=interpreter())


def import_file(side: str, file: Path) -> ModuleType:
    """A file of the user's as a module; what it imports beside itself is found."""
    path = file.absolute()
    if not path.is_file():
        raise SideTrouble("side.no_file", side=side, file=str(file))
    top, parts = path.parent, [path.stem]
    while (top / "__init__.py").is_file() and top.name.isidentifier():
        parts.insert(0, top.name)
        top = top.parent
    sys.path.insert(0, str(top))
    try:
        if len(parts) > 1:
            return importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
        return _alone(path)
    except ModuleNotFoundError as error:
        raise _lacking(side, error) from None


def _alone(path: Path) -> ModuleType:
    """A file that belongs to no package; its name may be one that is taken, or none that Python could import."""
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else f"user_file_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _found(side: str, module: ModuleType, shown: str, name: str) -> Any:
    found: Any = module
    for part in name.split("."):
        inside = getattr(found, part, _MISSING)
        if inside is _MISSING:
            near = difflib.get_close_matches(part, [one for one in dir(found) if not one.startswith("_")], n=1)
            if near:
                raise SideTrouble("side.no_factory_near", side=side, name=name, module=shown, near=near[0])
            raise SideTrouble("side.no_factory", side=side, name=name, module=shown)
        found = inside
    return found


def _called(asked: Asked, factory: Any, seed: int | None) -> Any:
    if not callable(factory):
        raise SideTrouble("side.no_model", side=asked.side, type=_type_name(factory))
    if not asked.args and not asked.kwargs and (needed := required(factory)):
        raise SideTrouble("side.needs_arguments", side=asked.side, names=", ".join(needed))
    if seed is not None:
        for adapter in adapters_present():
            adapter.state.seed(seed, deterministic=False)
    with said_for(asked.side, "building"):
        return factory(*asked.args, **asked.kwargs)


def required(function: Any) -> list[str] | None:
    """The parameters that a call must give; None where that cannot be told."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [one.name for one in parameters if one.default is one.empty and one.kind not in several]


def _type_name(value: Any) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
