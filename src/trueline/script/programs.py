"""Which programs a folder of scripts holds: files that are run by themselves and train are not one training."""

from __future__ import annotations

from collections.abc import Sequence

from trueline.script.entries import is_entry
from trueline.script.loops import training_loops
from trueline.script.project import Project
from trueline.script.reading.reader import read_trace
from trueline.script.trace import UNCALLED, Trace


def programs_of(project: Project) -> list[tuple[Project, Trace]]:
    """The trainings of a project, each read by itself, then what none of them uses; empty where there are not two."""
    alone = [one for one in project.entries if is_entry(one) and one.trouble is None]
    if len(alone) < 2:
        return []
    parts = [project.part([one]) for one in alone]
    read = [(one, read_trace(one)) for one in parts]
    training = [(one, trace) for one, trace in read if _trains(trace) and not _is_imported(one, parts)]
    if len(training) < 2:
        return []
    used = {one.path for part, _ in training for one in part.files}
    rest = [one for one in project.entries if one.path not in used]
    if rest:
        part = project.part(rest)
        training.append((part, read_trace(part)))
    return training


def _is_imported(part: Project, parts: Sequence[Project]) -> bool:
    """Whether another file runs this one, so that it is a part of that."""
    (own,) = part.entries
    return any(own in other.files for other in parts if other is not part)


def _trains(trace: Trace) -> bool:
    """Whether running the file trains: functions that nobody calls do not."""
    return any(all(scope.kind != UNCALLED for scope in one.events[0].scopes) for one in training_loops(trace))
