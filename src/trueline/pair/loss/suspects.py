"""What can be said of two losses that differ where at least one is no common one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from trueline.model.message import Message, message
from trueline.pair.blame import Blame, Cause, Setting, Stage
from trueline.pair.loss.asking import Answered, Compared, Failed
from trueline.pair.loss.cases import RARE, CaseName
from trueline.pair.loss.fit import CLOSE
from trueline.pair.questions.parts import About

_SEVERAL: Final = 3


@dataclass(frozen=True, slots=True)
class Told:
    """All that was seen of both losses; ``real`` are labels that are no class and that the user's data have."""

    compared: Sequence[Compared]
    bench: About
    port: About
    real: frozenset[int] = frozenset()


def by_ratio(told: Told) -> Blame | None:
    """A constant between the two losses, or a number that goes with the batch's size."""
    ratios: list[float] = []
    sizes: list[tuple[int, int, int]] = []
    for one in told.compared:
        if one.case.name in RARE or not isinstance(one.bench, Answered) or not isinstance(one.port, Answered):
            continue
        if one.bench.value.size != 1 or one.port.value.size != 1 or not float(one.bench.value):
            return None
        ratios.append(float(one.port.value) / float(one.bench.value))
        rows = one.case.rows()
        sizes.append((len(rows.values), rows.values.size, rows.batch))
    if len(ratios) < _SEVERAL or not np.isfinite(ratios).all():
        return None
    for place in range(len(sizes[0])):
        counts = np.array([one[place] for one in sizes], dtype=np.float64)
        for power, bench, port in ((1, "mean", "sum"), (-1, "sum", "mean")):
            if np.allclose(ratios, counts**power, rtol=CLOSE):
                words = [message(f"pair_parts.reduction_{one}") for one in (bench, port)]
                text = message("pair_parts.loss_reduction", bench=words[0], port=words[1])
                return _unconfirmed(told, Cause.REDUCTION, text, bench, port)
    if np.allclose(ratios, ratios[0], rtol=CLOSE) and abs(ratios[0] - 1) > CLOSE:
        return _unconfirmed(told, Cause.SCALE, message("pair_parts.loss_factor", factor=ratios[0]), 1.0, ratios[0])
    return None


def unexplained(told: Told) -> Blame:
    """The first case in which the losses differ, without a reason."""
    differing = [one for one in told.compared if one.apart]
    first = differing[0]
    name = message(f"pair_parts.case_{first.case.name}")
    if isinstance(first.port, Failed):
        error = str(first.port.trouble.message.params.get("error", "-"))
        cause = Cause.IGNORED_INDEX if first.case.name is CaseName.IGNORED else Cause.LOSS
        return _unconfirmed(told, cause, message("pair_parts.loss_fails", case=name, error=error), None, error)
    assert isinstance(first.bench, Answered) and isinstance(first.port, Answered)
    values = [_number(one.value) for one in (first.bench, first.port)]
    if values[0] == values[1] or np.isclose(values[0], values[1], rtol=first.limit):
        text = message("pair_parts.loss_gradient", case=name, level=first.level)
    else:
        text = message("pair_parts.loss_other", case=name, bench=values[0], port=values[1])
    cause = Cause.IGNORED_INDEX if first.case.name is CaseName.IGNORED else Cause.LOSS
    return _unconfirmed(told, cause, text, told.bench.name, told.port.name)


def _unconfirmed(told: Told, cause: Cause, text: Message, bench: Setting, port: Setting) -> Blame:
    differing = [one for one in told.compared if one.apart]
    return Blame(
        Stage.LOSS,
        cause,
        text,
        bench=bench,
        port=port,
        latent=all(one.case.name in RARE for one in differing),
        measured=max((one.level for one in differing if math.isfinite(one.level)), default=None),
        limit=max(one.limit for one in told.compared),
        line=told.port.line(),
        other_line=told.bench.line(),
        evidence=evidence(told),
    )


def evidence(told: Told) -> tuple[dict[str, Any], ...]:
    """Both values of every case."""
    return tuple(
        {"case": str(one.case.name), "bench": _number(one.bench.value), "port": _number(one.port.value)}
        for one in told.compared
        if isinstance(one.bench, Answered) and isinstance(one.port, Answered)
    )


def _number(value: object) -> float:
    return float(np.asarray(value, dtype=np.float64).mean())
