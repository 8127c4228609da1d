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
    trained = [one for one in training_data(trace) if not isinstance(one, Either | Unknown)]
    known = frozenset().union(*(keys_of(one) for one in trained)) if trained else frozenset()
    passes = [_of_loader(one) for one in evaluation_passes(trace)]
    if not known or not passes:
        if known:
            yield (na if is_training_followed(trace) else undecided)("tr_07.script.no_evaluation")
        else:
            yield undecided("tr_07.script.no_training_loop")
        return
    same = [one for one in passes if shares(keys_of(one.data), known)]
    apart = [one for one in passes if not shares(keys_of(one.data), known)]
    iterators = [one.scope.value for one in training_loops(trace)]
    told: set[str] = set()
    for one in same:
        place = _place(one, trained, iterators)
        if str(place) in told:
            continue
        told.add(str(place))
        meant = _is_named_so(one, place, script, alone=not apart) or _is_handed_so(one, trace)
        if meant or (not apart and _has_unused_loader(trace, trained, passes)):
            yield found("tr_07.script.training_data", place)
        elif not apart:
            yield suspect("tr_07.script.only_training_data", place)
        else:
            told.discard(str(place))
    if not told:
        yield none("tr_07.script.held_out", evidence=[str(one.forward.place) for one in apart or same])


def _of_loader(one: Pass) -> Pass:
    """One batch, ``next(iter(loader))``, is the loader's."""
    at = batch_index(one.data) if one.scope is None else None
    return replace(one, data=iterated(at[0]) or one.data) if at is not None else one


def _place(one: Pass, trained: list[Value], iterators: list[Value | None]) -> Location:
    """Where the loader is handed in; where it was built, or its data cut, if it is a loader of its own."""
    data = one.data
    if isinstance(data, Made) and not any(data is other for other in trained):
        cut = _cut_like(data, trained)
        if cut is not None:
            return cut
        for other in trained:
            if isinstance(other, Made) and other.event.place == data.event.place:
                # Both are built by one function: it is the call that chose the data.
                return data.event.seen_beside(other.event)
        return data.event.place
    if one.scope is None:
        return one.forward.place
    gone = one.scope.value
    if isinstance(gone, Made) and gone.event.method in _ITERATORS and not any(gone is other for other in iterators):
        return gone.event.place
    return handed_at(one.scope, one.forward.scopes)


def _cut_like(data: Value, trained: list[Value]) -> Location | None:
    """The slice that takes for evaluation the very rows that another one takes for training."""
    cuts = {(_text(one), id(one.of)): one for other in trained for one in _slices(other)}
    for one in _slices(data):
        other = cuts.get((_text(one), id(one.of)))
        if other is not None and isinstance(one.index, Derived) and other.index is not one.index:
            return one.index.place
    return None


def _slices(value: Value) -> Iterator[Item]:
    for one in with_indexes(value):
        if isinstance(one, Item) and isinstance(one.index, Derived) and one.index.op == "Slice":
            yield one


def _text(item: Item) -> tuple[object, ...]:
    return tuple(constant(one, id(one)) for one in item.index.parts()) if item.index is not None else ()


def _is_handed_so(one: Pass, trace: Trace) -> bool:
    """Whether it is handed to something that trains, as what is to be held out."""
    if one.scope is None:
        return False
    if any(event.name == "mindspore.train.Model.fit" for event in trace.events if event.place == one.scope.place):
        return True
    for call, name in handed_through(one.scope, one.forward.scopes):
        if _HELD_OUT.search(name.lower().replace("_", " ")) and any(
            event.inside(call) for event in trace.of_role(Role.BACKWARD)
        ):
            return True
    return False


def _is_named_so(one: Pass, place: Location, script: Script, *, alone: bool) -> bool:
    """Whether the script calls the result, or the loader, one of data that was held out."""
    words = said_at(script, place)
    if alone:
        # Nothing else is evaluated: the names of the functions around it count too.
        words += " " + " ".join(scope.name for scope in one.forward.scopes if scope.kind == CALL).lower()
        if isinstance(one.data, Made):
            words += " " + " ".join(scope.name for scope in one.data.event.scopes if scope.kind == CALL).lower()
    return bool(_HELD_OUT.search(words.replace("_", " ")))


def _has_unused_loader(trace: Trace, trained: list[Value], passes: list[Pass]) -> bool:
    """Whether the script builds a loader that it never goes through."""
    used = {id(one) for one in trained} | {id(one.data) for one in passes}
    used |= {id(value) for one in (*trained, *(each.data for each in passes)) for value in _chain(one)}
    for event in trace.events:
        if event.name not in LOADERS or any(one.kind == UNCALLED for one in event.scopes):
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
        if any(one is made for one in (*event.args, *event.kwargs.values())) and event.name != "builtins.len":
            return True
    return False
