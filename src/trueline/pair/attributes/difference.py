"""One thing in which a module of the port is built otherwise than the benchmark's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from trueline.apitable.attributes import KnownLayer, known_layer
from trueline.model.json_value import Json
from trueline.model.run import ModuleInfo
from trueline.pair.blame import Cause
from trueline.pair.questions.described import Described
from trueline.pair.questions.module_run import Change


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is another on both sides; ``change`` brings the port to the benchmark's, None where none can.

    ``name`` is the argument in the port's spelling, ``given`` what a user would type for it, ``now`` what stands
    there; ``other_class`` is the class to build instead. ``fallback`` is tried where ``change`` cannot be done.
    """

    cause: Cause
    name: str
    bench: Json
    port: Json
    change: Change | None
    given: str = ""
    now: str = ""
    other_class: str = ""
    fallback: Change | None = None


@dataclass(frozen=True, slots=True)
class Modules:
    """A module of the benchmark and the one of the port that is to be the same; classes are their whole names.

    ``depth`` is how many levels of modules the port's has below it.
    """

    bench: ModuleInfo
    port: ModuleInfo
    classes: tuple[str, str]
    frameworks: tuple[str, str]
    depth: int = 0

    @classmethod
    def of(cls, bench: Described, port: Described, paths: tuple[str, str]) -> Modules:
        """The modules at these paths."""
        infos = [
            next(module for module in side.modules if module.path == path)
            for side, path in zip((bench, port), paths, strict=True)
        ]
        classes = (bench.classes.get(paths[0], infos[0].type), port.classes.get(paths[1], infos[1].type))
        within = f"{paths[1]}." if paths[1] else ""
        below = [
            module.path.removeprefix(within)
            for module in port.modules
            if module.path.startswith(within) and module.path
        ]
        depth = max((1 + path.count(".") for path in below), default=0)
        return cls(infos[0], infos[1], classes, (bench.framework, port.framework), depth)

    @property
    def known(self) -> tuple[KnownLayer | None, KnownLayer | None]:
        """What the table knows of them."""
        return known_layer(self.classes[0]), known_layer(self.classes[1])


def alike(first: object, second: object) -> bool:
    """Whether two values are the same but for rounding and for how lists are written."""
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second or first == second
    if isinstance(first, int | float) and isinstance(second, int | float):
        return math.isclose(first, second, rel_tol=1e-9)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(alike(a, b) for a, b in zip(first, second, strict=True))
    return bool(first == second)


def typed(arguments: Mapping[str, Json]) -> str:
    """Arguments as a user would type them."""
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())
