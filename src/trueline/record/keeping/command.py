"""How a run was started, as far as it may lie in a folder."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from trueline.model.json_value import JsonObject
from trueline.record.command import Command
from trueline.record.keeping.secrets import has_secret_name, is_secret

# What belongs to the terminal and the process, not to the run.
_PASSING: Final = re.compile(
    r"TERM|TERM_.*|COLORTERM|VTE_VERSION|WINDOWID|TMUX.*|STY|VSCODE_.*|COLUMNS|LINES|NO_COLOR|SHLVL|_|OLDPWD|SSH_.*|DISPLAY"
    r"|XDG_SESSION_.*|DBUS_SESSION_.*|INVOCATION_ID|JOURNAL_STREAM|PYTEST_CURRENT_TEST|TRUELINE_.*"
)


def describe(command: Command) -> JsonObject:
    """The command, and the world in which it was started."""
    kept = {name: value for name, value in command.environment.items() if not _PASSING.fullmatch(name)}
    return {
        "script": command.script,
        "args": list(command.args),
        "as_module": command.as_module,
        "cwd": str(command.folder),
        "executable": sys.executable,
        "python": platform.python_version(),
        "environment": {name: value for name, value in kept.items() if not is_secret(name, value)},
        "withheld": sorted(name for name, value in kept.items() if is_secret(name, value)),
    }


def command_of(described: Mapping[str, Any], now: Mapping[str, str]) -> Command:
    """The command again; what was not kept of its environment is as it is now."""
    withheld = set(described["withheld"])
    passing = {
        name: value
        for name, value in now.items()
        if _PASSING.fullmatch(name) or name in withheld or has_secret_name(name)
    }
    return Command(
        str(described["script"]),
        [str(argument) for argument in described["args"]],
        bool(described["as_module"]),
        Path(described["cwd"]),
        {**{str(name): str(value) for name, value in described["environment"].items()}, **passing},
    )
