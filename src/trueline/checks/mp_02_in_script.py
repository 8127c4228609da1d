"""Half precision without a loss scale: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.checks.check import check, found, na, none
from trueline.model.finding import Finding
from trueline.script.loops import training_loops
from trueline.script.place import Place
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import Event, Trace
from trueline.script.values import Const, Derived, Made, Symbol, Value, ancestry, constant

_HALF: Final = (
    "torch.float16",
    "torch.half",
    "mindspore.float16",
    "mindspore.dtype.float16",
    "mindspore.common.dtype.float16",
)
_SCALING: Final = (
    "GradScaler",
    "DynamicLossScaler",
    "StaticLossScaler",
    "DynamicLossScaleManager",
    "FixedLossScaleManager",
    "DynamicLossScaleUpdateCell",
    "FixedLossScaleUpdateCell",
    "TrainOneStepWithLossScaleCell",
)


@check("mp.02")
def from_script(script: Script) -> Iterator[Finding]:
    """Half precision in training, and whether anything scales the loss."""
    trace = script.trace
    if not training_loops(trace):
        yield na("mp_02_in_script.no_training_loop")
        return
    fixed = _fixed_and_unequal(trace)
    if fixed is not None:
        yield found("mp_02_in_script.fixed_unequal", fixed.where())
        return
    places = list(_half(trace))
    if not places:
        yield na("mp_02_in_script.no_half")
        return
    scaled = _scaled(trace)
    if scaled is None:
        yield found("mp_02_in_script.no_scale", places[0].where())
    elif scaled is not _BY_HAND:
        yield none("mp_02_in_script.scaled", evidence=[str(scaled)])
    else:
        yield na("mp_02_in_script.by_hand")


_BY_HAND: Final = Place("", 0)


def _half(trace: Trace) -> Iterator[Place]:
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
    return event.name == "mindspore.train.Model" and constant(event.arg(None, "amp_level")) == "O3"


def _is_half_autocast(event: Event) -> bool:
    if constant(event.arg(None, "enabled"), True) is False:
        return False
    dtype = event.arg(1, "dtype")
    if dtype is not None:
        return isinstance(dtype, Symbol) and dtype.name in _HALF
    device = event.arg(0, "device_type")
    return constant(device) == "cuda" or (device is None and "cuda" in event.name)


def _asks_for_half(event: Event) -> bool:
    if any(isinstance(one, Symbol) and one.name in _HALF for one in event.args):
        return not event.loops()
    return event.method == "auto_mixed_precision" and constant(event.arg(1, "amp_level")) in ("O1", "O2", "O3", "auto")


def _scaled(trace: Trace) -> Place | None:
    """What scales the loss; a number that the loss is multiplied with counts as done by hand."""
    for event in trace.events:
        if event.name.rpartition(".")[2] in _SCALING:
            if constant(event.arg(None, "enabled"), True) is False:
                continue
            return event.place
    for event in trace.of_role(Role.BACKWARD):
        for value in ancestry(event.receiver, most=60):
            if isinstance(value, Derived) and value.op == "Mult" and any(_is_large(one) for one in value.of):
                return _BY_HAND
    for event in trace.of_role(Role.BUILD_OPTIMIZER):
        scale = constant(event.arg(None, "loss_scale"), 1.0)
        if isinstance(scale, int | float) and scale > 1:
            return _BY_HAND
    return None


def _is_large(value: Value) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, int | float) and value.value >= 2
    return not isinstance(value, Made) or value.event.role not in (Role.LOSS, Role.FORWARD)


def _fixed_and_unequal(trace: Trace) -> Place | None:
    """A fixed scale whose updates are not dropped needs an optimizer that divides by the same scale."""
    for event in trace.events:
        if event.name.endswith(".FixedLossScaleManager") and constant(event.arg(1, "drop_overflow_update")) is False:
            scale = constant(event.arg(0, "loss_scale"), 128.0)
            for built in trace.of_role(Role.BUILD_OPTIMIZER):
                own = constant(built.arg(None, "loss_scale"), 1.0)
                if isinstance(own, int | float) and isinstance(scale, int | float) and own != scale:
                    return built.place
    return None
