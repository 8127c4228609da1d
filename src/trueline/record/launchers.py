"""Programs that start the ranks themselves (torchrun, msrun, …): every Python process below them records itself."""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import datetime
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from trueline.model.ending import Ending
from trueline.model.message import Message
from trueline.model.steps import Steps
from trueline.model.trouble import Trouble
from trueline.record import rank_report
from trueline.record.rank_report import FOLDER
from trueline.record.ranks import is_scheduler
from trueline.record.recording import Recording
from trueline.record.site_path import with_site
from trueline.record.stderr_line import write_line
from trueline.record.wanted import Wanted

VARIABLE = "TRUELINE_RECORD"
_LOOK_EVERY = 1.0


@dataclasses.dataclass(frozen=True, slots=True)
class Launched:
    """How a launcher has ended: its exit code, and what went wrong with its ranks, where that was seen."""

    code: int
    ending: Ending | None


def find_launcher(name: str) -> str | None:
    """The program that a name means: one on the path, or an executable file that is not a Python script."""
    path = Path(name)
    if not path.exists():
        return shutil.which(name)
    runs_itself = path.is_file() and path.suffix not in (".py", ".pyw") and os.access(path, os.X_OK)
    return str(path.absolute()) if runs_itself else None


def run_launcher(
    program: str,
    args: Sequence[str],
    wanted: Wanted,
    meanwhile: Callable[[], None] | None = None,
    hang_after: float = 0.0,
) -> Launched:
    """Run a launcher with its ranks recording, doing ``meanwhile`` now and then.

    Where no rank moves for ``hang_after`` seconds and they wait for one another, it is ended; 0 waits for ever.
    """
    from trueline.record.watchdog import Watchdog, run_watched

    watchdog = Watchdog(wanted.folder, hang_after)
    environment = {**os.environ, VARIABLE: _packed(wanted), FOLDER: str(watchdog.folder), **with_site(os.environ)}
    process = subprocess.Popen([program, *args], env=environment)
    code = run_watched(process, watchdog, _LOOK_EVERY, meanwhile)
    code = code if code >= 0 else 128 - code
    if watchdog.ending is not None:
        # Ended by force, it has failed whatever its launcher says.
        code = code or 1
    if code:
        _note_exit(wanted.folder, code)
    watchdog.finish(code)
    return Launched(code, watchdog.ending)


def _note_exit(folder: Path, code: int) -> None:
    """A rank does not know the code that it ends with, and the one that writes for all may have been killed."""
    from trueline.formats.run_folder.appending import replace_file
    from trueline.formats.run_folder.json_text import json_page
    from trueline.formats.run_folder.layout import RUN_FILE
    from trueline.formats.run_folder.reader import open_run

    with contextlib.suppress(OSError, Trouble):
        info = open_run(folder).info
        if info.id and info.exit_code in (None, 0):
            ended = info.ended or datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            page = json_page(dataclasses.replace(info, ended=ended, exit_code=code).to_json())
            replace_file(folder / RUN_FILE, page)


def _packed(wanted: Wanted) -> str:
    return json.dumps(
        {
            "folder": str(wanted.folder.resolve()),
            "stats": wanted.stats,
            "tensors": wanted.tensors,
            "inputs": wanted.inputs,
            "grads": wanted.grads,
            "weights": wanted.weights,
            "steps": [list(part) for part in wanted.steps.parts],
            "modules": list(wanted.modules),
            "source": wanted.source,
            "seed": wanted.seed,
            "manifest": wanted.manifest,
            "data_roots": list(wanted.data_roots),
            "batches": wanted.batches,
        }
    )


def _unpacked(text: str) -> Wanted:
    found: dict[str, Any] = json.loads(text)
    parts = tuple((int(start), stop, int(stride)) for start, stop, stride in found.pop("steps"))
    modules, roots = (tuple(found.pop(name)) for name in ("modules", "data_roots"))
    return Wanted(Path(found.pop("folder")), steps=Steps(parts), modules=modules, data_roots=roots, **found)


def attach() -> None:
    """Called in every Python process below a launcher, before the user's code."""
    rank_report.begin()
    wanted = _unpacked(os.environ[VARIABLE])
    if wanted.seed is not None:
        from trueline.record.randomness import fix_random

        fix_random(wanted.seed)
    if wanted.manifest and not is_scheduler():
        from trueline.record.opened.lists import join_or_begin

        opened = join_or_begin(wanted.folder, wanted.data_roots, _warn)
        if opened is not None:
            atexit.register(opened.end)
    # Of how it ends, a process knows at its end only whether it was by an error.
    recording = Recording(
        wanted, _warn, always_folder=False, exit_code=lambda: 1 if hasattr(sys, "last_value") else None
    )
    recording.begin()


def _warn(said: Message) -> None:
    write_line(f"trueline: {said.text()}")
