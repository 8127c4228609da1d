"""The runs of a folder, one row each; a run that cannot be read is a row that says why."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from trueline.formats.run_folder.reader import find_runs, open_run
from trueline.model.json_value import JsonObject
from trueline.model.message import Message, message
from trueline.model.numbers import encode
from trueline.model.report import Report, Table, Text
from trueline.model.trouble import BadFile
from trueline.report.run.state import State, state_of


@dataclass(frozen=True, slots=True)
class Listed:
    """What the list says of one run; ``trouble`` is why it cannot be read."""

    path: Path
    name: str
    framework: str | None = None
    version: str | None = None
    started: str | None = None
    steps: int | None = None
    last_loss: float | None = None
    ranks: int | None = None
    state: State | None = None
    trouble: Message | None = None

    def to_json(self) -> JsonObject:
        """The JSON shape."""
        return {
            "path": str(self.path),
            "name": self.name,
            "framework": self.framework,
            "version": self.version,
            "started": self.started,
            "steps": self.steps,
            "last_loss": encode(self.last_loss) if self.last_loss is not None else None,
            "seconds": self.state.seconds if self.state is not None else None,
            "ranks": self.ranks,
            **(self.state.to_json() if self.state is not None else {"state": "unreadable", "died": [], "off": None}),
            "exit_code": self.state.exit_code if self.state is not None else None,
            "error": self.trouble.text() if self.trouble is not None else None,
        }


def list_runs(folder: Path, *, now: float | None = None) -> list[Listed]:
    """The runs in and below a folder, the oldest first."""
    found = [_listed(path, folder, now) for path in find_runs(folder)]
    return sorted(found, key=lambda run: (run.started or "", run.name))


def listing_conclusion(folder: Path, runs: Sequence[Listed]) -> Message:
    """How many runs there are."""
    if not runs:
        return message("runs.none", folder=str(folder))
    if len(runs) == 1:
        return message("runs.one", folder=str(folder))
    return message("runs.count", folder=str(folder), count=len(runs))


def listing_report(folder: Path, runs: Sequence[Listed], *, now: float | None = None) -> Report:
    """The list as a report."""
    columns = [
        message("runs.name"),
        message("runs.framework"),
        message("runs.started"),
        message("runs.steps"),
        message("runs.last_loss"),
        message("runs.seconds"),
        message("runs.ranks"),
        message("runs.state"),
    ]
    conclusion = listing_conclusion(folder, runs)
    table = Table(
        message("runs.title"),
        columns,
        [_row(run, time.time() if now is None else now) for run in runs],
        frozenset(place for place, run in enumerate(runs) if run.trouble is not None),
    )
    troubles = [Text(run.trouble) for run in runs if run.trouble is not None]
    return Report(message("runs.title"), conclusion, blocks=[table, *troubles] if runs else [])


def _listed(path: Path, top: Path, now: float | None) -> Listed:
    name = path.relative_to(top).as_posix() if path != top else path.resolve().name
    try:
        run = open_run(path)
        first = run.rank(run.ranks[0]) if run.ranks else None
        losses = first.curve("loss").values if first is not None else ()
        return Listed(
            path,
            name,
            run.info.framework,
            run.info.versions.get(run.info.framework or ""),
            run.info.started or None,
            first.finished if first is not None else 0,
            losses[-1] if losses else None,
            len(run.ranks),
            state_of(run, now=now),
        )
    except BadFile as error:
        return Listed(path, name, trouble=error.message)


def _row(run: Listed, now: float) -> list[object]:
    if run.trouble is not None:
        return [run.name, None, None, None, None, None, None, message("runs.unreadable")]
    framework = " ".join(filter(None, (run.framework, run.version)))
    seconds = run.state.seconds if run.state is not None else None
    return [
        run.name,
        framework or None,
        _started(run.started or "", now),
        run.steps,
        run.last_loss,
        duration(seconds) if seconds is not None else None,
        run.ranks,
        run.state.word if run.state is not None else None,
    ]


def _started(text: str, now: float) -> str:
    """Day and time of this year's, the date of older ones; what is no date as it is."""
    try:
        started = datetime.fromisoformat(text)
    except ValueError:
        return text[:16]
    this_year = started.year == datetime.fromtimestamp(now, started.tzinfo).year
    return started.strftime("%m-%d %H:%M" if this_year else "%Y-%m-%d")


def duration(seconds: float) -> str:
    """Seconds as ``1.5 s``, ``2:05`` or ``3:00:07``."""
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
