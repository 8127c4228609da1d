"""Gradients are clipped while they are still scaled: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trueline.checks.engine.check import check, found, na, none, undecided
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.script.analysis.followed import is_training_followed
from trueline.script.analysis.gradients import is_divided, scaled_by
from trueline.script.loops import TrainingLoop, training_loops
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import Event
from trueline.script.values import Made, Value, ancestry, constant, options


@check("mp.03")
def from_script(script: Script) -> Iterator[Finding]:
    """The order of unscale and clip where a loss is scaled."""
    ordered: list[str] = []
    reported: set[str] = set()
    looked = False
    for loop in training_loops(script.trace):
        for clip in _clips(loop):
            backward = _backward_of(clip, loop.of(Role.BACKWARD))
            if backward is None or not _is_scaled(backward, loop):
                continue
            looked = True
            if _is_unscaled(clip, backward, loop):
                ordered.append(str(clip.place))
            elif str(clip.place) not in reported:
                reported.add(str(clip.place))
                yield found("mp_03.script.clip_of_scaled", _place(clip, backward))
    if ordered:
        yield none("mp_03.script.unscaled_first", evidence=ordered)
    elif not looked:
        yield (na if is_training_followed(script.trace) else undecided)("mp_03.script.nothing_scaled")


def _clips(loop: TrainingLoop) -> Iterator[Event]:
    """Clips of gradients; those that limit any values count where they are given gradients."""
    for event in loop.events:
        if event.role is Role.CLIP or (
            event.method in ("clip_by_value", "clamp") and any(_is_gradient(value) for value in ancestry(*event.args))
        ):
            yield event


def _is_gradient(value: Value) -> bool:
    return isinstance(value, Made) and value.event.role is Role.BACKWARD


def _backward_of(clip: Event, backwards: Sequence[Event]) -> Event | None:
    earlier = [event for event in backwards if event.index < clip.index]
    return earlier[-1] if earlier else None


def _place(clip: Event, backward: Event) -> Location:
    """Where gradients are values, the clip itself; else where the order is decided: beside backward."""
    return clip.place if backward.implied else clip.seen_beside(backward)


def _is_scaled(backward: Event, loop: TrainingLoop) -> bool:
    scale = scaled_by(backward.receiver)
    if scale is not None:
        return _is_on(scale)
    return bool(loop.of(Role.SCALER_STEP)) and not backward.implied


def _is_on(scale: Event) -> bool:
    """A scaler that is switched off for sure scales nothing."""
    for value in options(scale.receiver):
        if isinstance(value, Made) and constant(value.event.arg(None, "enabled"), True) is False:
            return False
    return True


def _is_unscaled(clip: Event, backward: Event, loop: TrainingLoop) -> bool:
    if backward.implied:
        # Gradients are values here: what is clipped must have come through unscale, or a division.
        for value in (*clip.args, *clip.kwargs.values()):
            for part in ancestry(value):
                if isinstance(part, Made) and part.event.role is Role.UNSCALE:
                    return True
        return any(is_divided(value, until=(Role.BACKWARD,)) for value in clip.args[:1])
    between = loop.of(Role.UNSCALE)
    return any(backward.index < event.index < clip.index for event in between)
