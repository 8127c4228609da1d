"""The file with parts: a user's losses, optimizers, schedules, metrics and data, for one side."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.importing import import_file, required
from trueline.adapters.guest.trouble import SideTrouble
from trueline.adapters.guest.wire import Content
from trueline.adapters.protocol import Values
from trueline.adapters.steps import line_of
from trueline.kernel.array import Array
from trueline.pair.child.host import Answer, Host

# How many arguments each function takes.
_FUNCTIONS: Final = {
    "loss": 0,
    "metric": 0,
    "dataset": 0,
    "samples": 0,
    "transforms": 0,
    "batches": 0,
    "optimizer": 1,
    "schedule": 1,
}
_NUMBERS: Final = ("steps_per_epoch", "epochs")
_UNITS: Final = ("step", "epoch")
_PER: Final = "schedule_per"
_NAMES: Final = (*_FUNCTIONS, *_NUMBERS, _PER)
_ROLES: Final = ("bench", "port")
_WHOLE_NAMES: Final = (*_NAMES, *(f"{role}_{name}" for role in _ROLES for name in _NAMES))
# Parts that may be written as the function itself instead of one that returns it.
_DIRECT: Final = {"loss": 2, "metric": 2}
_NEAR: Final = 0.82


@dataclass(frozen=True, slots=True)
class Part:
    """One part of one side: the name it was found under, and what stands there."""

    name: str
    found_as: str
    value: Any


@dataclass(frozen=True, slots=True)
class Loaded:
    """The parts of one side by name, and the file they are from."""

    role: str
    file: str
    parts: Mapping[str, Part]


def answer_parts(host: Host, content: Content, _: list[Array]) -> Answer:
    """Load the file; ``role`` is bench or port. The names this side has, and the line of each."""
    host.adapter.build.capture_built()
    file, shown = Path(content["path"]), content["shown"]
    # Whether it is this side's fault, only who knows both can tell.
    with said_for(shown, "parts"):
        module = import_file(shown, file)
    _refuse_near_misses(module, shown)
    loaded = Loaded(content["role"], str(file), _own(module, content["role"]))
    for one in loaded.parts.values():
        _refuse_wrong_kind(host, one, shown)
    host.kept["parts"] = loaded
    for name in _FUNCTIONS:
        host.kept.pop(name, None)
    lines = {one.name: line.line_json() for one in loaded.parts.values() if (line := line_of(one.value)) is not None}
    return {"names": list(loaded.parts), "lines": lines}, []


def part(host: Host, name: str) -> Any:
    """What this side has under a name (its own, else the one for both); None where there is none."""
    loaded = host.kept.get("parts")
    found = loaded.parts.get(name) if loaded is not None else None
    return found.value if found is not None else None


def made(host: Host, name: str, *args: Any) -> Any:
    """Call the function of a part; what it raises, and None as its result, is a trouble that names side and part."""
    function = part(host, name)
    if function is None:
        raise SideTrouble("pair_parts.missing", side=host.side, name=name)
    if name in _DIRECT and (host.adapter.values.is_module(function) or _takes(function) == _DIRECT[name]):
        return function
    with said_for(host.side, name):
        found = function(*args)
    if found is None:
        raise SideTrouble("pair_parts.gives_nothing", side=host.side, name=_found_as(host, name))
    return found


def refuse(host: Host, name: str, value: Any, wanted: str) -> SideTrouble:
    """The trouble that a part gave something else than it should; ``wanted`` is a short English name of a type."""
    return SideTrouble(
        "pair_parts.gives_wrong_kind", side=host.side, name=_found_as(host, name), type=_kind(value), wanted=wanted
    )


def _found_as(host: Host, name: str) -> str:
    loaded = host.kept.get("parts")
    return str(loaded.parts[name].found_as) if loaded is not None and name in loaded.parts else name


def _own(module: ModuleType, role: str) -> dict[str, Part]:
    found: dict[str, Part] = {}
    for name in _NAMES:
        for whole in (f"{role}_{name}", name):
            if hasattr(module, whole) and name not in found and not inspect.ismodule(getattr(module, whole)):
                found[name] = Part(name, whole, getattr(module, whole))
    return found


def _refuse_near_misses(module: ModuleType, file: str) -> None:
    """A name that is nearly one of the known ones is a slip, and the part would silently be missing."""
    present = [name for name in _WHOLE_NAMES if hasattr(module, name)]
    for name, value in vars(module).items():
        if name in _WHOLE_NAMES or name.startswith("_"):
            continue
        could_be = [one for one in _WHOLE_NAMES if one not in present and _could_be(one, module, value)]
        near = difflib.get_close_matches(name, could_be, 1, _NEAR)
        if near:
            raise SideTrouble("pair_parts.near", file=file, name=name, near=near[0])
    if not present:
        raise SideTrouble("pair_parts.none", file=file, names=", ".join(_NAMES))


def _could_be(whole: str, module: ModuleType, value: Any) -> bool:
    """Whether something of the user's file is of the kind that a part of this name would be."""
    name = whole.removeprefix("bench_").removeprefix("port_")
    if name in _FUNCTIONS:
        own = inspect.isfunction(value) and value.__module__ == module.__name__
        return own and _takes(value) == _FUNCTIONS[name]
    return isinstance(value, str if name == _PER else int)


def _refuse_wrong_kind(host: Host, one: Part, file: str) -> None:
    def wrong(wanted: str) -> SideTrouble:
        return SideTrouble("pair_parts.wrong_kind", file=file, name=one.found_as, type=_kind(one.value), wanted=wanted)

    if one.name in _NUMBERS:
        if not isinstance(one.value, int) or isinstance(one.value, bool) or one.value < 1:
            raise wrong("int > 0")
    elif one.name == _PER:
        if one.value not in _UNITS:
            raise wrong(" | ".join(repr(unit) for unit in _UNITS))
    elif not callable(one.value):
        raise wrong("function")
    elif not _fits(host.adapter.values, one):
        count = _FUNCTIONS[one.name]
        needed = ", ".join(required(one.value) or ())
        raise SideTrouble("pair_parts.arguments", file=file, name=one.found_as, count=count, needed=needed or "-")


def _fits(values: Values, one: Part) -> bool:
    """Whether the function can be called with as many arguments as it will be."""
    if one.name in _DIRECT and (values.is_module(one.value) or _takes(one.value) == _DIRECT[one.name]):
        return True
    try:
        inspect.signature(one.value).bind(*range(_FUNCTIONS[one.name]))
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def _takes(function: Any) -> int:
    return len(required(function) or ())


def _kind(value: Any) -> str:
    return type(value).__name__
