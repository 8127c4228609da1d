"""The loss gets numbers of a kind that it does not take: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from trueline.checks.check import check, found, na, none, suspect
from trueline.checks.of_script.forwards import forward_around
from trueline.checks.of_script.gradients import is_without_gradient
from trueline.checks.of_script.scores import Kind, Score, scores_of
from trueline.model.finding import Finding
from trueline.script.place import Place
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import Event
from trueline.script.values import Made, Value, ancestry, constant

_LOGITS: Final = "logits"
_LOGARITHMS: Final = "logarithms"
_PROBABILITIES: Final = "probabilities"
# What each loss takes as its first argument.
_TAKES: Final = {
    "CrossEntropyLoss": _LOGITS,
    "cross_entropy": _LOGITS,
    "SoftmaxCrossEntropyWithLogits": _LOGITS,
    "SparseSoftmaxCrossEntropyWithLogits": _LOGITS,
    "BCEWithLogitsLoss": _LOGITS,
    "binary_cross_entropy_with_logits": _LOGITS,
    "SigmoidCrossEntropyWithLogits": _LOGITS,
    "MultiLabelSoftMarginLoss": _LOGITS,
    "multilabel_soft_margin_loss": _LOGITS,
    "NLLLoss": _LOGARITHMS,
    "nll_loss": _LOGARITHMS,
    "KLDivLoss": _LOGARITHMS,
    "kl_div": _LOGARITHMS,
    "BCELoss": _PROBABILITIES,
    "binary_cross_entropy": _PROBABILITIES,
    "BinaryCrossEntropy": _PROBABILITIES,
}
_ALREADY: Final = (Kind.PROBABILITIES, Kind.SIGMOID, Kind.LOG_SIGMOID)
_BINARY: Final = ("BCEWithLogitsLoss", "binary_cross_entropy_with_logits", "SigmoidCrossEntropyWithLogits")


@check("cg.04")
def from_script(script: Script) -> Iterator[Finding]:
    """What goes into each loss, shapes aside, and what the loss takes."""
    fitting: list[str] = []
    told: set[Place] = set()
    for event in script.trace.of_role(Role.LOSS):
        name = event.name.removesuffix(".__call__").rpartition(".")[2]
        for place, finding in _judged(event, name):
            if finding is None:
                fitting.append(str(place))
            elif place not in told:
                told.add(place)
                yield finding
    if fitting and not told:
        yield none("cg_04_in_script.fits", evidence=sorted(set(fitting)))
    elif not told:
        yield na("cg_04_in_script.not_known")


def _judged(event: Event, name: str) -> Iterator[tuple[Place, Finding | None]]:
    given = event.arg(0, "input", "logits", "inputs", "preds")
    scores = scores_of(given)
    choice = _all(scores, (Kind.CHOICE,))
    if choice is not None and _comes_from_network(given):
        yield _told("choice", choice.place or event.place, event, name)
        return
    takes = _TAKES.get(name)
    if takes is None:
        return
    if _is_swapped(event):
        yield _told("swapped", event.place, event, name)
        return
    wrong = _wrong(takes, name, scores)
    if wrong is not None:
        said, score = wrong
        # Where the loss is the wrong one, it is the line that builds it; else that of the operation too many.
        at = _built(event) if said.startswith("raw") or takes is _PROBABILITIES else score.place
        yield _told(said, at or event.place, event, name, by=_called(score))
    elif name in ("KLDivLoss", "kl_div") and (target := _wrong_target(event)) is not None:
        yield _told("target", target.place or event.place, event, name, by=_called(target))
    elif any(one.kind is not Kind.OTHER for one in scores):
        yield event.place, None


def _wrong(takes: str, name: str, scores: Sequence[Score]) -> tuple[str, Score] | None:
    if takes == _LOGITS:
        kinds: tuple[Kind, ...] = (*_ALREADY, Kind.LOGARITHMS) if name in _BINARY else _ALREADY
        one = _all(scores, kinds)
        return ("twice", one) if one is not None else None
    if takes == _LOGARITHMS:
        one = _all(scores, (Kind.PROBABILITIES, Kind.SIGMOID))
        if one is not None:
            return "no_logarithm", one
        one = _all(scores, (Kind.LOGITS,))
        return ("raw_logarithms", one) if one is not None else None
    one = _all(scores, (Kind.LOGITS,))
    if one is not None:
        return "raw_probabilities", one
    one = _all(scores, (Kind.LOGARITHMS, Kind.LOG_SIGMOID))
    return ("logarithm", one) if one is not None else None


def _wrong_target(event: Event) -> Score | None:
    """Kullback-Leibler takes probabilities as its target, or their logarithms where it is told so."""
    target = scores_of(event.arg(1, "target", "labels"))
    options = event.receiver.event if isinstance(event.receiver, Made) else event
    logarithms = constant(options.arg(None, "log_target"), False)
    if logarithms is True:
        return _all(target, (Kind.PROBABILITIES,))
    return _all(target, (Kind.LOGARITHMS, Kind.LOG_SIGMOID)) if logarithms is False else None


def _all(scores: Sequence[Score], kinds: tuple[Kind, ...]) -> Score | None:
    """One of several where all of them are of these kinds."""
    return scores[0] if scores and all(one.kind in kinds for one in scores) else None


def _is_swapped(event: Event) -> bool:
    """Whether the labels stand where the network's answer belongs."""
    first, second = event.arg(0, "input", "logits", "inputs"), event.arg(1, "target", "labels", "label")
    if first is None or second is None or not _comes_from_network(second) or _comes_from_network(first):
        return False
    kinds = {one.kind for one in scores_of(second)}
    return kinds == {Kind.LOGITS} and all(one.kind is Kind.OTHER for one in scores_of(first))


def _comes_from_network(value: Value | None) -> bool:
    return any(isinstance(one, Made) and one.event.role is Role.FORWARD for one in ancestry(value, most=400))


def _built(event: Event) -> Place:
    loss = event.receiver
    return loss.event.place if isinstance(loss, Made) else event.place


def _called(score: Score) -> str:
    return score.event.name.removesuffix(".__call__").rpartition(".")[2] if score.event is not None else ""


def _told(said: str, place: Place, event: Event, name: str, by: str = "") -> tuple[Place, Finding]:
    line = _built(event).line
    if is_without_gradient(event) and forward_around(event) is None:
        return place, suspect("cg_04_in_script.only_measured", place.where(), loss=name, line=line)
    return place, found(f"cg_04_in_script.{said}", place.where(), loss=name, line=line, by=by)
