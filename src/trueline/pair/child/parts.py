"""The file with parts: a user's losses, optimizers, schedules, metrics and data, for one side."""

from __future__ import annotations

import difflib
import inspect
from pathlib import Path
from types import ModuleType
from typing import Final

from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.importing import import_file, required
from trueline.adapters.guest.trouble import SideTrouble
from trueline.adapters.protocol import Values
from trueline.adapters.steps import line_of
from trueline.pair.child.host import Host, Part, UserObject
from trueline.pair.questions.parts import LoadedParts, LoadParts

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
# A name this similar to a known one (difflib ratio) is a slip of the pen.
_SLIP_SIMILARITY: Final = 0.82


def load_parts(host: Host, question: LoadParts) -> LoadedParts:
    """Import the file: the names this side has, and the line of each."""
    host.adapter.build.capture_built()
    shown = question.shown
    # Whether it is this side's fault, only who knows both sides can say.
    with said_for(shown, "parts"):
        module = import_file(shown, Path(question.path))
    _refuse_near_misses(module, shown)
    parts = _own(module, question.role)
    for part in parts.values():
        _refuse_wrong_kind(host, part, shown)
    host.parts, host.made = parts, {}
    lines = {name: line for name, part in parts.items() if (line := line_of(part.value)) is not None}
    return LoadedParts(list(parts), lines)


def value_of(host: Host, name: str) -> UserObject:
    """What this side has under a name (its own, else the one for both); None where there is none."""
    part = host.parts.get(name)
    return part.value if part is not None else None


def made_once(host: Host, name: str) -> UserObject:
    """What the function of a part gives, called at the first question for it."""
    if name not in host.made:
        host.made[name] = made(host, name)
    return host.made[name]


def made(host: Host, name: str, *args: object) -> UserObject:
    """Call the function of a part; what it raises, and None as its result, is a trouble that names side and part."""
    function = value_of(host, name)
    if function is None:
        raise SideTrouble("pair_parts.missing", side=host.side, name=name)
    if name in _DIRECT and (host.adapter.values.is_module(function) or _takes(function) == _DIRECT[name]):
        return function
    with said_for(host.side, name):
        result = function(*args)
    if result is None:
        raise SideTrouble("pair_parts.gives_nothing", side=host.side, name=_found_as(host, name))
    return result


def refuse(host: Host, name: str, value: object, wanted: str) -> SideTrouble:
    """The trouble that a part gave something else than it should; ``wanted`` is a short English name of a type."""
    return SideTrouble(
        "pair_parts.gives_wrong_kind", side=host.side, name=_found_as(host, name), type=_kind(value), wanted=wanted
    )


def _found_as(host: Host, name: str) -> str:
    return host.parts[name].found_as if name in host.parts else name


def _own(module: ModuleType, role: str) -> dict[str, Part]:
    parts: dict[str, Part] = {}
    for name in _NAMES:
        for whole in (f"{role}_{name}", name):
            if hasattr(module, whole) and name not in parts and not inspect.ismodule(getattr(module, whole)):
                parts[name] = Part(name, whole, getattr(module, whole))
    return parts


def _refuse_near_misses(module: ModuleType, file: str) -> None:
    """A name that is nearly one of the known ones is a slip, and the part would silently be missing."""
    present = [name for name in _WHOLE_NAMES if hasattr(module, name)]
    for name, value in vars(module).items():
        if name in _WHOLE_NAMES or name.startswith("_"):
            continue
        could_be = [whole for whole in _WHOLE_NAMES if whole not in present and _could_be(whole, module, value)]
        near = difflib.get_close_matches(name, could_be, 1, _SLIP_SIMILARITY)
        if near:
            raise SideTrouble("pair_parts.near", file=file, name=name, near=near[0])
    if not present:
        raise SideTrouble("pair_parts.none", file=file, names=", ".join(_NAMES))


def _could_be(whole: str, module: ModuleType, value: object) -> bool:
    """Whether something of the user's file is of the kind that a part of this name would be."""
    name = whole.removeprefix("bench_").removeprefix("port_")
    if name in _FUNCTIONS:
        own = inspect.isfunction(value) and value.__module__ == module.__name__
        return own and _takes(value) == _FUNCTIONS[name]
    return isinstance(value, str if name == _PER else int)


def _refuse_wrong_kind(host: Host, part: Part, file: str) -> None:
    def wrong(wanted: str) -> SideTrouble:
        return SideTrouble(
            "pair_parts.wrong_kind", file=file, name=part.found_as, type=_kind(part.value), wanted=wanted
        )

    if part.name in _NUMBERS:
        if not isinstance(part.value, int) or isinstance(part.value, bool) or part.value < 1:
            raise wrong("int > 0")
    elif part.name == _PER:
        if part.value not in _UNITS:
            raise wrong(" | ".join(repr(unit) for unit in _UNITS))
    elif not callable(part.value):
        raise wrong("function")
    elif not _fits(host.adapter.values, part):
        count = _FUNCTIONS[part.name]
        needed = ", ".join(required(part.value) or ())
        raise SideTrouble("pair_parts.arguments", file=file, name=part.found_as, count=count, needed=needed or "-")


def _fits(values: Values, part: Part) -> bool:
    """Whether the function can be called with as many arguments as it will be."""
    if part.name in _DIRECT and (values.is_module(part.value) or _takes(part.value) == _DIRECT[part.name]):
        return True
    try:
        inspect.signature(part.value).bind(*range(_FUNCTIONS[part.name]))
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def _takes(function: object) -> int:
    return len(required(function) or ())


def _kind(value: object) -> str:
    return type(value).__name__
