"""Evaluation goes through the training data: what a script says of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from trueline.checks.engine.check import check, found, na, none, suspect, undecided
from trueline.checks.tr_07_evaluated_on_training_data.handed import handed_at, handed_through, said_at
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.script.analysis.columns import batch_index, with_indexes
from trueline.script.analysis.followed import is_training_followed
from trueline.script.analysis.passes import Pass, evaluation_passes, keys_of, shares, training_data
from trueline.script.loops import training_loops
from trueline.script.roles import LOADERS, Role
from trueline.script.script import Script
from trueline.script.trace import CALL, UNCALLED, Trace, iterated
from trueline.script.values import Derived, Either, Item, Made, Unknown, Value, constant

_ITERATORS: Final = ("create_tuple_iterator", "create_dict_iterator")
_HELD_OUT: Final = re.compile(
    r"(?:^|[^a-z])(?:e?val(?:id|idate|idation|uate|uation)?|test|dev|held|holdout)(?=$|[^a-z])"
)


@check("tr.07")
def from_script(script: Script) -> Iterator[Finding]:
    """Whether what is evaluated is what was trained on, and nothing else is."""
    trace = script.trace
    trained = [value for value in training_data(trace) if not isinstance(value, Either | Unknown)]
    known = frozenset().union(*(keys_of(value) for value in trained)) if trained else frozenset()
    passes = [_of_loader(evaluation) for evaluation in evaluation_passes(trace)]
    if not known or not passes:
        if known:
            yield (na if is_training_followed(trace) else undecided)("tr_07.script.no_evaluation")
        else:
            yield undecided("tr_07.script.no_training_loop")
        return
    same = [evaluation for evaluation in passes if shares(keys_of(evaluation.data), known)]
    apart = [evaluation for evaluation in passes if not shares(keys_of(evaluation.data), known)]
    iterators = [loop.scope.value for loop in training_loops(trace)]
    reported: set[str] = set()
    for evaluation in same:
        place = _place(evaluation, trained, iterators)
        if str(place) in reported:
            continue
        reported.add(str(place))
        meant = _is_named_so(evaluation, place, script, alone=not apart) or _is_handed_so(evaluation, trace)
        if meant or (not apart and _has_unused_loader(trace, trained, passes)):
            yield found("tr_07.script.training_data", place)
        elif not apart:
            yield suspect("tr_07.script.only_training_data", place)
        else:
            reported.discard(str(place))
    if not reported:
        yield none("tr_07.script.held_out", evidence=[str(evaluation.forward.place) for evaluation in apart or same])


def _of_loader(evaluation: Pass) -> Pass:
    """One batch, ``next(iter(loader))``, is the loader's."""
    at = batch_index(evaluation.data) if evaluation.scope is None else None
    return replace(evaluation, data=iterated(at[0]) or evaluation.data) if at is not None else evaluation


def _place(evaluation: Pass, trained: list[Value], iterators: list[Value | None]) -> Location:
    """Where the loader is handed in; where it was built, or its data cut, if it is a loader of its own."""
    data = evaluation.data
    if isinstance(data, Made) and not any(data is value for value in trained):
        cut = _cut_like(data, trained)
        if cut is not None:
            return cut
        for value in trained:
            if isinstance(value, Made) and value.event.place == data.event.place:
                # Both are built by one function: it is the call that chose the data.
                return data.event.seen_beside(value.event)
        return data.event.place
    if evaluation.scope is None:
        return evaluation.forward.place
    gone = evaluation.scope.value
    if isinstance(gone, Made) and gone.event.method in _ITERATORS and not any(gone is value for value in iterators):
        return gone.event.place
    return handed_at(evaluation.scope, evaluation.forward.scopes)


def _cut_like(data: Value, trained: list[Value]) -> Location | None:
    """The slice that takes for evaluation the very rows that another one takes for training."""
    cuts = {(_text(value), id(value.of)): value for other_value in trained for value in _slices(other_value)}
    for value in _slices(data):
        other_value = cuts.get((_text(value), id(value.of)))
        if other_value is not None and isinstance(value.index, Derived) and other_value.index is not value.index:
            return value.index.place
    return None


def _slices(value: Value) -> Iterator[Item]:
    for part in with_indexes(value):
        if isinstance(part, Item) and isinstance(part.index, Derived) and part.index.op == "Slice":
            yield part


def _text(item: Item) -> tuple[object, ...]:
    return tuple(constant(value, id(value)) for value in item.index.parts()) if item.index is not None else ()


def _is_handed_so(evaluation: Pass, trace: Trace) -> bool:
    """Whether it is handed to something that trains, as what is to be held out."""
    if evaluation.scope is None:
        return False
    if any(
        event.name == "mindspore.train.Model.fit" for event in trace.events if event.place == evaluation.scope.place
    ):
        return True
    for call, name in handed_through(evaluation.scope, evaluation.forward.scopes):
        if _HELD_OUT.search(name.lower().replace("_", " ")) and any(
            event.inside(call) for event in trace.of_role(Role.BACKWARD)
        ):
            return True
    return False


def _is_named_so(evaluation: Pass, place: Location, script: Script, *, alone: bool) -> bool:
    """Whether the script calls the result, or the loader, one of data that was held out."""
    words = said_at(script, place)
    if alone:
        # Nothing else is evaluated: the names of the functions around it count too.
        words += " " + " ".join(scope.name for scope in evaluation.forward.scopes if scope.kind == CALL).lower()
        if isinstance(evaluation.data, Made):
            words += " " + " ".join(scope.name for scope in evaluation.data.event.scopes if scope.kind == CALL).lower()
    return bool(_HELD_OUT.search(words.replace("_", " ")))


def _has_unused_loader(trace: Trace, trained: list[Value], passes: list[Pass]) -> bool:
    """Whether the script builds a loader that it never goes through."""
    used = {id(value) for value in trained} | {id(evaluation.data) for evaluation in passes}
    used |= {id(value) for part in (*trained, *(evaluation.data for evaluation in passes)) for value in _chain(part)}
    for event in trace.events:
        if event.name not in LOADERS or any(scope.kind == UNCALLED for scope in event.scopes):
            continue
        if id(event.result) not in used and not _is_held(event.result, used, trace):
            return True
    return False


def _chain(value: Value) -> Iterator[Value]:
    at: Value | None = value
    while isinstance(at, Made):
        yield at
        at = at.event.receiver


def _is_held(made: Value | None, used: set[int], trace: Trace) -> bool:
    """Whether something else is made from it that is gone through, or is given to what cannot be looked into."""
    for event in trace.events:
        if event.receiver is made and event.result is not None:
            if event.name.startswith("mindspore.dataset."):
                if id(event.result) in used or _is_held(event.result, used, trace):
                    return True
            else:
                return True
        if any(value is made for value in (*event.args, *event.kwargs.values())) and event.name != "builtins.len":
            return True
    return False
