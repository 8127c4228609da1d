"""A gradient penalty is taken of scaled gradients: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from trueline.checks.engine.check import check, found, na, none, undecided
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.script.analysis.followed import is_training_followed
from trueline.script.analysis.gradients import gives_gradient, scaled_by
from trueline.script.roles import Role, is_scaler
from trueline.script.script import Script
from trueline.script.trace import Event, Trace
from trueline.script.values import Const, Derived, Made, Value, ancestry, constant, options

# A number that large before a loss is a scale.
_FACTOR: Final = 64


@check("mp.04")
def from_script(script: Script) -> Iterator[Finding]:
    """Gradients that are asked for in the middle of a step, of a loss that is scaled."""
    divided: list[str] = []
    plain: list[str] = []
    reported: set[str] = set()
    asked = [*script.trace.named("torch.autograd.grad"), *_within_gradients(script.trace)]
    for event in asked:
        of = event.receiver if event.implied else event.arg(0, "outputs")
        by_hand = _scaled_by_hand(of)
        if scaled_by(of) is None and by_hand is None:
            plain.append(str(event.place))
        elif _is_divided(event, script.trace):
            divided.append(str(event.place))
        elif str(event.place) not in reported:
            reported.add(str(event.place))
            # A scale that is written out stands where it is multiplied with; else where the gradients are asked for.
            place = by_hand or event.place
            yield found("mp_04.script.penalty_of_scaled", place)
    if divided or plain:
        yield none("mp_04.script.unscaled", evidence=[*divided, *plain])
    elif not reported:
        yield (na if is_training_followed(script.trace) else undecided)("mp_04.script.no_penalty")


def _within_gradients(trace: Trace) -> Iterator[Event]:
    """Gradients that are asked for inside a function that is differentiated itself."""
    return (event for event in trace.of_role(Role.BACKWARD) if event.implied and gives_gradient(event))


def _scaled_by_hand(value: Value | None) -> Location | None:
    """Where a loss is multiplied by a large number."""
    products = [part for part in options(value) if isinstance(part, Derived) and part.op == "Mult"]
    return next((part.place for part in products if any(_is_factor(side) for side in part.of)), None)


def _is_factor(value: Value) -> bool:
    number = constant(value)
    return isinstance(number, int | float) and number >= _FACTOR


def _is_divided(event: Event, trace: Trace) -> bool:
    """Whether what came out is divided by the scale anywhere."""
    values: list[Value] = [value for later in trace.events[event.index :] for value in (*later.args, *_receiver(later))]
    for value in ancestry(*values, most=20_000):
        if isinstance(value, Derived) and value.op in ("Div", "Mult"):
            sides = [list(ancestry(part, most=500)) for part in value.of]
            for at, side in enumerate(sides):
                if _is_of(event, side) and not _is_of(event, sides[1 - at]) and any(map(_is_scale, sides[1 - at])):
                    return True
    return False


def _is_of(event: Event, values: Sequence[Value]) -> bool:
    return any(isinstance(value, Made) and value.event is event for value in values)


def _receiver(event: Event) -> tuple[Value, ...]:
    return (event.receiver,) if event.receiver is not None else ()


def _is_scale(value: Value) -> bool:
    if isinstance(value, Made) and value.event.method in ("get_scale", "scale_value"):
        return True
    return is_scaler(value) or (isinstance(value, Const) and isinstance(value.value, float) and value.value > 100)
