"""The loss gets numbers of a kind that it does not take: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from trueline.apitable.functions import functions_of, names_of
from trueline.apitable.traits import Trait
from trueline.checks.cg_04_loss_wrong.scores import Kind, Score, scores_of
from trueline.checks.cg_04_loss_wrong.shapes import shape_of
from trueline.checks.engine.check import check, found, none, suspect, undecided
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.script.analysis.forwards import forward_around
from trueline.script.analysis.gradients import is_without_gradient
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import Event, Trace
from trueline.script.values import Derived, Either, Item, Made, Value, ancestry, constant, options
from trueline.script.walking import taken_apart

# What each loss takes as its first argument.
_LOGITS: Final = names_of(Trait.TAKES_LOGITS)
_LOGARITHMS: Final = names_of(Trait.TAKES_LOGARITHMS)
_PROBABILITIES: Final = names_of(Trait.TAKES_PROBABILITIES)
_BY_DIFFERENCE: Final = names_of(Trait.BY_DIFFERENCE)
_SHAPING: Final = functions_of(Trait.SAME, Trait.VIEW)
# What is done to a loss that is trained, and leaves it the same.
_KEEPING: Final = functions_of(Trait.SAME, Trait.SCALES_LOSS) - functions_of(Trait.CUTS_GRADIENT)
_ALREADY: Final = (Kind.PROBABILITIES, Kind.SIGMOID, Kind.LOG_SIGMOID)
_BINARY: Final = names_of(Trait.BINARY_LOSS)


@check("cg.04")
def from_script(script: Script) -> Iterator[Finding]:
    """What goes into each loss, shapes aside, and what the loss takes."""
    fitting: list[str] = []
    reported: set[Location] = set()
    for place, finding in (*_losses(script.trace), *_by_hand(script.trace)):
        if finding is None:
            fitting.append(str(place))
        elif place not in reported:
            reported.add(place)
            yield finding
    if fitting and not reported:
        yield none("cg_04.script.fits", evidence=sorted(set(fitting)))
    elif not reported:
        yield undecided("cg_04.script.not_known")


_Told = Iterator[tuple[Location, Finding | None]]


def _losses(trace: Trace) -> _Told:
    for event in trace.of_role(Role.LOSS):
        name = event.name.removesuffix(".__call__").rpartition(".")[2]
        yield from _judged(event, name)
        if name in _BY_DIFFERENCE:
            first, second = event.arg(0, "input", "logits"), event.arg(1, "target", "labels")
            yield from _stretched(event, event.place, name, first, second)


def _stretched(event: Event | None, place: Location, name: str, first: Value | None, second: Value | None) -> _Told:
    """A column of answers beside a row of targets: each is compared with every other."""
    for answer, target in ((first, second), (second, first)):
        column, row = shape_of(answer), shape_of(target)
        if column.by is None or column.last != 1 or row.rank is None or _comes_from_network(target):
            continue
        if column.rank == row.rank + 1 if column.rank is not None else row.rank == 1:
            at = column.by.place
            if event is not None and is_without_gradient(event):
                yield at, suspect("cg_04.script.only_measured", at, loss=name, line=place.line)
            else:
                said = "stretched" if name else "stretched_by_hand"
                yield at, found(f"cg_04.script.{said}", at, loss=name, line=place.line)


def _by_hand(trace: Trace) -> _Told:
    """Losses that are written down as arithmetic: differences of answers and targets."""
    for backward in trace.of_role(Role.BACKWARD):
        for value in ancestry(backward.receiver, most=2000):
            if isinstance(value, Derived) and value.op == "Sub" and value.place is not None:
                yield from _stretched(None, value.place, "", *value.of)
        for term in _terms(backward.receiver):
            inner = _averaged(term)
            if isinstance(inner, Derived) and inner.op == "Sub" and _is_answer_and_data(*inner.of):
                assert isinstance(term, Made)
                place = term.event.place
                yield place, found("cg_04.script.not_bounded", place)


def _terms(loss: Value | None) -> Iterator[Value]:
    """What a loss is the sum of, numbers that it is multiplied by aside."""
    return taken_apart(loss, parts=_operands)


def _operands(value: Value) -> Sequence[Value] | None:
    is_sum = isinstance(value, Either) or (isinstance(value, Derived) and value.op in ("Add", "Mult", "Div", "Sub"))
    through = isinstance(value, Made) and value.event.method in _KEEPING
    return value.parts() if is_sum or through else None


def _averaged(value: Value) -> Value | None:
    """What the mean or sum is taken of."""
    if not isinstance(value, Made) or value.event.method not in ("mean", "sum"):
        return None
    event = value.event
    if not (event.name.startswith(("torch.", "mindspore.", "?.")) or event.receiver is not None):
        return None
    return event.receiver if event.receiver is not None else event.arg(0, "input")


def _is_answer_and_data(value: Value, other_value: Value) -> bool:
    """One is what a network gives, the other has nothing of a network and nothing that learns in it."""
    network = [_comes_from_network(side) for side in (value, other_value)]
    if sum(network) != 1:
        return False
    data = other_value if network[0] else value
    answer = value if network[0] else other_value
    return _is_direct(answer) and any(isinstance(part, Item) for part in ancestry(data, most=100))


def _is_direct(value: Value) -> bool:
    """Whether a network gives it, shape aside: what is squared or made positive after it is not."""
    for part in options(value):
        while isinstance(part, Made) and part.event.role is not Role.FORWARD:
            if part.event.method not in _SHAPING or part.event.receiver is None:
                return False
            part = part.event.receiver
        if not isinstance(part, Made):
            return False
    return True


def _judged(event: Event, name: str) -> _Told:
    given = event.arg(0, "input", "logits", "inputs", "preds")
    scores = scores_of(given)
    choice = _all(scores, (Kind.CHOICE,))
    if choice is not None and _comes_from_network(given):
        yield _told("choice", choice.place or event.place, event, name)
        return
    if name not in _LOGITS | _LOGARITHMS | _PROBABILITIES:
        return
    if _is_swapped(event):
        yield _told("swapped", event.place, event, name)
        return
    wrong = _wrong(name, scores)
    if wrong is not None:
        said, score = wrong
        # Where the loss is the wrong one, it is the line that builds it; else that of the operation too many.
        at = _built(event) if said.startswith("raw") or name in _PROBABILITIES else score.place
        if said == "raw_logarithms" and score.event is not None and forward_around(score.event) is not None:
            # What the network gives last; the loss may as well be the wrong one, and is named.
            at = score.place
        yield _told(said, at or event.place, event, name, by=_called(score))
    elif name in ("KLDivLoss", "kl_div") and (target := _wrong_target(event)) is not None:
        yield _told("target", target.place or event.place, event, name, by=_called(target))
    elif any(score.kind is not Kind.OTHER for score in scores):
        yield event.place, None


def _wrong(name: str, scores: Sequence[Score]) -> tuple[str, Score] | None:
    if name in _LOGITS:
        kinds: tuple[Kind, ...] = (*_ALREADY, Kind.LOGARITHMS) if name in _BINARY else _ALREADY
        score = _all(scores, kinds)
        return ("twice", score) if score is not None else None
    if name in _LOGARITHMS:
        score = _all(scores, (Kind.PROBABILITIES, Kind.SIGMOID))
        if score is not None:
            return "no_logarithm", score
        score = _all(scores, (Kind.LOGITS,))
        return ("raw_logarithms", score) if score is not None else None
    score = _all(scores, (Kind.LOGITS,))
    if score is not None:
        return "raw_probabilities", score
    score = _all(scores, (Kind.LOGARITHMS, Kind.LOG_SIGMOID))
    return ("logarithm", score) if score is not None else None


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
    return scores[0] if scores and all(score.kind in kinds for score in scores) else None


def _is_swapped(event: Event) -> bool:
    """Whether the labels stand where the network's answer belongs."""
    first, second = event.arg(0, "input", "logits", "inputs"), event.arg(1, "target", "labels", "label")
    if first is None or second is None or not _comes_from_network(second) or _comes_from_network(first):
        return False
    kinds = {score.kind for score in scores_of(second)}
    return kinds == {Kind.LOGITS} and all(score.kind is Kind.OTHER for score in scores_of(first))


def _comes_from_network(value: Value | None) -> bool:
    return any(isinstance(part, Made) and part.event.role is Role.FORWARD for part in ancestry(value, most=400))


def _built(event: Event) -> Location:
    loss = event.receiver
    return loss.event.place if isinstance(loss, Made) else event.place


def _called(score: Score) -> str:
    return score.event.name.removesuffix(".__call__").rpartition(".")[2] if score.event is not None else ""


def _told(said: str, place: Location, event: Event, name: str, by: str = "") -> tuple[Location, Finding]:
    line = _built(event).line
    if is_without_gradient(event) and forward_around(event) is None:
        return place, suspect("cg_04.script.only_measured", place, loss=name, line=line)
    return place, found(f"cg_04.script.{said}", place, loss=name, line=line, by=by)
