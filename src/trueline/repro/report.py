"""What is said of a script that was run several times: the verdict in one sentence, findings, JSON, report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from trueline.model.finding import Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.report import Report, Text
from trueline.model.result import Exit, Result
from trueline.repro.differences import Difference
from trueline.repro.problem import Problem
from trueline.repro.search import AS_IT_IS, WHEN_FIXED, Reproduced

# What the script makes or computes itself, whatever is fixed before it starts.
_OWN: Final = ("time_seed", "varying_seed", "unseeded_generator", "clock", "threads", "unknown")


def conclusion(found: Reproduced) -> Message:
    """One sentence."""
    if found.reproducible == AS_IT_IS or found.parts_at is None:
        return message("repro.as_it_is", runs=found.runs, steps=found.steps)
    params = {"runs": found.runs, "what": part(found.parts_at)}
    if found.reproducible == WHEN_FIXED:
        return message("repro.when_fixed", **params)
    return message("repro.no", fixed=part(found.fixed_parts_at or found.parts_at), **params)


def part(difference: Difference) -> Message:
    """Where two runs part, in words."""
    if difference.phase == "weights":
        return message("repro.parts_weights", key=difference.key)
    if difference.phase == "data":
        return message("repro.parts_data", step=difference.step)
    if difference.phase == "end":
        return message("repro.parts_end", step=difference.step)
    return message("repro.parts_tensor", step=difference.step, key=difference.key)


def result(found: Reproduced, root: Path) -> Result:
    """The verb's answer."""
    fields = {
        "reproducible": found.reproducible,
        "parts_at": found.parts_at.to_json() if found.parts_at is not None else None,
        "free": [free.to_json(root) for free in found.free],
        "problem": found.problem.to_json() if found.problem is not None else None,
        "steps": found.steps,
        "runs": found.runs,
    }
    code = Exit.FINE if found.reproducible == AS_IT_IS else Exit.PROBLEM
    return Result("repro", conclusion(found), code, list(_findings(found, root)), fields)


def _findings(found: Reproduced, root: Path) -> Iterator[Finding]:
    yield from (free.finding(root) for free in found.free)
    if found.problem is not None:
        yield _timing(found.problem)


def _timing(problem: Problem) -> Finding:
    seen = [step for step in problem.steps if step is not None]
    step = seen[0] if problem.occurs != "random" else None
    return Finding("tr.27", Conclusion.FOUND, problem.said(), where=Location(step=step), measured=list(problem.steps))


def report(found: Reproduced, root: Path) -> Report:
    """For people."""
    given = result(found, root)
    blocks = []
    if found.problem is not None and found.fixed_problem is not None:
        problem = found.fixed_problem
        said = message("repro.fixed_problem", problem=message(f"repro.problem_{problem.kind}"), step=problem.steps[0])
        blocks.append(Text(said))
    if found.reproducible == WHEN_FIXED and all(free.source not in _OWN for free in found.free):
        blocks.append(Text(message("repro.how_to_fix")))
    return Report(message("repro.title"), given.conclusion, given.findings, blocks)
