"""Pretrained weights that do not come to where they belong: what a script says of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from trueline.apitable.functions import functions_of
from trueline.apitable.traits import Trait
from trueline.checks.engine.check import check, found, na, suspect, undecided
from trueline.checks.wi_02_wrong_pretrained_weights.checkpoints import (
    Loading,
    chosen_words,
    is_reading,
    is_same_path,
    loadings,
    names_in,
    readings,
    renamed_to_nothing,
    saved_under,
    words_of,
)
from trueline.checks.wi_02_wrong_pretrained_weights.saving import saved_untrained
from trueline.model.finding import Certainty, Finding
from trueline.model.location import Location
from trueline.script.analysis.followed import known_networks
from trueline.script.analysis.forwards import is_uncalled
from trueline.script.analysis.layers import has_weights, is_leaf, registered_in
from trueline.script.analysis.networks import networks_given
from trueline.script.analysis.reach import parts_of_all
from trueline.script.analysis.starts import starts
from trueline.script.roles import Role, is_optimizer
from trueline.script.script import Script
from trueline.script.trace import Event, Trace
from trueline.script.values import Instance, Item, Made, Table, Value, ancestry, constant, options

# What may be done with a network or a checkpoint without making use of it.
_IDLE: Final = functions_of(
    *(Trait.SAME, Trait.SETS_MODE, Trait.FREEZES, Trait.SAYS, Trait.SIZE, Trait.LOOKS_UP, Trait.LISTS, Trait.SUM),
    *(Trait.LISTS_PARAMETERS, Trait.LOADS_WEIGHTS, Trait.SORTS),
) | {"__new__", "__setattr__", "__init__", "exists"}

# What may be done with the names and values of a checkpoint without putting them anywhere.
_LOOKING: Final = functions_of(
    *(Trait.SAME, Trait.SAYS, Trait.SIZE, Trait.LOOKS_UP, Trait.LISTS, Trait.ITERATES, Trait.SORTS, Trait.HOLDS),
    *(Trait.TEXT, Trait.ASKS, Trait.SUM, Trait.SMALLEST, Trait.LARGEST),
)


# Values behind an argument that are looked at.
MAX_VALUES_BEHIND_ARGUMENT: Final = 100


@check("wi.02", decides=False)
def from_script(script: Script) -> Iterator[Finding]:
    """What is read from files of weights, what it is put into, and what becomes of that."""
    trace = script.trace
    reported: set[Location] = set()
    loaded: list[str] = []
    for place, finding in (*_never_put_in(trace), *_too_early(trace), *_of_loadings(script)):
        if finding is None:
            loaded.append(str(place))
        elif place not in reported:
            reported.add(place)
            yield finding
    if loaded and not reported:
        # That they come in does not show that they are the right ones.
        yield undecided("wi_02.script.put_in", evidence=sorted(set(loaded)))
    elif not reported:
        yield (undecided if known_networks(trace) is None else na)("wi_02.script.nothing_loaded")


_Told = Iterator[tuple[Location, Finding | None]]


def _too_early(trace: Trace) -> _Told:
    for place in saved_untrained(trace):
        # Whoever wants to compare two trainings from one beginning does the same.
        yield place, found("wi_02.script.saved_untrained", place, certainty=Certainty.LIKELY)


def _never_put_in(trace: Trace) -> _Told:
    keys = saved_under(trace)
    for event in readings(trace):
        if is_uncalled(event) or _is_read_again(event, trace):
            continue
        if not _is_used(event, trace):
            yield event.place, found("wi_02.script.never_put_in", event.place)
            continue
        if event.name == "mindspore.load_checkpoint" and _is_only_picked(event, trace):
            yield event.place, found("wi_02.script.never_put_in", event.place)
            continue
        read = _keys_read(event, trace)
        left = [key for key in keys if key not in read]
        if read and keys and len(left) == len(keys):
            yield event.place, found("wi_02.script.only_the_rest", event.place, key=left[0])


def _is_read_again(event: Event, trace: Trace) -> bool:
    """Whether the same file is read somewhere else too: here it may be for the epoch alone."""
    path = event.arg(0, "f", "ckpt_file_name")
    later_events = (
        other_event
        for other_event in trace.events
        if other_event is not event and is_reading(other_event) and other_event.place != event.place
    )
    return any(is_same_path(path, other_event.arg(0, "f", "ckpt_file_name")) for other_event in later_events)


def _is_used(event: Event, trace: Trace) -> bool:
    """Whether what was read goes anywhere."""
    result = event.result
    for later in trace.events[event.index + 1 :]:
        if later.method in _LOOKING:
            continue
        receiver = [later.receiver] if later.receiver is not None else []
        if any(value is result for value in ancestry(*receiver, *later.args, *later.kwargs.values(), most=300)):
            return True
    # Returned to where nothing is known of it.
    return any(
        part is result for values in trace.returned.values() for value in values for part in ancestry(value, most=50)
    )


def _is_only_picked(event: Event, trace: Trace) -> bool:
    """Whether single entries, as that of the epoch, are all that is taken of weights by name, and none are put in."""
    result = event.result
    if any(True for _ in loadings(trace)):
        return False
    picked = 0
    for later in trace.events[event.index + 1 :]:
        if later.receiver is result and later.method in ("pop", "get"):
            picked += 1
        elif any(value is result for value in (later.receiver, *later.args, *later.kwargs.values())):
            return False
        for part in ancestry(*later.args, *later.kwargs.values(), later.receiver, most=60):
            if isinstance(part, Item) and part.of is result and not isinstance(constant(part.index), str):
                return False
            if isinstance(part, Table) and any(value is result for value in ancestry(part.key, most=20)):
                return False
    returned = (value for values in trace.returned.values() for value in values)
    return bool(picked) and not any(value is result for value in returned)


def _keys_read(event: Event, trace: Trace) -> set[str]:
    found_: set[str] = set()
    for later in trace.events[event.index + 1 :]:
        for value in ancestry(*later.args, most=60):
            if isinstance(value, Item) and value.of is event.result and isinstance(constant(value.index), str):
                found_.add(constant(value.index))
    return found_


def _of_loadings(script: Script) -> _Told:
    trace = script.trace
    dropped = _answers_dropped(script)
    for loading in loadings(trace):
        event, place = loading.event, loading.event.place
        if is_uncalled(event):
            continue
        lost = _words_lost(loading, trace)
        again = _set_again(loading, trace)
        if lost:
            yield place, found("wi_02.script.names", place, word=lost[0])
        elif _is_orphan(loading, trace):
            anew = _made_anew(loading, trace)
            if anew is not None:
                yield anew, found("wi_02.script.made_anew", anew, line=place.line)
            else:
                yield place, found("wi_02.script.other_network", place)
        elif again is not None:
            yield again, found("wi_02.script.overwritten", again, line=place.line)
        elif not loading.strict and event.method == "load_state_dict" and (place.file, place.line) in dropped:
            yield place, suspect("wi_02.script.not_strict", place)
        else:
            yield place, None


def _words_lost(loading: Loading, trace: Trace) -> list[str]:
    """First words of names that the network does not have, where nothing would say so."""
    if loading.strict:
        return []
    renamed = renamed_to_nothing(loading.weights)
    if renamed is not None:
        return [renamed]
    own = names_in(loading.network)
    if own is None:
        return []
    chosen = list(chosen_words(loading.weights, trace))
    if chosen and not own & set(chosen):
        return chosen
    words = sorted(set(words_of(loading.weights)))
    return [
        word for word in words if (word not in own and not word.isdigit()) or (word.isdigit() and not own & set(words))
    ]


def _is_orphan(loading: Loading, trace: Trace) -> bool:
    """Whether the network that was filled is never called afterwards, nor any part of it, nor given to anything."""
    own = loading.network
    held = networks_given(own.event) if isinstance(own, Made) and is_optimizer(own) else []
    parts = parts_of_all([own, *held]) | {id(own)}
    index = loading.event.index
    calls = [event for event in trace.of_role(Role.FORWARD) if event.receiver is not None]
    if not calls or index > calls[-1].index:
        # Nothing is called after it at all: it is not this script that uses the weights.
        return False
    loops = {id(scope) for scope in loading.event.loops()}
    for event in trace.events:
        if event.index < index and not any(id(scope) in loops for scope in event.loops()):
            continue
        if event.role in (Role.FORWARD, Role.STEP) and parts & {id(value) for value in options(event.receiver)}:
            return False
        if event.method not in _IDLE and parts & {id(value) for value in _given(event, loading.event)}:
            return False
        if (
            event.method == "__setattr__"
            and event.index > index
            and parts & {id(value) for value in options(event.arg(1))}
        ):
            return False
    return True


def _made_anew(loading: Loading, trace: Trace) -> Location | None:
    """Where the same is made once more after the weights had been put in, seen from the function that does both."""
    own = loading.network
    for event in trace.events[loading.event.index + 1 :]:
        made = event.result
        again = (
            isinstance(made, Instance) and isinstance(own, Instance) and made.cls is own.cls and event is made.event
        ) or (isinstance(made, Made) and isinstance(own, Made) and made.event is event and made.name == own.name)
        if again and not is_uncalled(event) and not event.loops():
            return event.seen_beside(loading.event)
    return None


def _given(event: Event, loading: Event) -> Iterator[Value]:
    """What an event takes, with what that was made from; the names that loading has given back are no use of it."""
    waiting = [value for value in (event.receiver, *event.args, *event.kwargs.values()) if value is not None]
    seen: set[int] = set()
    while waiting and len(seen) < MAX_VALUES_BEHIND_ARGUMENT:
        value = waiting.pop(0)
        if id(value) in seen or (isinstance(value, Made) and value.event is loading):
            continue
        seen.add(id(value))
        yield value
        waiting.extend(value.parts())


def _set_again(loading: Loading, trace: Trace) -> Location | None:
    """Where all weights are given new first values after they had been loaded."""
    layers = {
        id(value)
        for value in registered_in(loading.network)
        if is_leaf(value) and isinstance(value, Made) and has_weights(value)
    }
    later = [start for start in starts(trace) if start.event.index > loading.event.index and id(start.layer) in layers]
    if len(layers) > 1 and {id(start.layer) for start in later} >= layers:
        callers = later[0].event.callers()
        inside = {id(scope) for scope in loading.event.scopes}
        outer = [scope for scope in later[0].event.scopes if scope.kind == "call" and id(scope) not in inside]
        return outer[0].place if outer and callers else later[0].event.place
    return None


def _answers_dropped(script: Script) -> set[tuple[str, int]]:
    """The lines where load_state_dict stands alone, so that nobody looks at what it says."""
    return {
        (source.shown, node.lineno)
        for source in script.files
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and node.value.func.attr == "load_state_dict"
    }
