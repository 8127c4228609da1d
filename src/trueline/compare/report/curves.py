"""Loss curves in reports, and a comparison of two logs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.compare.curves import CurveComparison
from trueline.compare.logs import LogsComparison
from trueline.compare.verdict import Verdict
from trueline.compare.wording import curve_sentence, few_digits, loss_finding, shared_finding, side_names
from trueline.model.curve import Curve
from trueline.model.finding import Conclusion, Finding
from trueline.model.message import Message, message
from trueline.model.report import Block, Curves, Report, Text
from trueline.model.result import Exit, Result

# What the field accepts: the first loss within 0.5 %, the mean within 1 %.
_ACCEPTED_MEAN: Final = 0.01


def curve_blocks(loss: CurveComparison, names: tuple[str, str]) -> Iterator[Block]:
    """Both curves over each other, where they part, and how fast the gap grows."""
    if not loss.common:
        return
    curves = [Curve(names[1], loss.b.steps, loss.b.values), Curve(names[0], loss.a.steps, loss.a.values)]
    mark = loss.parts.step if loss.parts is not None else None
    yield Curves(message("compare.curves"), curves, mark, loss.band)
    yield Text(curve_sentence(loss, names))
    if loss.decade is not None:
        yield Text(message("compare.loss_grows", steps=few_digits(loss.decade)))
    if loss.parts is not None and loss.means is not None and loss.means[1]:
        apart = abs(loss.means[0] - loss.means[1]) / abs(loss.means[1])
        params: dict[str, object] = {"a": names[0], "b": names[1], "apart": f"{apart:.2%}"}
        here, there = (f"{one:.5g}" for one in loss.means)
        accepted = "compare.means" if apart <= _ACCEPTED_MEAN else "compare.means_apart"
        yield Text(message(accepted, here=here, there=there, **params))


def loss_json(loss: CurveComparison) -> dict[str, object]:
    """The curves' comparison for programs."""
    return {
        "verdict": loss.verdict,
        "shape": loss.shape,
        "common": len(loss.common),
        "parts_at": loss.parts.step if loss.parts is not None else None,
        "largest": loss.largest,
        "tenfold_in": loss.decade,
        "basis": loss.basis,
        "means": list(loss.means) if loss.means is not None else None,
    }


def logs_report(compared: LogsComparison) -> Report:
    """Two logs for people."""
    names = side_names(compared.a, compared.b)
    title = message("compare.title", a=names[0], b=names[1])
    spans = compared.spans
    seen = message(
        "compare.curve_names",
        a=names[0],
        b=names[1],
        curve=compared.loss.a.name,
        other=compared.loss.b.name,
        steps_a=spans[0],
        steps_b=spans[1],
    )
    moved = [Text(message("compare.shifted", a=names[0], shift=f"{compared.shift:+d}"))] if compared.shift else []
    blocks = [Text(seen), *moved, *curve_blocks(compared.loss, names), Text(_basis(compared))]
    return Report(title, logs_conclusion(compared), _findings(compared), blocks)


def logs_result(compared: LogsComparison) -> Result:
    """Two logs for programs."""
    loss, found = compared.loss, _findings(compared)
    problem = any(finding.conclusion is Conclusion.FOUND for finding in found)
    fields = {
        "kind": "curves",
        "verdict": loss.verdict,
        "floor": {"basis": loss.basis, "estimated": loss.basis.value == "estimated"},
        "first": None,
        "stopped_at": "curve" if problem else None,
        "loss": loss_json(loss),
        "curves": [loss.a.name, loss.b.name],
        "steps": list(compared.spans),
        "shift": compared.shift,
    }
    return Result("compare", logs_conclusion(compared), Exit.PROBLEM if problem else Exit.FINE, found, fields)


def logs_conclusion(compared: LogsComparison) -> Message:
    """Two logs in one sentence."""
    found = _findings(compared)
    if found:
        return found[0].message
    id = "compare.curves_equal" if compared.loss.verdict is Verdict.EQUAL else "compare.curves_noise"
    if compared.loss.verdict is Verdict.NOISE and compared.floors.given:
        id = "compare.curves_within"
    names = side_names(compared.a, compared.b)
    params = {"steps": len(compared.loss.common), "largest": few_digits(compared.loss.largest)}
    return message(id, a=names[0], b=names[1], **params)


def _findings(compared: LogsComparison) -> list[Finding]:
    loss, names = compared.loss, side_names(compared.a, compared.b)
    if loss.parts is None:
        return [shared_finding(loss, names)] if loss.shared_trouble is not None else []
    return [loss_finding(loss, loss.parts, names)]


def _basis(compared: LogsComparison) -> Message:
    if compared.floors.given:
        rtol, atol = compared.floors.tolerance
        return message("compare.floor_given", rtol=rtol, atol=atol)
    return message("compare.band_estimated")
