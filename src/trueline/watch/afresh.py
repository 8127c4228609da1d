"""The script run once more from its beginning, operator by operator from the step that went wrong."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trueline.record.again import Command, end_group, kept

if TYPE_CHECKING:
    from trueline.watch.hit import Hit

# The step before the first: whatever is computed before any training is seen.
FROM_THE_START = -1
_AT = "TRUELINE_WATCH_AT"
_ANSWER = "TRUELINE_WATCH_ANSWER"
_THROWN_AWAY = "TRUELINE_WATCH_THROWN_AWAY"


@dataclass(frozen=True, slots=True)
class Errand:
    """What a run is made for: the step to look at, where the answer is wanted, and which loss counts.

    ``thrown_away``: one that no update came after.
    """

    at: int
    answer: Path
    thrown_away: bool = False

    @classmethod
    def taken(cls, environment: Mapping[str, str] | None = None) -> Errand | None:
        """The errand of this process, if it has one; processes that it starts have none."""
        found = os.environ if environment is None else environment
        if _AT not in found or _ANSWER not in found:
            return None
        thrown_away = os.environ.pop(_THROWN_AWAY, None) is not None
        return cls(int(os.environ.pop(_AT)), Path(os.environ.pop(_ANSWER)), thrown_away)

    def tell(self, hit: Hit | None) -> None:
        """Leave the answer."""
        self.answer.write_text(json.dumps(hit.to_json() if hit is not None else None), "utf-8")


def run_afresh(command: Command, step: int, limit: float | None = None, *, thrown_away: bool = False) -> Hit | None:
    """The hit as another run finds it at the step; None where that run does not show it."""
    asked = {_AT: str(step), **({_THROWN_AWAY: "1"} if thrown_away else {})}
    options = ["--limit", repr(limit)] if limit is not None else []
    with tempfile.TemporaryDirectory(prefix="trueline-") as place:
        answer = Path(place) / "hit.json"
        process = subprocess.Popen(
            kept("watch", "--quiet", *options, *command.script_line()),
            cwd=command.folder,
            env={**command.environment, **asked, _ANSWER: str(answer)},
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
