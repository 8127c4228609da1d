"""Half precision without a loss scale: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.apitable.functions import qualified_of
from trueline.apitable.traits import Trait
from trueline.checks.engine.check import check, found, na, none, undecided
from trueline.checks.mp_02_loss_scale.loss_scales import LOWEST, SCALING, absurd, is_used, too_low
from trueline.model.finding import Certainty, Finding
from trueline.model.location import Location
from trueline.script.analysis.gradients import is_divided, scaled_by, touches_gradients
from trueline.script.analysis.operators import PRODUCTS, operands, operator_name
from trueline.script.loops import TrainingLoop, training_loops
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import Event, Trace
from trueline.script.values import Made, Symbol, Value, ancestry, constant, options

_HALF: Final = qualified_of(Trait.TO_FLOAT16)


@check("mp.02")
def from_script(script: Script) -> Iterator[Finding]:
    """Half precision in training, and whether anything scales the loss."""
    trace = script.trace
    if not training_loops(trace):
        yield undecided("mp_02.script.no_training_loop")
        return
    odd = absurd(trace)
    if odd is not None:
        yield found("mp_02.script.absurd", odd[1], measured=odd[0], limit=[1, 2**32])
        return
    fixed = _fixed_and_unequal(trace)
    if fixed is not None:
        yield found("mp_02.script.fixed_unequal", fixed)
        return
    undivided = _never_divided(trace)
    if undivided is not None:
        yield found("mp_02.script.never_divided", undivided.place)
        return
    places = list(_half(trace))
    if not places:
        yield na("mp_02.script.no_half")
        return
    low = too_low(trace)
    if low is not None:
        yield found(
            "mp_02.script.low",
            low[1],
            certainty=Certainty.LIKELY,
            measured=low[0],
            limit=LOWEST,
            scale=low[0],
        )
        return
    scaled, unused = _scaled(trace)
    if scaled is None:
        yield found("mp_02.script.no_scale", _place(trace, places[0], unused=unused))
    elif scaled is not _BY_HAND:
        yield none("mp_02.script.scaled", evidence=[str(scaled)])
    else:
        yield undecided("mp_02.script.by_hand")


_BY_HAND: Final = Location("", 0)


def _half(trace: Trace) -> Iterator[Location]:
    """Where half precision is switched on around what is trained."""
    for loop in training_loops(trace):
        for event in loop.of(Role.FORWARD, Role.LOSS):
            for context in event.contexts():
                if isinstance(context, Made) and context.name.endswith("autocast") and _is_half_autocast(context.event):
                    yield context.event.place
    yield from (event.place for event in trace.events if _casts(event))


def _casts(event: Event) -> bool:
    if event.method == "half":
        return event.name.endswith("Module.half")
    if event.method in ("to_float", "auto_mixed_precision"):
        return _asks_for_half(event)
    return event.name == "mindspore.train.Model" and _is_half_model(event)


def _is_half_model(event: Event) -> bool:
    """O2 brings a scale of its own, unless it is told to do without."""
    level = constant(event.arg(None, "amp_level"))
    if level == "O2":
        return constant(event.arg(None, "loss_scale_manager"), 0) is None
    return level in ("O1", "O3", "auto")


def _is_half_autocast(event: Event) -> bool:
    if constant(event.arg(None, "enabled"), True) is False:
        return False
    dtype = event.arg(1, "dtype")
    if dtype is not None:
        return isinstance(dtype, Symbol) and dtype.name in _HALF
    device = event.arg(0, "device_type")
    return constant(device) == "cuda" or (device is None and "cuda" in event.name)


def _asks_for_half(event: Event) -> bool:
    if any(isinstance(value, Symbol) and value.name in _HALF for value in event.args):
        return not event.loops()
    return event.method == "auto_mixed_precision" and constant(event.arg(1, "amp_level")) in ("O1", "O2", "O3", "auto")


def _never_divided(trace: Trace) -> Event | None:
    """A scaler whose scale no gradient is divided by before the update."""
    for loop in training_loops(trace):
        for backward in loop.of(Role.BACKWARD):
            scale = scaled_by(backward.receiver)
            scaler = (
                next((value for value in options(scale.receiver) if isinstance(value, Made)), None) if scale else None
            )
            steps = [event for event in loop.of(Role.STEP) if event.index > backward.index]
            if scaler is None or not steps or loop.of(Role.SCALER_STEP):
                continue
            if not any(_divides(step, scaler, loop, by_value=backward.implied) for step in steps):
                return scaler.event
    return None


def _divides(step: Event, scaler: Made, loop: TrainingLoop, *, by_value: bool) -> bool:
    if constant(scaler.event.arg(None, "enabled"), True) is False:
        return True
    own = constant(scaler.event.arg(0, "scale_value", "init_scale"))
    for value in options(step.receiver):
        if isinstance(value, Made) and own is not None and constant(value.event.arg(None, "loss_scale")) == own:
            return True
    unscaled = loop.of(Role.UNSCALE)
    if not by_value:
        return bool(unscaled) or touches_gradients(iter(loop.events))
    made = [value.event for value in ancestry(*step.args) if isinstance(value, Made)]
    return any(event in unscaled for event in made) or any(
        is_divided(value, until=(Role.BACKWARD,)) for value in step.args
    )


def _scaled(trace: Trace) -> tuple[Location | None, bool]:
    """What scales the loss, a factor by hand included; and whether something that could is there, unused."""
    unused = False
    for event in trace.events:
        if event.name.rpartition(".")[2] not in SCALING:
            continue
        if constant(event.arg(None, "enabled"), True) is not False and is_used(event, trace):
            return event.place, False
        unused = True
    if any(map(_is_given_sense, trace.events)):
        return _BY_HAND, False
    for event in trace.of_role(Role.BACKWARD):
        if _is_multiplied(event.receiver):
            return _BY_HAND, False
    for event in trace.of_role(Role.BUILD_OPTIMIZER):
        scale = constant(event.arg(None, "loss_scale"), 1.0)
        if isinstance(scale, int | float) and scale > 1:
            return _BY_HAND, False
    return None, unused


def _is_given_sense(event: Event) -> bool:
    """MindSpore takes the scale as what backward begins with, too."""
    if event.method == "GradOperation":
        return constant(event.arg(None, "sens_param"), False) is not False
    return event.name.endswith(("TrainOneStepCell", "TrainOneStepCell.__init__")) and event.arg(2, "sens") is not None


def _is_multiplied(loss: Value | None) -> bool:
    """Whether a loss is multiplied, before backward, by what may be a scale: a weight or a share is none."""
    waiting = list(options(loss))
    seen: set[int] = set()
    while waiting:
        value = waiting.pop()
        if id(value) in seen or (isinstance(value, Made) and value.event.role in (Role.LOSS, Role.FORWARD)):
            continue
        seen.add(id(value))
        if operator_name(value) in PRODUCTS and any(_may_be_scale(side) for side in operands(value)[:2]):
            return True
        waiting.extend(side for side in value.parts() if _has_loss(side))
    return False


def _may_be_scale(value: Value) -> bool:
    """A number above those of weights, or one of which nothing is known but that no loss is in it."""
    known = constant(value)
    if isinstance(known, int | float):
        return known >= LOWEST
    return not _has_loss(value)


def _has_loss(value: Value) -> bool:
    return any(isinstance(part, Made) and part.event.role in (Role.LOSS, Role.FORWARD) for part in ancestry(value))


def _place(trace: Trace, half: Location, *, unused: bool) -> Location:
    """Where the scale is missing: at backward or the loss where a scaler is there unused, else where half begins."""
    scaler_off = [event.place for event in trace.events if _is_off(event)]
    if scaler_off:
        return scaler_off[0]
    if not unused:
        return half
    for model in trace.named("mindspore.train.Model"):
        if model.arg(None, "amp_level") is not None:
            return model.place
    for event in trace.of_role(Role.BACKWARD):
        if not event.implied:
            return event.place
        losses = [other_event for other_event in trace.of_role(Role.LOSS) if other_event.index < event.index]
        return losses[-1].place if losses else half
    return half


def _is_off(event: Event) -> bool:
    return event.name.rpartition(".")[2] in SCALING and constant(event.arg(None, "enabled"), True) is False


def _fixed_and_unequal(trace: Trace) -> Location | None:
    """A fixed scale whose updates are not dropped needs an optimizer that divides by the same scale."""
    for event in trace.events:
        if event.name.endswith(".FixedLossScaleManager") and _keeps_overflow(event, trace):
            scale = constant(event.arg(0, "loss_scale"), 128.0)
            for built in trace.of_role(Role.BUILD_OPTIMIZER):
                own = constant(built.arg(None, "loss_scale"), 1.0)
                if isinstance(own, int | float) and isinstance(scale, int | float) and own != scale:
                    # Where the optimizer was told a scale, it is the manager that was not.
                    reported = built.arg(None, "loss_scale") is not None and event.arg(0, "loss_scale") is None
                    return event.place if reported else built.place
    return None


def _keeps_overflow(event: Event, trace: Trace) -> bool:
    return constant(event.arg(1, "drop_overflow_update")) is False and is_used(event, trace)
