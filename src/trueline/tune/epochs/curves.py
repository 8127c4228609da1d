"""The validation curves of a recorded run or of a log, the one to judge by first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trueline.formats.kinds import Kind, look
from trueline.formats.opening import open_curves
from trueline.formats.run_folder.evaluations import evaluation_curves, evaluations_seen
from trueline.formats.run_folder.reader import open_run
from trueline.model.curve import Curve
from trueline.model.message import Message, message
from trueline.model.trouble import BadUsage
from trueline.tune.logged import higher_is_better

_EVALUATION = ("val_", "test_")


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Validation curves, and why there are none; ``by_steps`` where steps are those of training."""

    curves: Sequence[Curve]
    by_steps: bool
    missing: Message | None = None


def evaluated(path: Path, pattern: str | None, rank: int | None) -> Evaluated:
    """Of whatever is at a path."""
    found = look(path)
    if found.kind is Kind.RUN:
        return _of_run(path, rank)
    if found.kind is not Kind.CURVES:
        raise BadUsage("tune_epochs.no_curves", path=str(path))
    curves = [curve for curve in open_curves(found, pattern) if _is_evaluation(curve) or pattern is not None]
    missing = None if curves else message("tune_epochs.log_without", path=str(path))
    return Evaluated(sorted(curves, key=_rank_of), by_steps=False, missing=missing)


def _of_run(path: Path, rank: int | None) -> Evaluated:
    run = open_run(path)
    if rank is not None and rank not in run.ranks:
        there = ", ".join(str(one) for one in run.ranks) or "-"
        raise BadUsage("show.no_such_rank", rank=rank, ranks=there)
    if not run.ranks:
        raise BadUsage("show.nothing_recorded", run=str(path))
    folder = run.rank(run.ranks[0] if rank is None else rank)
    curves = evaluation_curves(folder)
    if curves:
        return Evaluated(curves, by_steps=True)
    seen = "tune_epochs.no_losses" if evaluations_seen(folder) else "tune_epochs.no_evaluation"
    return Evaluated([], by_steps=True, missing=message(seen))


def _is_evaluation(curve: Curve) -> bool:
    return curve.name.startswith(_EVALUATION)


def _rank_of(curve: Curve) -> tuple[bool, bool, bool, int]:
    """Validation before test, a loss before an accuracy, a whole before its parts."""
    return (
        curve.name.startswith("test_"),
        "loss" not in curve.name,
        not higher_is_better(curve.name) and "loss" not in curve.name,
        len(curve.name),
    )


def chosen(found: Evaluated, name: str | None) -> Curve | None:
    """The curve to judge by: the first, or the one that is asked for."""
    if name is None:
        return found.curves[0] if found.curves else None
    for curve in found.curves:
        if curve.name == name:
            return curve
    there = ", ".join(curve.name for curve in found.curves) or "-"
    raise BadUsage("tune_epochs.no_such_metric", metric=name, there=there)
