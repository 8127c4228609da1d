"""Labels are shifted by one: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trueline.apitable.functions import functions_of, names_of
from trueline.apitable.traits import Trait
from trueline.checks.engine.check import check, found, none, suspect, undecided
from trueline.checks.tr_10_labels_shifted.rows import rows_apart, same_twice
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.script.analysis.columns import batch_index, columns_of, outputs_of, plain, range_of
from trueline.script.analysis.passes import Pass, evaluation_passes
from trueline.script.analysis.reachable import all_values
from trueline.script.loops import training_loops
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import CALL, UNCALLED, Event, Trace
from trueline.script.values import Attribute, Const, Derived, Item, Made, Seq, Value, ancestry, constant

_CLASSES: Final = names_of(Trait.CLASS_LOSS)
_CHOSEN: Final = names_of(Trait.CHOOSES)


@dataclass(frozen=True, slots=True)
class _Label:
    """A label on its way into a loss or a comparison: what it was, by how much it was moved, and where."""

    base: Value
    shift: int
    place: Location | None


@check("tr.10")
def from_script(script: Script) -> Iterator[Finding]:
    """Labels in training against labels in evaluation, against the outputs, and against the inputs."""
    trace = script.trace
    losses = _class_losses(trace)
    of_classes = (*_apart(losses, trace), *_outside(losses, trace), *_rolled(losses, trace), *_tokens(losses, trace))
    reported: set[str] = set()
    for finding in (*of_classes, *_rows(script)):
        key = f"{finding.where.file}:{finding.where.line}"
        if key not in reported:
            reported.add(key)
            yield finding
    if reported:
        return
    if not losses:
        yield undecided("tr_10.script.no_classes")
        return
    seen = [label for event in losses if (label := _moved(_target(event))) is not None and batch_index(label.base)]
    if seen and any(True for _ in _compared(trace)):
        yield none("tr_10.script.in_place", evidence=[str(event.place) for event in losses])
    else:
        yield undecided("tr_10.script.not_told")


def _class_losses(trace: Trace) -> list[Event]:
    """Losses over classes in training loops."""
    found_: list[Event] = []
    for loop in training_loops(trace):
        for event in loop.of(Role.LOSS):
            if event.name.removesuffix(".__call__").rpartition(".")[2] in _CLASSES and _target(event) is not None:
                found_.append(event)
    return found_


def _target(event: Event) -> Value | None:
    return event.arg(1, "target", "labels", "label")


def _moved(value: Value | None) -> _Label | None:
    """By how much a label was moved on the way from its batch."""
    shift, place = 0, None
    for _ in range(30):
        value = plain(value)
        if isinstance(value, Derived) and len(value.of) == 2:
            by = constant(value.of[1])
            if value.op == "Mod":
                value = value.of[0]
                continue
            if value.op in ("Add", "Sub") and isinstance(by, int) and not isinstance(by, bool):
                shift += by if value.op == "Add" else -by
                place = value.place
                value = value.of[0]
                continue
        break
    return _Label(value, shift, place) if value is not None else None


def _apart(losses: list[Event], trace: Trace) -> Iterator[Finding]:
    """Labels that are moved in training and not where predictions are compared with them, or the other way."""
    trained = [label for label in (_moved(_target(event)) for event in losses) if label is not None]
    trained = [label for label in trained if batch_index(label.base) is not None]
    compared = list(_compared(trace))
    if not trained or not compared:
        return
    whole = [_in_data(label, trace) for label in (*trained, *compared)]
    if all(label is not None for label in whole):
        # What was moved in the datasets counts too, where it can be told of both.
        trained = [label for label in whole[: len(trained)] if label is not None]
        compared = [label for label in whole[len(whole) - len(compared) :] if label is not None]
    shifts = {label.shift for label in trained}
    seen = {label.shift for label in compared}
    if shifts == seen or len(shifts) > 1 or len(seen) > 1:
        return
    own, label = trained[0], compared[0]
    if abs(own.shift - label.shift) != 1:
        return
    place = own.place if own.place is not None else label.place
    if place is not None:
        yield found("tr_10.script.apart", place, train=own.shift, evaluation=label.shift)


def _in_data(label: _Label, trace: Trace) -> _Label | None:
    """A label with what its dataset had moved it by; None where that cannot be told."""
    if batch_index(label.base) is None:
        return label if isinstance(label.base, Made) else None
    moved = [_moved(value) for value in _origins(label.base, trace)]
    if len(moved) != 1 or moved[0] is None or not isinstance(moved[0].base, Item | Made):
        return None
    inner = moved[0]
    return _Label(label.base, label.shift + inner.shift, label.place or inner.place)


def _compared(trace: Trace) -> Iterator[_Label]:
    """Labels that evaluation compares predictions with."""
    passes = evaluation_passes(trace)
    for value in all_values(trace):
        if not isinstance(value, Derived) or value.op != "Eq" or len(value.of) != 2:
            continue
        for guess, label in (value.of, value.of[::-1]):
            left, right = _moved(guess), _moved(label)
            if left is None or right is None or not _is_guess(left.base) or not _is_of(left.base, passes):
                continue
            if batch_index(right.base) is not None or isinstance(right.base, Made):
                yield _Label(right.base, right.shift - left.shift, right.place or left.place)


def _is_guess(value: Value) -> bool:
    at = value
    while isinstance(at, Item | Attribute):
        at = at.of
    return isinstance(at, Made) and at.event.method in _CHOSEN


def _is_of(value: Value, passes: list[Pass]) -> bool:
    for part in ancestry(value, most=30):
        if not isinstance(part, Made):
            continue
        for evaluation in passes:
            if _is_within(part.event, evaluation):
                return not any(scope.kind == UNCALLED for scope in part.event.scopes)
    return False


def _is_within(event: Event, evaluation: Pass) -> bool:
    if evaluation.scope is not None:
        return event.inside(evaluation.scope)
    own = evaluation.forward
    return event is own or any(scope.kind == CALL and scope.place == own.place for scope in event.scopes)


def _outside(losses: list[Event], trace: Trace) -> Iterator[Finding]:
    """Labels of which the source says that they are 1..K, or begin at -1, where the network has K outputs."""
    for event in losses:
        outputs = outputs_of(event.arg(0))
        label = _moved(_target(event))
        if outputs is None or label is None or constant(event.arg(None, "ignore_index"), None) is not None:
            continue
        for column in _origins(label.base, trace):
            bounds = range_of(column)
            if bounds is None:
                continue
            low, high = bounds[0] + label.shift, bounds[1] + label.shift
            # Drawn from a whole range of classes: only then do the bounds say which there are.
            if (low, high) == (1, outputs) or (low, high) == (-1, outputs - 2):
                place = label.place or _moved_in(column) or event.place
                yield found("tr_10.script.outside", place, low=low, high=high, outputs=outputs)
                break


def _origins(value: Value, trace: Trace) -> list[Value]:
    at = batch_index(value)
    return list(columns_of(at[0], at[1], trace)) if at is not None else []


def _moved_in(value: Value) -> Location | None:
    for part in ancestry(value, most=60):
        if isinstance(part, Derived) and part.op in ("Add", "Sub") and abs(constant(part.of[-1], 0) or 0) == 1:
            return part.place
        if isinstance(part, Made) and part.event.method in functions_of(Trait.DRAWS_WHOLE, Trait.COUNTS_UP):
            return part.event.place
    return None


def _rolled(losses: list[Event], trace: Trace) -> Iterator[Finding]:
    """Labels that were moved along the samples: each sample has its neighbour's."""
    for event in losses:
        label = _moved(_target(event))
        at = batch_index(label.base) if label is not None else None
        if at is None or not isinstance(at[1], int):
            continue
        for column in columns_of(at[0], at[1], trace):
            value = plain(column)
            if (
                isinstance(value, Made)
                and value.event.method == "roll"
                and abs(constant(value.event.arg(1, "shift", "shifts"), 0) or 0) == 1
            ):
                yield found("tr_10.script.rolled", value.event.place)


def _rows(script: Script) -> Iterator[Finding]:
    """Labels of other rows than the inputs, and targets that are the inputs."""
    for shift in rows_apart(script):
        said = found if shift.sure else suspect
        yield said("tr_10.script.rows_apart", shift.place, by=shift.by)
    for place in same_twice(script):
        yield found("tr_10.script.not_shifted", place)


def _tokens(losses: list[Event], trace: Trace) -> Iterator[Finding]:
    """Targets that are the inputs of a sequence, moved once by the data and once more before the loss."""
    for event in losses:
        label = _sequence(_target(event), trace)
        network = next((value for value in ancestry(event.arg(0), most=400) if _is_batch_input(value)), None)
        inputs = _sequence(network, trace) if network is not None else None
        if label is None or inputs is None or (label[0] is not inputs[0] and label[0] != inputs[0]):
            continue
        shift = label[1] - inputs[1]
        if shift >= 2 or shift < 0:
            place = label[2] or event.place
            yield found("tr_10.script.twice", place, shift=shift)


def _is_batch_input(value: Value) -> bool:
    return batch_index(value) is not None


def _sequence(value: Value | None, trace: Trace) -> tuple[object, int, Location | None] | None:
    """The sequence that a value is cut from, and at which place of it that begins."""
    shift, place = 0, None
    for _ in range(30):
        value = plain(value)
        at = batch_index(value)
        if at is not None:
            columns = list(columns_of(at[0], at[1], trace))
            if len(columns) != 1:
                return None
            value = columns[0]
            continue
        if not isinstance(value, Item):
            break
        index = value.index
        if isinstance(index, Seq) and index.items:
            index = index.items[-1]
        if not (isinstance(index, Derived) and index.op == "Slice"):
            break
        first = index.of[0]
        if isinstance(first, Const):
            if first.value is not None and not isinstance(first.value, int):
                return None
            shift += first.value or 0
            place = place or (index.place if first.value else None)
            value = value.of
            continue
        if isinstance(first, Derived) and first.op == "Add" and isinstance(constant(first.of[1]), int):
            return (id(value.of), id(first.of[0])), shift + constant(first.of[1]), place or index.place
        return (id(value.of), id(first)), shift, place
    return ((id(value), 0), shift, place) if value is not None else None
