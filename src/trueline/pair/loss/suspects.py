"""What can be said of two losses that differ where at least one is no common one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from trueline.model.message import Message, message
from trueline.pair.blame import Blame, Cause, Setting, Stage
from trueline.pair.loss.answers import Answered, Compared, Failed
from trueline.pair.loss.cases import RARE, CaseName
from trueline.pair.loss.fit import CLOSE
from trueline.pair.questions.parts import About

_SEVERAL: Final = 3


@dataclass(frozen=True, slots=True)
class LossComparison:
    """All that was seen of both losses; ``real`` are labels that are no class and that the user's data have."""

    compared: Sequence[Compared]
    bench: About
    port: About
    real: frozenset[int] = frozenset()


def by_ratio(comparison: LossComparison) -> Blame | None:
    """A constant between the two losses, or a number that goes with the batch's size."""
    ratios: list[float] = []
    sizes: list[tuple[int, int, int]] = []
    for compared in comparison.compared:
        if (
            compared.case.name in RARE
            or not isinstance(compared.bench, Answered)
            or not isinstance(compared.port, Answered)
        ):
            continue
        if compared.bench.value.size != 1 or compared.port.value.size != 1 or not float(compared.bench.value):
            return None
        ratios.append(float(compared.port.value) / float(compared.bench.value))
        rows = compared.case.rows()
        sizes.append((len(rows.values), rows.values.size, rows.batch))
    if len(ratios) < _SEVERAL or not np.isfinite(ratios).all():
        return None
    for place in range(len(sizes[0])):
        counts = np.array([size[place] for size in sizes], dtype=np.float64)
        for power, bench, port in ((1, "mean", "sum"), (-1, "sum", "mean")):
            if np.allclose(ratios, counts**power, rtol=CLOSE):
                words = [message(f"pair_parts.reduction_{one}") for one in (bench, port)]
                text = message("pair_parts.loss_reduction", bench=words[0], port=words[1])
                return _unconfirmed(comparison, Cause.REDUCTION, text, bench, port)
    if np.allclose(ratios, ratios[0], rtol=CLOSE) and abs(ratios[0] - 1) > CLOSE:
        return _unconfirmed(
            comparison, Cause.SCALE, message("pair_parts.loss_factor", factor=ratios[0]), 1.0, ratios[0]
        )
    return None


def unexplained(comparison: LossComparison) -> Blame:
    """The first case in which the losses differ, without a reason."""
    differing = [compared for compared in comparison.compared if compared.apart]
    first = differing[0]
    name = message(f"pair_parts.case_{first.case.name}")
    if isinstance(first.port, Failed):
        error = str(first.port.trouble.message.params.get("error", "-"))
        cause = Cause.IGNORED_INDEX if first.case.name is CaseName.IGNORED else Cause.LOSS
        return _unconfirmed(comparison, cause, message("pair_parts.loss_fails", case=name, error=error), None, error)
    assert isinstance(first.bench, Answered) and isinstance(first.port, Answered)
    values = [_number(answer.value) for answer in (first.bench, first.port)]
    if values[0] == values[1] or np.isclose(values[0], values[1], rtol=first.limit):
        text = message("pair_parts.loss_gradient", case=name, level=first.level)
    else:
        text = message("pair_parts.loss_other", case=name, bench=values[0], port=values[1])
    cause = Cause.IGNORED_INDEX if first.case.name is CaseName.IGNORED else Cause.LOSS
    return _unconfirmed(comparison, cause, text, comparison.bench.name, comparison.port.name)


def _unconfirmed(comparison: LossComparison, cause: Cause, text: Message, bench: Setting, port: Setting) -> Blame:
    differing = [compared for compared in comparison.compared if compared.apart]
    return Blame(
        Stage.LOSS,
        cause,
        text,
        bench=bench,
        port=port,
        latent=all(compared.case.name in RARE for compared in differing),
        measured=max((compared.level for compared in differing if math.isfinite(compared.level)), default=None),
        limit=max(compared.limit for compared in comparison.compared),
        line=comparison.port.line(),
        other_line=comparison.bench.line(),
        evidence=evidence(comparison),
    )


def evidence(comparison: LossComparison) -> tuple[dict[str, Any], ...]:
    """Both values of every case."""
    return tuple(
        {"case": str(compared.case.name), "bench": _number(compared.bench.value), "port": _number(compared.port.value)}
        for compared in comparison.compared
        if isinstance(compared.bench, Answered) and isinstance(compared.port, Answered)
    )


def _number(value: object) -> float:
    return float(np.asarray(value, dtype=np.float64).mean())
