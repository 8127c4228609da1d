"""What a comparison of two runs has found, the root first."""

from __future__ import annotations

from typing import Any, Final

from trueline.compare.curves import Parting
from trueline.compare.runs import RunComparison, Side
from trueline.compare.tensors import Row, StepComparison
from trueline.model.finding import Certainty, Conclusion, Finding, Where
from trueline.model.key import Kind
from trueline.model.message import Message, message
from trueline.model.run import Line

WEIGHTS: Final = "cmp.01"
INPUTS: Final = "cmp.02"
FORWARD: Final = "cmp.03"
BACKWARD: Final = "cmp.04"
LOSS: Final = "cmp.05"

_STAGES: Final = {
    Kind.IN: (INPUTS, "in"),
    Kind.OUT: (FORWARD, "out"),
    Kind.GIN: (BACKWARD, "grad"),
    Kind.GOUT: (BACKWARD, "grad"),
    Kind.GRAD: (BACKWARD, "grad"),
    Kind.PARAM: (BACKWARD, "param"),
    Kind.BUFFER: (BACKWARD, "buffer"),
    Kind.OPT: (BACKWARD, "param"),
}


def findings(compared: RunComparison) -> list[Finding]:
    """The causes in the order in which a step meets them; what follows from an earlier one says so."""
    found: list[Finding] = []
    if compared.weights.apart:
        found.append(_weights(compared))
    first, step = compared.first, compared.differing
    if first is not None and step is not None:
        found.append(_tensor(compared, first, step, found))
    if compared.loss.parts is not None:
        found.append(_loss(compared, compared.loss.parts, found))
    return found


def _because(earlier: list[Finding]) -> str | None:
    return earlier[0].code if earlier else None


def _weights(compared: RunComparison) -> Finding:
    name, other = compared.weights.apart[0]
    return Finding(
        WEIGHTS,
        Conclusion.FOUND,
        message(
            "compare.weights",
            apart=len(compared.weights.apart),
            compared=compared.weights.compared,
            name=name,
            other=other,
        ),
        advice=message("compare.weights_advice"),
        where=Where(module=name.rpartition(".")[0], step=0, side=compared.a.name),
        measured=len(compared.weights.apart),
        limit=0,
    )


def _tensor(compared: RunComparison, first: Row, step: StepComparison, earlier: list[Finding]) -> Finding:
    code, stage = _STAGES[first.pair.b.kind]
    if stage == "out":
        stage = {True: "out_alone", False: "out_fed", None: "out"}[step.inputs_agree]
    elif stage == "in" and step.inputs_agree:
        stage = "in_between"
    line = built_at(compared.a, first.pair.a.module)
    params: dict[str, Any] = {
        "module": first.pair.a.module or "-",
        "type": type_name(compared.a, first.pair.a.module),
        "other_type": type_name(compared.b, first.pair.b.module),
        "key": str(first.pair.a),
        "step": step.step,
        "a": compared.a.name,
        "b": compared.b.name,
        "level": few_digits(first.level),
        "worst": few_digits(first.distance.relative_max),
        "floor": few_digits(first.floor),
    }
    if not first.distance.comparable:
        stage = "shape"
        params |= {"shape": list(first.distance.shape_a), "other_shape": list(first.distance.shape_b)}
    elif first.distance.other_non_finite:
        stage = "non_finite"
        params |= {"count": first.distance.non_finite_a, "other_count": first.distance.non_finite_b}
    return Finding(
        code,
        Conclusion.FOUND,
        message(f"compare.{stage}", **params),
        # The floor is an estimate: only what is far above it is certain.
        Certainty.CERTAIN if first.level > 100 * first.floor else Certainty.LIKELY,
        message(f"compare.{stage}_advice", **params),
        _because(earlier),
        Where(
            file=line.file if line is not None else None,
            line=line.line if line is not None else None,
            module=first.pair.a.module,
            step=step.step,
            side=compared.a.name,
        ),
        first.level,
        first.floor,
        [first.distance.to_json()],
        extra={"other_module": first.pair.b.module},
    )


def _loss(compared: RunComparison, parts: Parting, earlier: list[Finding]) -> Finding:
    advice = "compare.loss_advice_first" if parts.step == 0 else "compare.loss_advice_later"
    return Finding(
        LOSS,
        Conclusion.FOUND,
        loss_parts(compared, parts),
        Certainty.LIKELY,
        None if earlier else message(advice, step=parts.step),
        _because(earlier),
        Where(step=parts.step, side=compared.a.name),
        abs(parts.a - parts.b),
        parts.band,
    )


def loss_parts(compared: RunComparison, parts: Parting) -> Message:
    """Where the curves part, in a sentence."""
    return message(
        "compare.loss_parts",
        step=parts.step,
        a=compared.a.name,
        b=compared.b.name,
        # As text: a loss is told apart by more digits than other numbers.
        value=f"{parts.a:.7g}",
        other=f"{parts.b:.7g}",
        band=few_digits(parts.band),
    )


def few_digits(value: float) -> float:
    """A number as a sentence shows it."""
    return float(f"{value:.3g}")


def built_at(side: Side, path: str) -> Line | None:
    """The line that built a module."""
    module = side.module(path)
    return module.built_at if module is not None else None


def type_name(side: Side, path: str) -> str:
    """A module's type without its package."""
    module = side.module(path)
    return module.type.rpartition(".")[2] if module is not None else "?"
