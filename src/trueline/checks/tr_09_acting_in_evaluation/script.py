"""Dropout or batch statistics act in evaluation whatever the mode is: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from trueline.apitable.functions import functions_of, stems_of
from trueline.apitable.traits import Trait
from trueline.checks.engine.check import check, found, na, none, suspect, undecided
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.script.analysis.followed import acts_by_mode
from trueline.script.analysis.forwards import (
    calls_of_networks,
    forward_around,
    is_differentiated,
    is_repeated,
    is_trained,
    is_uncalled,
    values_trained,
)
from trueline.script.analysis.gradients import is_without_gradient
from trueline.script.analysis.layers import is_single
from trueline.script.analysis.modes import Found, Mode, acting_layers, modes_at, settings, starts_in
from trueline.script.roles import Role, is_network
from trueline.script.script import Script
from trueline.script.trace import BRANCH, CALL, Event, Trace
from trueline.script.values import Attribute, Const, Function, Made, Unknown, Value, ancestry, constant, options

_DROPPING: Final = functions_of(Trait.DROPOUT)
_FUNCTIONS: Final = (
    "torch.nn.functional.",
    "mindspore.ops.",
    "mindspore.mint.nn.functional.",
    "mindspore.ops.function.",
)


@check("tr.09")
def from_script(script: Script) -> Iterator[Finding]:
    """Functions and layers that are told to act as in training, and whether that follows the mode."""
    trace = script.trace
    trained = values_trained(trace)
    by_place: dict[Location, list[tuple[str, Event]]] = {}
    fitting: set[str] = set()
    for event in trace.events:
        said = _always_on(event)
        if said == "tied":
            fitting.add(str(event.place))
        elif said is not None:
            place = _place(event, said)
            by_place.setdefault(place, []).append((said, event))
    problems = 0
    for place, cases in by_place.items():
        if str(place) in fitting:
            # The same line is switched off in other calls.
            continue
        problems += 1
        said, event = next(((how, event) for how, event in cases if _is_evaluated(event, trained)), cases[0])
        if not _is_evaluated(event, trained) or is_repeated(event, trace) or _is_conditional(event):
            yield suspect(f"tr_09.script.{said}", place)
        else:
            yield found(f"tr_09.script.{said}", place)
    for finding in _left_in_training(trace, trained):
        problems += 1
        yield finding
    layers = {str(value.event.place) for value in _acting(trace)}
    if not problems and (fitting or layers):
        yield none("tr_09.script.follows", evidence=sorted(fitting | layers)[:20])
    elif not problems:
        yield (na if acts_by_mode(trace) is False else undecided)("tr_09.script.nothing_acts")


def _always_on(event: Event) -> str | None:
    """How it acts without asking for the mode; ``tied`` where it does ask; None where it is nothing of the kind."""
    if event.method in _DROPPING and event.name.startswith(_FUNCTIONS):
        if event.open or constant(event.arg(1, "p"), 0.5) == 0:
            return None
        return _told(event.arg(2, "training") or Const(True), event, "dropout")
    if event.method == "batch_norm" and event.name.startswith(_FUNCTIONS):
        given = event.arg(5, "training")
        return _told(given, event, "batch_norm") if given is not None else None
    if event.method == "scaled_dot_product_attention":
        given = event.arg(4, "dropout_p")
        if isinstance(given, Const):
            return _told(Const(True), event, "attention") if given.value else None
        return "tied" if given is not None else None
    if event.method == "__call__" and isinstance(event.receiver, Made):
        return _of_layer(event, event.receiver)
    inside = event.role is Role.TRAIN_MODE and forward_around(event) is not None
    return "set_in_forward" if inside and not event.implied and is_network(event.receiver) else None


def _of_layer(event: Event, layer: Made) -> str | None:
    name = layer.name.rpartition(".")[2]
    if name.startswith(stems_of(Trait.BATCH_NORM)) and layer.name.startswith(("torch.nn.", "mindspore.nn.")):
        if constant(layer.event.arg(None, "track_running_stats"), True) is False:
            return "no_statistics"
        return "batch_statistics" if constant(layer.event.arg(None, "use_batch_statistics")) is True else None
    if layer.name == "mindspore.ops.BatchNorm" and constant(layer.event.arg(0, "is_training")) is True:
        return _told(Const(True), event, "batch_norm")
    return _told(Const(True), event, "dropout") if layer.name == "mindspore.ops.Dropout" else None


def _told(training: Value, event: Event, said: str) -> str:
    """Whether what is handed over is always true, and no condition on the mode stands around."""
    if any(scope.kind == BRANCH and _asks_for_mode(scope.value) for scope in event.scopes):
        return "tied"
    return said if isinstance(training, Const) and training.value else "tied"


def _asks_for_mode(test: Value | None) -> bool:
    for value in ancestry(test, most=60):
        if isinstance(value, Attribute) and "train" in value.name:
            return True
        if isinstance(value, Unknown) and "train" in value.why:
            return True
    return False


def _place(event: Event, said: str) -> Location:
    layer = event.receiver
    if said in ("no_statistics", "batch_statistics") and isinstance(layer, Made):
        return layer.event.place
    return event.place


def _is_evaluated(event: Event, trained: set[int]) -> bool:
    """Whether it happens in a forward that nothing is learned from."""
    if is_uncalled(event) or (forward_around(event) is None and event.receiver is None):
        return False
    if is_without_gradient(event):
        return True
    return not is_differentiated(event) and not is_trained(event, trained)


def _is_conditional(event: Event) -> bool:
    inner = event.scopes
    for at, scope in enumerate(event.scopes):
        if scope.kind == CALL and isinstance(scope.value, Function) and scope.value is forward_around(event):
            inner = event.scopes[at + 1 :]
    return forward_around(event) is not None and any(scope.kind == BRANCH for scope in inner)


def _acting(trace: Trace) -> Iterator[Made]:
    for event in calls_of_networks(trace):
        yield from (value for value in acting_layers(event.receiver, trace) if isinstance(value, Made))


def _left_in_training(trace: Trace, trained: set[int]) -> Iterator[Finding]:
    """A layer that is set to training by itself, while the network around it is evaluated."""
    given = settings(trace)
    reported: set[Location] = set()
    for event in calls_of_networks(trace):
        if is_differentiated(event) or is_trained(event, trained) or is_uncalled(event):
            continue
        layers = acting_layers(event.receiver, trace)
        modes = [next(iter(modes_at(value, event, given, starts_in(event)))) for value in layers]
        for place in _set_alone(layers, modes, event):
            if place not in reported:
                reported.add(place)
                said = suspect if is_repeated(event, trace) else found
                yield said("tr_09.script.left_in_training", place)


def _set_alone(layers: Sequence[Value], modes: Sequence[Found], event: Event) -> Iterator[Location]:
    for mode in modes:
        setting = mode.setting
        if mode.mode is Mode.TRAINING and mode.certain and setting is not None:
            receiver = setting.event.receiver
            alone = is_single(receiver) and not any(value is receiver for value in options(event.receiver))
            if alone and len(layers) >= 1 and not setting.event.implied:
                yield setting.event.place
