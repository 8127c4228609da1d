"""The script run once more from its beginning, operator by operator from the step that went wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trueline.record.again import Command, end_group

if TYPE_CHECKING:
    from trueline.record.watching.hit import Hit

_AT = "TRUELINE_WATCH_AT"
_ANSWER = "TRUELINE_WATCH_ANSWER"


@dataclass(frozen=True, slots=True)
class Errand:
    """What a run is made for: the step to look at, and where the answer is wanted."""

    at: int
    answer: Path

    @classmethod
    def taken(cls, environment: Mapping[str, str] | None = None) -> Errand | None:
        """The errand of this process, if it has one; processes that it starts have none."""
        found = os.environ if environment is None else environment
        if _AT not in found or _ANSWER not in found:
            return None
        return cls(int(os.environ.pop(_AT)), Path(os.environ.pop(_ANSWER)))

    def tell(self, hit: Hit | None) -> None:
        """Leave the answer."""
        self.answer.write_text(json.dumps(hit.to_json() if hit is not None else None), "utf-8")


def run_afresh(command: Command, step: int, limit: float | None = None) -> Hit | None:
    """The hit as another run finds it at the step; None where that run does not show it."""
    options = ["--limit", repr(limit)] if limit is not None else []
    with tempfile.TemporaryDirectory(prefix="trueline-") as place:
        answer = Path(place) / "hit.json"
        process = subprocess.Popen(
            [sys.executable, "-m", "trueline", "watch", "--quiet", *options, *command.script_line()],
            cwd=command.folder,
            env={**command.environment, _AT: str(step), _ANSWER: str(answer)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.wait()
        finally:
            end_group(process)
        told = json.loads(answer.read_text("utf-8")) if answer.exists() else None
    if told is None:
        return None
    # NumPy comes with numbers: not before the script has run.
    from trueline.record.watching.hit import Hit

    return Hit.from_json(told)
