"""Two loss curves from logs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from trueline.compare.curves import CurveComparison, compare_curves
from trueline.compare.floors import Floors
from trueline.model.curve import Curve
from trueline.model.trouble import BadUsage

_SURE = 5
_MOST_DIGITS = 7
_USUAL_DIGITS = 4
_ENOUGH = 8


@dataclass(frozen=True, slots=True)
class LogsComparison:
    """``a`` against the benchmark ``b``; ``shift`` was added to the steps of ``a`` to make them those of ``b``."""

    a: Path
    b: Path
    loss: CurveComparison
    floors: Floors
    shift: int = 0

    @property
    def spans(self) -> tuple[str, str]:
        """The steps of both sides."""
        return _span(self.loss.a), _span(self.loss.b)


def compare_logs(a: Path, b: Path, curves: tuple[Curve, Curve], floors: Floors) -> LogsComparison:
    """Compare two curves; what a log has rounded away is no difference."""
    if not set(curves[0].steps) & set(curves[1].steps):
        steps = {"steps_a": _span(curves[0]), "steps_b": _span(curves[1])}
        raise BadUsage("compare.no_common_step", a=str(a), b=str(b), **steps)
    rounded = sum(_resolution(curve) for curve in curves)
    found = LogsComparison(a, b, compare_curves(*curves, floors, rounded=rounded), floors)
    # One tool counts its steps from 0, another from 1.
    for shift in (1, -1) if _parts_at_once(found.loss) else ():
        moved = Curve(curves[0].name, [step + shift for step in curves[0].steps], curves[0].values)
        other = compare_curves(moved, curves[1], floors, rounded=rounded)
        if other.common and (other.parts is None or other.parts.step >= other.common[0][0] + _SURE):
            return LogsComparison(a, b, other, floors, shift)
    return found


def _parts_at_once(loss: CurveComparison) -> bool:
    return loss.parts is not None and len(loss.common) > _SURE and loss.parts.step < loss.common[_SURE][0]


def _span(curve: Curve) -> str:
    return f"{curve.steps[0]}..{curve.steps[-1]}" if len(curve) else "-"


def _resolution(curve: Curve) -> float:
    """Half a unit of the last digit that the log shows; 0 where it shows them all."""
    # A few round numbers may be chance.
    for digits in range(1 if len(set(curve.values)) >= _ENOUGH else _USUAL_DIGITS, _MOST_DIGITS):
        if all(value != value or abs(value) == float("inf") or round(value, digits) == value for value in curve.values):
            return 0.5 * 10.0**-digits
    return 0.0
