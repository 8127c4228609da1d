"""Sentences and findings on loss curves, for runs and logs alike."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from trueline.compare.curves import CurveComparison, Parting, Shape
from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import Message, message

LOSS: Final = "cmp.05"
SHARED: Final = "cmp.10"
RANK: Final = "cmp.12"
_WHOLE: Final = 1e15


def few_digits(value: float) -> float:
    """A number as a sentence shows it: three digits, and no point where it is whole."""
    short = float(f"{value:.3g}")
    return int(short) if abs(short) < _WHOLE and short == int(short) else short


def side_names(a: Path, b: Path) -> tuple[str, str]:
    """What to call both sides: their names, or where those are the same their whole paths."""
    return (a.name, b.name) if a.name != b.name and a.name and b.name else (str(a), str(b))


def curve_sentence(loss: CurveComparison, names: tuple[str, str]) -> Message:
    """Where the curves part, or that they do not."""
    if loss.parts is None:
        return message("compare.loss_together", steps=len(loss.common), largest=few_digits(loss.largest))
    if loss.parts.over > 1:
        values = {"value": f"{loss.parts.a:.5g}", "other": f"{loss.parts.b:.5g}"}
        return message(
            "compare.persistent", step=loss.parts.step, a=names[0], b=names[1], count=loss.parts.over, **values
        )
    return message(
        "compare.loss_drifts" if loss.shape is Shape.DRIFT else "compare.loss_parts",
        step=loss.parts.step,
        a=names[0],
        b=names[1],
        # As text: a loss is told apart by more digits than other numbers.
        value=f"{loss.parts.a:.7g}",
        other=f"{loss.parts.b:.7g}",
        band=few_digits(loss.parts.band),
    )


def loss_finding(
    loss: CurveComparison, parts: Parting, names: tuple[str, str], because: str | None = None, rank: int | None = None
) -> Finding:
    """The curves part; what follows from something else needs no advice of its own."""
    return Finding(
        LOSS,
        Conclusion.FOUND,
        curve_sentence(loss, names),
        Certainty.LIKELY,
        _advice(loss, parts.step) if because is None else None,
        because,
        Location(step=parts.step, rank=rank, side=names[0]),
        abs(parts.a - parts.b),
        parts.band,
    )


def shared_finding(loss: CurveComparison, names: tuple[str, str]) -> Finding:
    """Both go wrong in the same way."""
    trouble = loss.shared_trouble
    return Finding(
        SHARED,
        # A loss that does not fall may only need more steps.
        Conclusion.SUSPECT if trouble == "flat" else Conclusion.FOUND,
        message(f"compare.shared_{trouble}", a=names[0], b=names[1], steps=len(loss.common)),
        Certainty.LIKELY,
        message("compare.shared_advice"),
        where=Location(side=names[1]),
    )


def _advice(loss: CurveComparison, step: int) -> Message:
    begin = loss.first[0] if loss.first is not None else 0
    kind = "first" if step == begin else "drift" if loss.shape is Shape.DRIFT else "later"
    before = max((one for one, _, _ in loss.common if one < step), default=step)
    return message(f"compare.loss_advice_{kind}", step=step, before=before)
