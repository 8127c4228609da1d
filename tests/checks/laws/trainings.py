"""Small trainings recorded for real, and what an item's laws say of them."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

from launching import IN_ORDER, trueline

from trueline.checks.engine.checklist import chosen
from trueline.checks.engine.running import ask_all
from trueline.formats.run_folder.reader import open_run
from trueline.model.finding import Conclusion


class Said(NamedTuple):
    """A finding by its sentence, its conclusion, the step and the source line it names."""

    message: str
    conclusion: Conclusion
    step: int | None
    text: str


def said(folder: Path, code: str, text: str, framework: str = "torch") -> list[Said]:
    """What an item says of a script that is recorded unchanged; problems and suspicions only."""
    lines = dedent(text).strip().splitlines()
    (folder / "train.py").write_text("\n".join(lines) + "\n", "utf-8")
    done = trueline("run", "--quiet", "-o", "run", "train.py", cwd=folder, env=IN_ORDER, forked=framework)
    assert done.returncode == 0, done.stderr[-3000:]
    run = open_run(folder / "run")
    assert run.info.off is None, run.info.off
    found = []
    for finding in ask_all(chosen([code], []), {"run": run}):
        assert finding.error is None, finding.error
        if finding.conclusion in (Conclusion.FOUND, Conclusion.SUSPECT):
            line = finding.where.line
            shown = lines[line - 1].strip() if line else ""
            found.append(Said(finding.message.id, finding.conclusion, finding.where.step, shown))
    return found
