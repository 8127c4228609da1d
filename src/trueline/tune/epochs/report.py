"""What is said of the number of epochs: one sentence, hp.02, JSON, and a report with the curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.report import Block, Curves, Mark, Report, Table, Text
from trueline.model.result import Exit, Result
from trueline.tune.epochs.course import MIN_EVALUATIONS, MIN_RELATIVE_CHANGE, Course, Way
from trueline.tune.epochs.curves import Evaluated

CODE: Final = "hp.02"


@dataclass(frozen=True, slots=True)
class Judged:
    """All courses, the one that counts first (None: there is no curve), and what they were read from."""

    path: str
    found: Evaluated
    course: Course | None
    others: Sequence[Course] = ()


def conclusion(judged: Judged) -> Message:
    """One sentence."""
    course = judged.course
    if course is None or course.way is Way.TOO_FEW:
        return message("tune_epochs.says_nothing", reason=_why_not(judged))
    shown = {"name": course.curve.name, "best": course.best + 1, "count": len(course.curve)}
    if course.way is Way.FALLING:
        return message("tune_epochs.concluded_falling", name=course.curve.name)
    return message(f"tune_epochs.concluded_{course.way.value}", **shown)


def _params(judged: Judged, course: Course) -> dict[str, object]:
    where = "after" if judged.found.by_steps else "at"
    return {
        "name": course.curve.name,
        "best": course.best + 1,
        "count": len(course.curve),
        "where": message(f"tune_epochs.{where}", step=course.best_step),
        "value": course.best_value,
        "percent": f"{100 * course.change:.3g}",
    }


def _why_not(judged: Judged) -> Message:
    if judged.course is None:
        return judged.found.missing or message("tune_epochs.no_evaluation")
    return message("tune_epochs.too_few", count=len(judged.course.curve), needed=MIN_EVALUATIONS)


def finding(judged: Judged) -> Finding:
    """hp.02."""
    course = judged.course
    if course is None or course.way is Way.TOO_FEW:
        return Finding(CODE, Conclusion.OPEN, _why_not(judged))
    found = course.way in (Way.PAST, Way.FALLING)
    return Finding(
        CODE,
        Conclusion.FOUND if found else Conclusion.NONE,
        message(f"tune_epochs.{course.way.value}", **_params(judged, course)),
        Certainty.LIKELY,
        message(f"tune_epochs.advice_{course.way.value}", best=course.best + 1) if found else None,
        where=Location(step=course.best_step if judged.found.by_steps else None),
        measured=round(course.change, 6),
        limit=MIN_RELATIVE_CHANGE,
    )


def result(judged: Judged) -> Result:
    """The verb's answer."""
    found = finding(judged)
    course = judged.course
    courses = [course, *judged.others] if course is not None else []
    fields = {
        "path": judged.path,
        "metric": course.curve.name if course is not None else None,
        "way": course.way.value if course is not None else None,
        "best": _best(course) if course is not None and len(course.curve) else None,
        "evaluations": len(course.curve) if course is not None else 0,
        "curves": [
            {
                "name": one.curve.name,
                "way": one.way.value,
                "higher_is_better": one.higher,
                "steps": list(one.curve.steps),
                "values": list(one.curve.values),
                "left_out": one.left_out,
            }
            for one in courses
        ],
    }
    code = Exit.PROBLEM if found.conclusion is Conclusion.FOUND else Exit.FINE
    return Result("tune epochs", conclusion(judged), code, [found], fields)


def _best(course: Course) -> dict[str, object]:
    return {"evaluation": course.best + 1, "step": course.best_step, "value": course.best_value}


def report(judged: Judged) -> Report:
    """The curve with its best place, and all curves in a table."""
    blocks: list[Block] = []
    if judged.course is not None and len(judged.course.curve) > 1:
        course = judged.course
        mark = Mark(course.best_step, message("tune_epochs.mark", best=course.best + 1, value=course.best_value))
        blocks.append(Curves(message("tune_epochs.curve", name=course.curve.name), [course.curve], marks=[mark]))
    if judged.course is not None:
        blocks.append(_table([judged.course, *judged.others]))
        if judged.course.left_out:
            blocks.append(Text(message("tune_epochs.left_out", count=judged.course.left_out)))
    title = message("tune_epochs.title", path=judged.path)
    return Report(title, conclusion(judged), [finding(judged)], blocks)


def _table(courses: Sequence[Course]) -> Table:
    columns = ("metric", "course", "evaluations", "first", "best_at", "best", "last", "way")
    rows = [
        [
            course.curve.name,
            course.curve,
            len(course.curve),
            course.curve.values[0],
            course.best + 1,
            course.best_value,
            course.curve.values[-1],
            message(f"tune_epochs.way_{course.way.value}"),
        ]
        for course in courses
        if len(course.curve)
    ]
    return Table(message("tune_epochs.table"), [message(f"tune_epochs.column_{name}") for name in columns], rows)
