"""Whether a run folder may be replayed unasked: what it says is run, with the interpreter and environment it names."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from trueline.model.message import Message, message

# What differs from shell to shell and makes no program load other code.
_HARMLESS: Final = re.compile(
    r"\w+_NUM_THREADS|CUDA_VISIBLE_DEVICES|ASCEND_(RT_)?VISIBLE_DEVICES|DEVICE_ID|PYTHONHASHSEED|PYTHONUNBUFFERED"
    r"|CUBLAS_WORKSPACE_CONFIG|LANG|LANGUAGE|LC_\w+|TZ|PWD|HOSTNAME"
)
_MAX_NAMES: Final = 8


@dataclass(frozen=True, slots=True)
class Started:
    """What a replay would run."""

    python: str
    command: str
    folder: str
    # Variables of the run's environment that are others now.
    variables: tuple[str, ...]

    def said(self, run: str) -> dict[str, Message | str]:
        """The parameters of the sentences that name it; of variables they speak where there are any."""
        more = ["…"] if len(self.variables) > _MAX_NAMES else []
        names = ", ".join([*self.variables[:_MAX_NAMES], *more])
        variables = message("replay.variables", names=names) if names else ""
        return {
            "run": run,
            "python": self.python,
            "command": self.command,
            "folder": self.folder,
            "variables": variables,
        }


def foreign(started: Mapping[str, Any], now: Mapping[str, str]) -> Started | None:
    """What a replay would run, where that is not plainly what the user would run here; None where it is.

    Plainly: this interpreter, a script or module below the current folder, and an environment in which nothing but
    numbers of threads, devices and the language is another than now.
    """
    python, script = str(started["executable"]), str(started["script"])
    folder, here = Path(str(started["cwd"])), Path.cwd()
    variables = tuple(
        sorted(
            str(name)
            for name, value in started["environment"].items()
            if now.get(str(name)) != str(value) and not _HARMLESS.fullmatch(str(name))
        )
    )
    own = _file_of(script, folder, bool(started["as_module"]))
    if python == sys.executable and not variables and _is_below(folder, here) and own and _is_below(own, here):
        return None
    line = [*(["-m"] if started["as_module"] else []), script, *map(str, started["args"])]
    return Started(python, shlex.join(line), str(folder), variables)


def _file_of(script: str, folder: Path, as_module: bool) -> Path | None:
    """The file that is run; None for a module that is not in the folder, as one of Python's own."""
    if not as_module:
        return folder / script
    place = folder.joinpath(*script.split("."))
    return next((file for file in (place.with_suffix(".py"), place / "__main__.py") if file.is_file()), None)


def _is_below(path: Path, folder: Path) -> bool:
    try:
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
    except (OSError, ValueError):
        return False
