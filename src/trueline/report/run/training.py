"""The course of a training: loss, learning rate, gradient norm, loss scale, and the slowest steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from trueline.formats.run_folder.reader import RankFolder
from trueline.model.curve import Curve
from trueline.model.events import OverflowEvent
from trueline.model.json_value import JsonObject
from trueline.model.message import message
from trueline.model.numbers import encode
from trueline.model.report import Block, Curves, Table

MAX_SLOWEST = 5  # rows of the table
_CURVES = ("loss", "lr", "grad_norm_unclipped", "grad_norm", "scale")
_NORM = "grad_norm"
MAX_PLOTTED = 4  # curves in one plot


@dataclass(frozen=True, slots=True)
class Course:
    """A curve and what is worth saying about it; the extremes are of its finite values."""

    name: str
    curve: Curve
    first: float
    last: float
    minimum: tuple[int, float] | None
    maximum: tuple[int, float] | None
    non_finite: Sequence[int]

    def to_json(self) -> JsonObject:
        """The JSON shape; steps with a non-finite value are listed, not the whole curve."""
        return {
            "points": len(self.curve),
            "first": encode(self.first),
            "last": encode(self.last),
            "min": {"step": self.minimum[0], "value": self.minimum[1]} if self.minimum else None,
            "max": {"step": self.maximum[0], "value": self.maximum[1]} if self.maximum else None,
            "non_finite_steps": list(self.non_finite),
        }


@dataclass(frozen=True, slots=True)
class Training:
    """The curves that were recorded, overflows, and the slowest steps with their seconds."""

    courses: Sequence[Course]
    overflows: int
    slowest: Sequence[tuple[int, float]]
    usual_seconds: float | None
    # All losses of a step by their place in it, where any step has more than one.
    losses: Sequence[Course] = ()

    @property
    def loss(self) -> Course | None:
        """The training loss."""
        return next((course for course in self.courses if course.name == "loss"), None)

    def to_json(self) -> JsonObject:
        """The JSON shape."""
        return {
            **{course.name: course.to_json() for course in self.courses},
            "losses": [course.to_json() for course in self.losses],
            "overflows": self.overflows,
            "slowest": [{"step": step, "seconds": encode(seconds)} for step, seconds in self.slowest],
            "usual_seconds": self.usual_seconds,
        }


def course_of(name: str, curve: Curve) -> Course | None:
    """What is worth saying about a curve; None where it has no points."""
    if not curve.steps:
        return None
    points = list(zip(curve.steps, curve.values, strict=True))
    finite = [point for point in points if math.isfinite(point[1])]
    return Course(
        name,
        curve,
        points[0][1],
        points[-1][1],
        min(finite, key=lambda point: point[1], default=None),
        max(finite, key=lambda point: point[1], default=None),
        [step for step, value in points if not math.isfinite(value)],
    )


def training_of(folder: RankFolder) -> Training:
    """The course of a rank's training."""
    curves = {name: folder.curve(name) for name in _CURVES}
    curves["eval_loss"] = folder.curve("loss", "eval")
    courses = [course for name, curve in curves.items() if (course := course_of(name, curve)) is not None]
    losses = [course for curve in folder.losses() if (course := course_of(curve.name, curve)) is not None]
    seconds = folder.curve("seconds")
    timed = sorted(zip(seconds.steps, seconds.values, strict=True), key=lambda point: -point[1])
    return Training(
        courses,
        sum(1 for _ in folder.events(OverflowEvent)),
        timed[:MAX_SLOWEST],
        median(seconds.values) if seconds.values else None,
        losses if len(losses) > 1 else (),
    )


def training_blocks(training: Training) -> list[Block]:
    """The loss as a plot, all curves as rows, and the slowest steps."""
    blocks: list[Block] = []
    if training.loss is not None:
        blocks.append(
            Curves(
                message("show.loss"),
                [training.loss.curve, *(course.curve for course in training.losses[1:MAX_PLOTTED])],
            )
        )
    if training.courses:
        columns = [
            message("show.quantity"),
            message("show.course"),
            message("show.first"),
            message("show.last"),
            message("show.minimum"),
            message("show.maximum"),
            message("show.non_finite_steps"),
        ]
        courses = [*training.losses, *training.courses[bool(training.losses) :]]
        rows = [_row(course) for course in courses]
        if training.loss is not None and all(course.name != _NORM for course in courses):
            # Silence would look like a norm that is not worth a line.
            rows.append([_NORM, message("show.not_recorded"), *[None] * (len(columns) - 2)])
        marked = frozenset(place for place, course in enumerate(courses) if course.non_finite)
        blocks.append(Table(message("show.training"), columns, rows, marked))
    if training.slowest:
        usual = training.usual_seconds or 0.0
        rows = [[step, seconds, round(seconds / usual, 1) if usual > 0 else None] for step, seconds in training.slowest]
        columns = [message("show.step"), message("show.seconds"), message("show.times_usual")]
        blocks.append(Table(message("show.slowest"), columns, rows))
    return blocks


def _row(course: Course) -> list[object]:
    non_finite = None
    if course.non_finite:
        non_finite = message("show.from_step", count=len(course.non_finite), step=course.non_finite[0])
    return [
        course.name,
        course.curve,
        course.first,
        course.last,
        course.minimum[1] if course.minimum else None,
        course.maximum[1] if course.maximum else None,
        non_finite,
    ]
