"""What of the user's modules this process has left out."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Final

from trueline.adapters.guest.definitions.plan import Plan
from trueline.model.json_value import JsonObject

_NOT_THERE: Final = re.compile(r"cannot import name '(\w+)'")
_MAX_SPANS: Final = 4

# The plans of the modules that were imported without their work, in order.
LOADED: Final[list[Plan]] = []


def lost_name(error: BaseException) -> str | None:
    """The name of a module that an error says is not there."""
    if isinstance(error, NameError) or (isinstance(error, AttributeError) and isinstance(error.obj, ModuleType)):
        return error.name
    found = _NOT_THERE.match(str(error)) if isinstance(error, ImportError) else None
    return found[1] if found is not None else None


def left_out(name: str | None) -> dict[str, str | int] | None:
    """Where a name is set that was left out; None where none was."""
    for plan in LOADED:
        if name is not None and name in plan.lost:
            return {"name": name, "file": shown(plan.path), "line": plan.lost[name]}
    return None


def shown(path: Path) -> str:
    """Relative to the working directory where it is below that."""
    here = Path.cwd().resolve()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def told() -> list[JsonObject]:
    """What there is to tell of each module: the work, the lines that were left out, the names that they set again."""
    return [
        {
            "file": shown(plan.path),
            "line": plan.work.line,
            "call": plan.work.call,
            "lines": _spans(plan.lines),
            "count": sum(end - start + 1 for start, end in plan.lines),
            "stale": [[name, line] for name, line in plan.stale.items()],
        }
        for plan in LOADED
    ]


def _spans(lines: tuple[tuple[int, int], ...]) -> str:
    parts = [str(start) if start == end else f"{start}-{end}" for start, end in lines]
    # Of many the first and the last say enough.
    return ", ".join(parts if len(parts) <= _MAX_SPANS else [*parts[: _MAX_SPANS - 1], "…", parts[-1]])
