"""The script run once more from its beginning, operator by operator from the step that went wrong."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from trueline.record.command import Command, end_group, kept
from trueline.record.run_mode import RunMode, WatchedStep

if TYPE_CHECKING:
    from trueline.watch.hit import Hit

# The step before the first: whatever is computed before any training is seen.
FROM_THE_START = -1


def leave_answer(asked: WatchedStep, hit: Hit | None) -> None:
    """For the run that has started this one."""
    Path(asked.answer).write_text(json.dumps(hit.to_json() if hit is not None else None), "utf-8")


def run_afresh(command: Command, step: int, limit: float | None = None, *, thrown_away: bool = False) -> Hit | None:
    """The hit as another run finds it at the step; None where that run does not show it."""
    options = ["--limit", repr(limit)] if limit is not None else []
    with tempfile.TemporaryDirectory(prefix="trueline-") as place:
        answer = Path(place) / "hit.json"
        mode = RunMode(watched=WatchedStep(step, str(answer), thrown_away))
        process = subprocess.Popen(
            kept("watch", "--quiet", *options, *command.script_line()),
            cwd=command.folder,
            env={**command.environment, **mode.environment()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.wait()
        finally:
            end_group(process)
        content = json.loads(answer.read_text("utf-8")) if answer.exists() else None
    if content is None:
        return None
    # NumPy comes with numbers: not before the script has run.
    from trueline.watch.hit import Hit

    return Hit.from_json(content)
