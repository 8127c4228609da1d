"""A recorded run as it was when only its first steps were there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from trueline.checks.engine.checklist import fill_in
from trueline.checks.engine.during import may_be_asked
from trueline.checks.engine.listing import all_checks
from trueline.formats.run_folder.reader import open_run
from trueline.model.finding import Finding


def told_early(run: Path, folder: Path, *, steps: int) -> list[Finding]:
    """What the checks said after so many training steps; nothing where the run has fewer."""
    shutil.copytree(run, folder)
    # A process that was ended before it could say anything of itself has left none.
    for path in folder.glob("run.json"):
        info = json.loads(path.read_text("utf-8"))
        path.write_text(json.dumps({**info, "ended": None, "exit_code": None}), "utf-8")
    for events in folder.glob("rank-*/events.jsonl"):
        lines = events.read_bytes().splitlines(keepends=True)
        ends = [place for place, line in enumerate(lines) if _is_end(line, steps - 1)]
        if not ends:
            return []
        events.write_bytes(b"".join(lines[: ends[0] + 1]))
    checks = [one for one in all_checks() if may_be_asked(one, steps)]
    return list(fill_in(checks, {"run": open_run(folder)}).findings)


def _is_end(line: bytes, step: int) -> bool:
    event = json.loads(line)
    return bool((event["event"], event["phase"], event["step"]) == ("end", "train", step))
