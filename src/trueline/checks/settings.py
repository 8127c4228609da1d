"""What a project's pyproject.toml says about the checklist: items, and limits."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trueline.checks.listing import all_checks
from trueline.model.message import message
from trueline.model.trouble import BadFile


@dataclass(frozen=True, slots=True)
class Settings:
    """``[tool.trueline.check]``: select, ignore, and a table of limits per item (``"dp.03" = {min_repeat = 0.9}``)."""

    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    limits: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def read_settings(folder: Path) -> Settings:
    """The settings of the nearest pyproject.toml that has any; a BadFile where they make no sense."""
    for place in (folder, *folder.parents):
        path = place / "pyproject.toml"
        if not path.is_file():
            continue
        try:
            found = tomllib.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise BadFile(path, message("check.bad_settings", reason=str(error)).text()) from None
        own = found.get("tool", {}).get("trueline", {}).get("check")
        if isinstance(own, dict):
            return _settings(path, own)
    return Settings()


def _settings(path: Path, own: Mapping[str, Any]) -> Settings:
    limits = own.get("limits", {})
    known = {one.code: set() for one in all_checks()}  # type: dict[str, set[str]]
    for one in all_checks():
        known[one.code].update(one.limits)
    for code, given in limits.items() if isinstance(limits, dict) else ():
        unknown = sorted(set(given) - known.get(code, set())) if isinstance(given, dict) else [str(given)]
        if code not in known or unknown:
            reason = f"{code}: {', '.join(unknown)}"
            raise BadFile(path, message("check.bad_settings", reason=reason).text())
    return Settings(_names(path, own, "select"), _names(path, own, "ignore"), limits)


def _names(path: Path, own: Mapping[str, Any], name: str) -> list[str]:
    given = own.get(name, [])
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise BadFile(path, message("check.bad_settings", reason=name).text())
    return given
