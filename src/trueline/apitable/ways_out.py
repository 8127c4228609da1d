"""What to do with a name that nothing maps to: the rows of ``ways_out.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from importlib import resources
from types import MappingProxyType

import msgspec


class WayKind(StrEnum):
    """How a name is replaced."""

    COUNTERPART = "counterpart"
    REWRITE = "rewrite"
    COMPOSE = "compose"
    DROP = "drop"
    NONE = "none"


class WayOut(msgspec.Struct, frozen=True, omit_defaults=True):
    """One row; see the head of the table for what the fields mean."""

    kind: WayKind
    en: str
    zh: str
    to: str = ""
    code: str = ""
    check: str = ""

    def said(self, lang: str) -> str:
        """What to do, in a language."""
        return self.zh if lang == "zh" else self.en


@cache
def ways_out() -> Mapping[str, WayOut]:
    """All rows by name."""
    text = resources.files("trueline.apitable").joinpath("ways_out.toml").read_text("utf-8")
    return MappingProxyType(msgspec.convert(tomllib.loads(text), dict[str, WayOut]))


@cache
def way_out(name: str) -> WayOut | None:
    """The row of a name, or of the package that it is in; from MindSpore also the other way round."""
    found = ways_out().get(name)
    if found is not None:
        return found
    package = name
    while "." in package:
        package = package.rpartition(".")[0]
        if (found := ways_out().get(f"{package}.*")) is not None:
            return found
    return _back().get(name)


def same_name(to: str) -> WayOut:
    """What to do with a name that the other framework offers too, where nobody has measured it."""
    return WayOut(WayKind.COUNTERPART, _UNMEASURED[0], _UNMEASURED[1], to)


@cache
def _back() -> Mapping[str, WayOut]:
    """Counterparts the other way round, where one name only leads there."""
    found: dict[str, list[str]] = {}
    for name, way in ways_out().items():
        if way.kind is WayKind.COUNTERPART and name.startswith("torch") and not name.endswith("*"):
            found.setdefault(way.to, []).append(name)
    return {to: WayOut(WayKind.COUNTERPART, _SAME[0], _SAME[1], min(names, key=len)) for to, names in found.items()}


_UNMEASURED = ("the same name; not measured", "同名接口；未经实测")
_SAME = ("its counterpart", "对应的接口")
