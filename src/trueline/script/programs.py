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
    alone = [program for program in project.entries if is_entry(program) and program.trouble is None]
    if len(alone) < 2:
        return []
    parts = [project.part([program]) for program in alone]
    read = [(program, read_trace(program)) for program in parts]
    training = [(program, trace) for program, trace in read if _trains(trace) and not _is_imported(program, parts)]
    if len(training) < 2:
        return []
    used = {program.path for part, _ in training for program in part.files}
    rest = [program for program in project.entries if program.path not in used]
    if rest:
        part = project.part(rest)
        training.append((part, read_trace(part)))
    return training


def _is_imported(part: Project, parts: Sequence[Project]) -> bool:
    """Whether another file runs this one, so that it is a part of that."""
    (own,) = part.entries
    return any(own in program.files for program in parts if program is not part)


def _trains(trace: Trace) -> bool:
    """Whether running the file trains: functions that nobody calls do not."""
    return any(all(scope.kind != UNCALLED for scope in loop.events[0].scopes) for loop in training_loops(trace))
