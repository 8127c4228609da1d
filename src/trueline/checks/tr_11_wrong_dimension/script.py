"""What a script says of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.apitable.functions import functions_of, names_of, stems_of
from trueline.apitable.traits import Trait
from trueline.checks.engine.check import check, found, na, none, suspect, undecided
from trueline.checks.tr_11_wrong_dimension.dimensions import (
    SOFTMAX,
    contradicted,
    is_method,
    name_of,
    of_divergences,
    of_gradients,
    source_of,
)
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.script.analysis.followed import is_training_followed
from trueline.script.analysis.forwards import calls_of_networks, forward_around, is_uncalled, results_of
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import Event, Trace
from trueline.script.values import Attribute, Derived, Either, Item, Made, Value, ancestry, constant, options
from trueline.script.walking import walk

_SOFTMAX: Final = SOFTMAX
_CHOOSING: Final = names_of(Trait.CHOOSES)
_AVERAGING: Final = frozenset(("mean", "ReduceMean"))
_NORMALISING: Final = names_of(Trait.NORMALISES_VECTORS)
_REDUCING: Final = _SOFTMAX | _CHOOSING | _AVERAGING | _NORMALISING
# What leaves the dimensions as they are.
_PLAIN: Final = names_of(Trait.SAME, Trait.ELEMENTWISE, Trait.DROPOUT, Trait.NORM, Trait.POOL)
# Layers whose first dimension is that of their input.
_BATCH_FIRST: Final = stems_of(Trait.LINEAR, Trait.CONV, Trait.EMBEDDING)
_HANDING_ON: Final = functions_of(Trait.SAME, Trait.LISTS, Trait.ITERATES)
_COUNTING: Final = functions_of(Trait.SUM, Trait.MEAN) | {"float", "all"}
_LOADERS: Final = ("torch.utils.data.DataLoader", "mindspore.dataset.")


@check("tr.11", "a reduction runs over the samples")
def from_script(script: Script) -> Iterator[Finding]:
    """Reductions of what networks give for a batch, and the dimension that they run over."""
    trace = script.trace
    answers, lasts = _answers(trace), _lasts(trace)
    fitting: set[str] = set()
    reported: set[Location] = set()
    reduces = False
    for said, event in _contradicted(trace):
        place = _place(event)
        if place not in reported:
            reported.add(place)
            yield found(f"tr_11.{said}", place, what=name_of(event))
    for event in trace.events:
        kind, source = _kind(event), source_of(event)
        reduces = reduces or kind is not None
        if kind is None or source is None:
            continue
        call = _answer_of(source, answers) if forward_around(event) is None else _last_in_forward(event, lasts)
        inside = forward_around(event) is not None and kind in ("mean", "normalised") and _mixes(source)
        if call is None and not inside:
            continue
        dimension = _dimension(event)
        if dimension != 0 or isinstance(dimension, bool):
            if dimension is not None:
                fitting.add(str(event.place))
            continue
        place = _place(event)
        if place in reported:
            continue
        reported.add(place)
        if inside or (call is not None and kind != "mean" and (_is_of_loader(call) or _is_compared(event, trace))):
            yield found(f"tr_11.{kind}", place, what=name_of(event))
        else:
            yield suspect("tr_11.may_be_samples", place, what=name_of(event))
    if fitting and not reported:
        yield none("tr_11.other_dimension", evidence=sorted(fitting))
    elif not reported:
        absent = not reduces and is_training_followed(trace)
        yield (na if absent else undecided)("tr_11.no_reduction")


def _contradicted(trace: Trace) -> Iterator[tuple[str, Event]]:
    """Reductions over the first dimension that cannot be meant, by what they are of and what is done with them."""
    softmaxes = [
        event
        for event in trace.events
        if _kind(event) == "softmax" and _dimension(event) == 0 and not is_uncalled(event)
    ]
    yield from contradicted(trace, softmaxes)
    yield from (("mean", event) for event in (*of_gradients(trace), *of_divergences(trace)) if not is_uncalled(event))


def _kind(event: Event) -> str | None:
    name = name_of(event)
    if name not in _REDUCING or not event.name.startswith(("torch.", "mindspore.", "numpy.", "?.")):
        return None
    if name in _NORMALISING:
        # Outside of networks a batch is normalised on purpose, as where features are to be told apart.
        return "normalised" if forward_around(event) is not None else None
    return "softmax" if name in _SOFTMAX else "choice" if name in _CHOOSING else "mean"


def _dimension(event: Event) -> int | None:
    """The dimension that is given; None where there is none, or it is not known."""
    if event.method == "__call__" and isinstance(event.receiver, Made):
        given = event.receiver.event.arg(0, "dim", "axis")
        if name_of(event) == "ReduceMean":
            given = event.arg(1, "axis")
    else:
        given = event.arg(0 if is_method(event) else 1, "dim", "axis")
        if name_of(event) == "topk":
            given = event.arg(1 if is_method(event) else 2, "dim")
        elif name_of(event) == "normalize":
            given = event.arg(2, "dim")
    value = constant(given)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _answers(trace: Trace) -> dict[int, Event]:
    """What networks give, by identity, and the calls that gave it."""
    return {id(value): event for event in calls_of_networks(trace) for value in results_of(event)}


def _answer_of(value: Value | None, answers: dict[int, Event]) -> Event | None:
    """The call whose answer a value is, dimensions unchanged."""
    for _ in range(20):
        if value is None:
            return None
        if id(value) in answers:
            return answers[id(value)]
        value = _before(value)
    return None


def _before(value: Value) -> Value | None:
    """What a value was before something that leaves the dimensions as they are."""
    if isinstance(value, Made) and name_of(value.event) in _PLAIN | _SOFTMAX:
        return source_of(value.event)
    if isinstance(value, Derived) and value.op in ("Div", "Mult") and constant(value.of[-1]) is not None:
        return value.of[0]
    if isinstance(value, Attribute) and value.name in ("data", "logits"):
        return value.of
    return None


def _lasts(trace: Trace) -> dict[int, Event]:
    """What happens last inside of networks, by identity, and the first calls of networks that give it."""
    events: dict[int, Event] = {}
    for call in calls_of_networks(trace):
        for result in results_of(call):
            at: Value | None = result
            for _ in range(10):
                if isinstance(at, Made):
                    events.setdefault(id(at.event), call)
                at = _before(at) if at is not None else None
    return events


def _last_in_forward(event: Event, lasts: dict[int, Event]) -> Event | None:
    """The call of a network whose answer a reduction inside it is."""
    call = lasts.get(id(event))
    return call if call is not None and _is_layered(source_of(event)) else None


def _is_layered(value: Value | None) -> bool:
    """Whether a value is what a layer gives that leaves the first dimension to the samples."""
    for _ in range(20):
        if isinstance(value, Made) and name_of(value.event).startswith(_BATCH_FIRST):
            return True
        value = _before(value) if value is not None else None
    return False


def _mixes(value: Value | None) -> bool:
    """Whether a value inside a network has samples in its first dimension: layers all the way to a loader's batch."""
    for _ in range(60):
        if isinstance(value, Made) and name_of(value.event) in _SOFTMAX:
            # The mean of probabilities says how often each is chosen, as of experts.
            return False
        if isinstance(value, Made) and name_of(value.event).startswith(_BATCH_FIRST):
            value = value.event.arg(0)
        elif isinstance(value, Made) and value.event.method in ("flatten", "unsqueeze") and _is_behind_first(value):
            value = source_of(value.event)
        elif value is not None and _before(value) is not None:
            value = _before(value)
        else:
            break
    return isinstance(value, Item) and _comes_from_loader(value)


def _is_behind_first(value: Made) -> bool:
    """Whether it leaves the first dimension alone."""
    given = constant(value.event.arg(0 if is_method(value.event) else 1, "start_dim", "dim", "axis"))
    return isinstance(given, int) and given >= 1


def _is_of_loader(call: Event) -> bool:
    return any(_comes_from_loader(value) for value in call.args)


@walk(False)
def _comes_from_loader(value: Value) -> bool:
    """Whether it is an element of a loader's batch, as it is."""
    while isinstance(value, Item | Attribute | Made | Either):
        if isinstance(value, Either):
            return all(_comes_from_loader(part) for part in options(value))
        if isinstance(value, Made):
            if value.name.startswith(_LOADERS):
                return True
            if name_of(value.event) in _HANDING_ON:
                inner = source_of(value.event)
                if inner is None:
                    return False
                value = inner
                continue
            return False
        value = value.of
    return False


def _is_compared(event: Event, trace: Trace) -> bool:
    """Whether a choice is compared with labels, and the comparison counted or averaged."""
    for later in trace.events[event.index + 1 :]:
        if later.method in _COUNTING and later.role is not Role.LOSS:
            for value in ancestry(later.receiver, *later.args[:1], most=12):
                if isinstance(value, Derived) and value.op == "Eq" and any(_is(side, event) for side in value.of):
                    return True
        elif later.method == "eq" and _is(later.receiver, event):
            return True
    return False


def _is(value: Value | None, event: Event) -> bool:
    """Whether a value is what an event gave, or the places of the largest in it."""
    for part in options(value):
        if isinstance(part, Item):
            part = part.of
        if isinstance(part, Made) and part.event is event:
            return True
    return False


def _place(event: Event) -> Location:
    """Where the dimension is written: of a layer, where it is built."""
    layer = event.receiver
    if event.method == "__call__" and isinstance(layer, Made) and name_of(event) != "ReduceMean":
        return layer.event.place
    return event.place
