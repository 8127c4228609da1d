"""Evaluation goes through the training data: what a script says of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trueline.checks.check import check, found, na, none, suspect
from trueline.checks.of_script.handed import handed_at, said_at
from trueline.checks.of_script.passes import Pass, evaluation_passes, keys_of, shares, training_data
from trueline.model.finding import Finding
from trueline.script.loops import training_loops
from trueline.script.place import Place
from trueline.script.roles import LOADERS
from trueline.script.script import Script
from trueline.script.trace import CALL, UNCALLED, Trace
from trueline.script.values import Either, Made, Unknown, Value

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
    passes = evaluation_passes(trace)
    if not known or not passes:
        yield na("tr_07_in_script.no_evaluation" if known else "tr_07_in_script.no_training_loop")
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
        if _is_named_so(one, place, script, alone=not apart) or (
            not apart and _has_unused_loader(trace, trained, passes)
        ):
            yield found("tr_07_in_script.training_data", place.where())
        elif not apart:
            yield suspect("tr_07_in_script.only_training_data", place.where())
        else:
            told.discard(str(place))
    if not told:
        yield none("tr_07_in_script.held_out", evidence=[str(one.forward.place) for one in apart or same])


def _place(one: Pass, trained: list[Value], iterators: list[Value | None]) -> Place:
    """Where the loader is handed in; where it was built over the training data if it is a loader of its own."""
    data = one.data
    if one.scope is None:
        return data.event.place if isinstance(data, Made) else one.forward.place
    if isinstance(data, Made) and not any(data is other for other in trained):
        return data.event.place
    gone = one.scope.value
    if isinstance(gone, Made) and gone.event.method in _ITERATORS and not any(gone is other for other in iterators):
        return gone.event.place
    return handed_at(one.scope, one.forward.scopes)


def _is_named_so(one: Pass, place: Place, script: Script, *, alone: bool) -> bool:
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
