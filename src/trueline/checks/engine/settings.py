"""What a project's pyproject.toml says about the checklist: items, and limits."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from trueline.checks.engine.listing import all_checks
from trueline.model.message import message
from trueline.model.regular_file import open_regular
from trueline.model.toml_text import parse_toml
from trueline.model.trouble import BadFile

_KNOWN: Final = ("select", "ignore", "limits")


@dataclass(frozen=True, slots=True)
class Settings:
    """``[tool.trueline.check]``: select, ignore, and a table of limits per item (``"dp.03" = {min_repeat = 0.9}``)."""

    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    limits: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Written:
    """The table of a pyproject.toml as it stands there; nothing is loaded to read it."""

    path: Path
    table: Mapping[str, object]


def find_settings(folder: Path) -> Written | None:
    """The table of the nearest pyproject.toml, upward from a folder, that has one; a BadFile for what is no TOML."""
    folder = folder.absolute()
    for place in (folder, *folder.parents):
        path = place / "pyproject.toml"
        if not path.is_file():
            continue
        try:
            with os.fdopen(open_regular(path), encoding="utf-8") as file:
                table: object = parse_toml(file.read())
        except (OSError, ValueError) as error:
            raise BadFile(path, message("check.bad_settings", reason=str(error)).text()) from None
        for name in ("tool", "trueline", "check"):
            table = table.get(name) if isinstance(table, dict) else None
        if isinstance(table, dict):
            return Written(path, table)
    return None


def read_settings(written: Written | None) -> Settings:
    """What it means; a BadFile for nonsense."""
    if written is None:
        return Settings()
    path, own = written.path, written.table
    for name in own:
        if name not in _KNOWN:
            raise BadFile(path, message("check.unknown_setting", name=name).text())
    limits = own.get("limits", {})
    if not isinstance(limits, dict):
        raise BadFile(path, message("check.bad_settings", reason="limits").text())
    for code, given in limits.items():
        _check_limits(path, code, given)
    return Settings(_names(path, own, "select"), _names(path, own, "ignore"), limits)


def _check_limits(path: Path, code: str, given: object) -> None:
    known: dict[str, object] = {}
    ways = [way for way in all_checks() if way.code == code]
    for way in ways:
        known |= way.limits
    if not ways or not isinstance(given, dict):
        raise BadFile(path, message("check.limits_of_unknown", code=code).text())
    for name, value in given.items():
        if name not in known:
            raise BadFile(path, message("check.no_such_limit", code=code, name=name).text())
        if not _fits(value, known[name]):
            said = message("check.bad_limit", code=code, name=name, found=repr(value), default=repr(known[name]))
            raise BadFile(path, said.text())


def _fits(value: object, default: object) -> bool:
    """Of the kind that the default is of; a whole number is a number too."""
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, int | float) and value == value
    return isinstance(value, type(default))


def _names(path: Path, own: Mapping[str, object], name: str) -> list[str]:
    given = own.get(name, [])
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise BadFile(path, message("check.bad_names", name=name, example='["ds", "mp.03"]').text())
    return given
