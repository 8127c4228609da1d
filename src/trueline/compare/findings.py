"""What a comparison of two runs has found, roots first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from trueline.compare.batches import Data
from trueline.compare.floors import Basis
from trueline.compare.rows import Row, Tensors
from trueline.compare.runs import RunComparison, Side
from trueline.compare.stages import Stage, data_sentence, settings_text
from trueline.compare.wording import LOSS, SHARED, few_digits, loss_finding, shared_finding
from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.key import Kind
from trueline.model.location import Location
from trueline.model.message import Message, message

WEIGHTS: Final = "cmp.01"
INPUTS: Final = "cmp.02"
FORWARD: Final = "cmp.03"
BACKWARD: Final = "cmp.04"
STRUCTURE: Final = "cmp.06"
DATA: Final = "cmp.07"
HYPER: Final = "cmp.08"
PRECISION: Final = "cmp.09"

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
_UPDATED: Final = frozenset({Kind.PARAM, Kind.OPT})
_FORWARD: Final = frozenset({Kind.IN, Kind.OUT})
# The question at which each finding stops the procedure.
STOPS: Final = {
    STRUCTURE: Stage.STRUCTURE,
    WEIGHTS: Stage.WEIGHTS,
    DATA: Stage.DATA,
    PRECISION: Stage.PRECISION,
    HYPER: Stage.HYPER,
    INPUTS: Stage.FORWARD,
    FORWARD: Stage.FORWARD,
    SHARED: Stage.CURVE,
}


def findings(compared: RunComparison) -> list[Finding]:
    """The causes in the order in which a step meets them; what follows from an earlier one says so."""
    found: list[Finding] = []
    names = (compared.a.name, compared.b.name)
    if compared.weights.other_structure:
        found.append(_structure(compared))
    if compared.precision:
        found.append(_precision(compared))
    if compared.batches.data not in (None, Data.SAME) and not _fed_alike(compared):
        found.append(_data(compared))
    if compared.weights.apart:
        # Networks of other shapes draw other numbers: their weights cannot be the same.
        found.append(replace(_weights(compared), because=STRUCTURE if compared.weights.other_structure else None))
    if compared.hyper and compared.differs:
        found.append(_hyper(compared))
    first, step = compared.first, compared.differing
    if first is not None and step is not None:
        found.append(_tensor(compared, first, step, _cause_of(compared, first, step, found)))
    if compared.loss.parts is not None:
        found.append(loss_finding(compared.loss, compared.loss.parts, names, _because(found), compared.rank))
    elif compared.loss.shared_trouble is not None and not found:
        found.append(shared_finding(compared.loss, names))
    # Roots come first; what follows from them keeps its order.
    return sorted(found, key=lambda finding: finding.because is not None)


def stopped_at(compared: RunComparison, found: Sequence[Finding]) -> Stage | None:
    """The question whose answer ended the procedure."""
    root = next(iter(found), None)
    if root is None:
        return None
    first = compared.first
    if root.code == BACKWARD and first is not None:
        return Stage.UPDATE if first.pair.b.kind in (*_UPDATED, Kind.BUFFER) else Stage.GRADIENTS
    if root.code == LOSS and compared.loss.parts is not None and compared.loss.first is not None:
        behind = compared.loss.parts.step - compared.loss.first[0]
        return {0: Stage.FIRST_LOSS, 1: Stage.SECOND_LOSS}.get(behind, Stage.CURVE)
    return STOPS.get(root.code)


def _fed_alike(compared: RunComparison) -> bool:
    """Whether what reached the networks was the same all the same: then the batches' difference does not matter."""
    step = compared.differing or (compared.steps[0] if compared.steps else None)
    if step is None or compared.batches.step != step.step or not compared.batches.first_field:
        return False
    inputs = [row for row in step.rows if row.pair.b.kind is Kind.IN]
    return bool(inputs) and not inputs[0].differs


def _cause_of(compared: RunComparison, first: Row, step: Tensors, earlier: Sequence[Finding]) -> str | None:
    """The earlier finding that explains the first tensors that differ."""
    codes = {finding.code for finding in earlier}
    kind = first.pair.b.kind
    if kind in _FORWARD:
        if DATA in codes and (compared.batches.step or 0) <= step.step:
            return DATA
        module = first.pair.a.module
        own = any(_inside(name.rpartition(".")[0], module) for name, _ in compared.weights.apart)
        if STRUCTURE in codes and (step.inputs_agree is not True or _built_otherwise(compared, module)):
            return STRUCTURE
        if WEIGHTS in codes and (own or step.inputs_agree is not True):
            return WEIGHTS
        # After the first update a forward pass is that of other weights.
        if HYPER in codes and step.step > compared.steps[0].step:
            return HYPER
        return PRECISION if PRECISION in codes else None
    if kind in _UPDATED and HYPER in codes:
        return HYPER
    return PRECISION if PRECISION in codes else None


def _built_otherwise(compared: RunComparison, module: str) -> bool:
    """Whether a module's own parameters have another shape, or are missing on the other side."""
    other = [parameter.name.rpartition(".")[0] for parameter, _ in compared.weights.shapes]
    other += [left.key.module for left in (*compared.weights.only_a, *compared.weights.only_b)]
    return any(_inside(one, module) for one in other)


def _inside(module: str, other: str) -> bool:
    return module == other or module.startswith(f"{other}.") or not other


def _because(earlier: Sequence[Finding]) -> str | None:
    return next((finding.code for finding in earlier if finding.because is None), None)


def _structure(compared: RunComparison) -> Finding:
    weights = compared.weights
    params = {"a": compared.a.name, "b": compared.b.name}
    if weights.shapes:
        parameter, other = weights.shapes[0]
        said = message(
            "compare.structure_shape",
            name=parameter.name,
            shape=list(parameter.shape),
            other=other.name,
            other_shape=list(other.shape),
            **params,
        )
        module = parameter.name.rpartition(".")[0]
    elif weights.only_a or weights.only_b:
        left = (weights.only_a or weights.only_b)[0]
        said = message(
            "compare.structure_left",
            name=left.key.parameter,
            nearest=left.nearest.parameter if left.nearest is not None else "-",
            only_a=len(weights.only_a),
            only_b=len(weights.only_b),
            **params,
        )
        module = left.key.module
    else:
        parameter, other = weights.trained[0]
        side = compared.a.name if parameter.trainable else compared.b.name
        said = message(
            "compare.structure_trained", name=parameter.name, count=len(weights.trained), side=side, **params
        )
        module = parameter.name.rpartition(".")[0]
    return _found(STRUCTURE, said, message("compare.structure_advice"), Location(module=module, side=compared.a.name))


def _precision(compared: RunComparison) -> Finding:
    setting = compared.precision[0]
    said = message("compare.precision", a=compared.a.name, b=compared.b.name, here=setting.a, there=setting.b)
    finding = _found(PRECISION, said, message("compare.precision_advice"), Location(side=compared.a.name))
    return finding if compared.differs else replace(finding, conclusion=Conclusion.SUSPECT)


def _data(compared: RunComparison) -> Finding:
    data = compared.batches.data
    advice = message("compare.data_scaled_advice" if data is Data.SCALED else "compare.in_advice")
    return _found(DATA, data_sentence(compared), advice, Location(step=compared.batches.step, side=compared.a.name))


def _hyper(compared: RunComparison) -> Finding:
    said = message("compare.hyper", a=compared.a.name, b=compared.b.name, settings=settings_text(compared.hyper))
    step = compared.hyper[0].step
    return _found(HYPER, said, message("compare.hyper_advice"), Location(step=step, side=compared.a.name))


def _found(code: str, said: Message, advice: Message, where: Location) -> Finding:
    return Finding(code, Conclusion.FOUND, said, advice=advice, where=where)


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
        where=Location(module=name.rpartition(".")[0], step=0, side=compared.a.name),
        measured=len(compared.weights.apart),
        limit=0,
    )


def _tensor(compared: RunComparison, first: Row, step: Tensors, because: str | None) -> Finding:
    code, stage = _STAGES[first.pair.b.kind]
    if stage == "out":
        stage = {True: "out_alone", False: "out_fed", None: "out"}[step.inputs_agree]
    elif stage == "in" and step.inputs_agree:
        stage = "in_between"
    line = built_at(compared.a, first.pair.a.module)
    params: dict[str, object] = {
        "module": first.pair.a.module or "-",
        "type": type_name(compared.a, first.pair.a.module),
        "other_type": type_name(compared.b, first.pair.b.module),
        "key": str(first.pair.a),
        "step": step.step,
        "a": compared.a.name,
        "b": compared.b.name,
        "level": few_digits(first.level),
        "worst": few_digits(first.distance.relative_max),
        "floor": few_digits(first.floor.value),
        "times": few_digits(first.times),
    }
    if not first.distance.comparable:
        stage = "shape"
        params |= {"shape": list(first.distance.shape_a), "other_shape": list(first.distance.shape_b)}
    elif first.distance.other_non_finite:
        stage = "non_finite"
        params |= {"count": first.distance.non_finite_a, "other_count": first.distance.non_finite_b}
    elif stage == "out_alone" and "dropout" in f"{params['type']} {params['other_type']}".lower():
        stage = "dropout"
    return Finding(
        code,
        Conclusion.FOUND,
        message(f"compare.{stage}", **params),
        _certainty(first),
        message(f"compare.{stage}_advice", **params),
        because,
        replace(
            line or Location(),
            module=first.pair.a.module,
            step=step.step,
            rank=compared.rank,
            side=compared.a.name,
        ),
        first.level,
        first.floor.value,
        [first.distance.to_json()],
        extra={"other_module": first.pair.b.module},
    )


def _certainty(first: Row) -> Certainty:
    """An estimate is only an estimate: what is far above it is certain."""
    sure = first.times > (100 if first.floor.basis is Basis.ESTIMATED else 3)
    return Certainty.CERTAIN if sure else Certainty.LIKELY


def built_at(side: Side, path: str) -> Location | None:
    """The line that built a module."""
    module = side.module(path)
    return module.built_at if module is not None else None


def type_name(side: Side, path: str) -> str:
    """A module's type without its package."""
    module = side.module(path)
    return module.type.rpartition(".")[2] if module is not None else "?"
