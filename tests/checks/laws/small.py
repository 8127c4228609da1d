"""Small trainings for the laws, recorded in this process, and what the items say of their runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import trueline
from trueline.checks.engine.checklist import fill_in
from trueline.checks.engine.listing import all_checks
from trueline.formats.run_folder.reader import open_run
from trueline.model.finding import Conclusion, Finding


def told(training: Callable[[], Any], folder: Path) -> list[Finding]:
    """What the laws' items find in a training."""
    with trueline.record(folder):
        training()
    checks = [way for way in all_checks() if way.evidence == ("run",) and way.name == "from_laws"]
    findings = fill_in(checks, {"run": open_run(folder)}).findings
    assert not [finding for finding in findings if finding.error]
    return [finding for finding in findings if finding.conclusion in (Conclusion.FOUND, Conclusion.SUSPECT)]


def line_of(training: Callable[[], Any], text: str) -> int:
    """The line of a training that holds this text."""
    lines, first = inspect.getsourcelines(training)
    return first + next(place for place, line in enumerate(lines) if text in line)


def said(findings: list[Finding]) -> list[tuple[str, int | None, int | None]]:
    """Each finding's message, line and step."""
    return [(finding.message.id, finding.where.line, finding.where.step) for finding in findings]
