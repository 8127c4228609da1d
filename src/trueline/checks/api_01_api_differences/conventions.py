"""Settings that have a sense only by the other framework's convention: what a script says of it without a benchmark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.apitable.functions import classes_of, functions_of, unreduced
from trueline.apitable.traits import Trait
from trueline.checks.api_01_api_differences.batches import first_is_batch
from trueline.checks.engine.check import check, found, suspect, undecided
from trueline.model.finding import Certainty, Finding
from trueline.model.location import Location
from trueline.script.analysis.forwards import is_uncalled, values_trained
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import Event, Trace
from trueline.script.values import Derived, Made, Value, ancestry, constant, options

_NORMS: Final = classes_of(Trait.BATCH_NORM)
_DROPOUTS: Final = classes_of(Trait.DROPOUT)
_DIVERGENCES: Final = ("torch.nn.functional.kl_div", "torch.nn.KLDivLoss")
_RECURRENT: Final = tuple(f"torch.nn.{name}" for name in classes_of(Trait.RECURRENT))
# MindSpore's losses that give a loss for each sample where they are told nothing.
_NOT_REDUCED: Final = unreduced()
_THROUGH: Final = functions_of(Trait.SAME, Trait.VIEW, Trait.SCALES_LOSS, Trait.MULTIPLIES, Trait.DIVIDES, Trait.ADDS)


@check("api.01", decides=False)
def by_itself(script: Script, *, min_replaced: float = 0.9, min_dropped: float = 0.9) -> Iterator[Finding]:
    """Numbers that are at home in the other framework, and defaults that are taken without a word."""
    trace = script.trace
    reported: set[Location] = set()
    for place, finding in (
        *_momenta(trace, min_replaced),
        *_dropped(trace, min_dropped),
        *_divergences(trace),
        *_batch_as_time(trace),
        *_not_reduced(trace),
    ):
        if place not in reported:
            reported.add(place)
            yield finding
    if not reported:
        yield undecided("api_01.script.no_sign")


_Told = Iterator[tuple[Location, Finding]]


def _momenta(trace: Trace, min_replaced: float) -> _Told:
    """torch's momentum is the share that is replaced, MindSpore's the one that is kept."""
    for event in trace.events:
        room, _, kind = event.name.rpartition(".")
        if kind not in _NORMS or room not in ("torch.nn", "mindspore.nn") or is_uncalled(event):
            continue
        given = constant(event.arg(2, "momentum"))
        if isinstance(given, bool) or not isinstance(given, int | float):
            continue
        replaced = given if room == "torch.nn" else round(1 - given, 12)
        # A share of one is how statistics are taken anew, from one batch.
        if min_replaced <= replaced < 1:
            place, theirs = event.place, round(1 - given, 12)
            where = place
            share = f"{replaced:.0%}"
            yield (
                place,
                found(
                    "api_01.script.momentum",
                    where,
                    certainty=Certainty.LIKELY,
                    measured=replaced,
                    limit=min_replaced,
                    name=kind,
                    given=f"{given:g}",
                    other=f"{theirs:g}",
                    share=share,
                ),
            )


def _dropped(trace: Trace, min_dropped: float) -> _Told:
    """What drops nearly all was given the share that is to be kept."""
    for event in trace.events:
        room, _, kind = event.name.rpartition(".")
        if kind not in _DROPOUTS or is_uncalled(event):
            continue
        if room == "mindspore.nn" and "p" not in event.kwargs and len(event.args) < 2:
            kept = constant(event.arg(0, "keep_prob"))
            share = round(1 - kept, 12) if isinstance(kept, int | float) else None
        elif room in ("torch.nn", "mindspore.mint.nn", "mindspore.nn"):
            share = constant(event.arg(1 if room == "mindspore.nn" else 0, "p"))
        else:
            continue
        if isinstance(share, bool) or not isinstance(share, int | float) or not share < 1:
            continue
        where, shown = event.place, f"{share:.0%}"
        if share >= min_dropped:
            yield (
                event.place,
                found(
                    "api_01.script.dropped",
                    where,
                    certainty=Certainty.LIKELY,
                    measured=share,
                    limit=min_dropped,
                    name=kind,
                    share=shown,
                ),
            )
        elif share >= 0.75:
            yield event.place, suspect("api_01.script.dropped", where, measured=share, name=kind, share=shown)


def _divergences(trace: Trace) -> _Told:
    """torch's divergence is divided by classes and samples unless it is told otherwise."""
    trained = values_trained(trace)
    for event in trace.of_role(Role.LOSS):
        loss = event.receiver.event if isinstance(event.receiver, Made) else event
        if loss.name not in _DIVERGENCES or loss.open or event.open or is_uncalled(event):
            continue
        reported = loss.arg(4 if loss is event else 2, "reduction") is not None or "size_average" in loss.kwargs
        if reported or id(event.result) not in trained or _is_made_up_for(event, trace):
            continue
        where = loss.place
        name = loss.name.rpartition(".")[2]
        yield loss.place, found("api_01.script.divergence", where, certainty=Certainty.LIKELY, name=name)


def _is_made_up_for(event: Event, trace: Trace) -> bool:
    """Whether the mean over classes is multiplied by how many there are."""
    for backward in trace.of_role(Role.BACKWARD):
        for value in ancestry(backward.receiver, most=400):
            if isinstance(value, Derived) and value.op == "Mult" and any(side is event.result for side in value.of):
                for side in value.of:
                    if any(_is_size(part) for part in ancestry(side, most=30) if side is not event.result):
                        return True
    return False


def _is_size(value: Value) -> bool:
    return (isinstance(value, Made) and value.event.method in ("size", "len")) or getattr(value, "name", "") == "shape"


def _batch_as_time(trace: Trace) -> _Told:
    """A recurrent layer that is given batches as loaders make them reads the samples as steps in time."""
    for event in trace.of_role(Role.FORWARD):
        layer = event.receiver
        if not isinstance(layer, Made) or layer.name not in _RECURRENT or layer.event.open or is_uncalled(event):
            continue
        if layer.event.arg(4, "batch_first") is not None or not event.args or not first_is_batch(event.args[0]):
            continue
        place = layer.event.place
        name = layer.name.rpartition(".")[2]
        yield place, found("api_01.script.batch_as_time", place, name=name, line=event.place.line)


def _not_reduced(trace: Trace) -> _Told:
    """MindSpore adds up what is differentiated where it is not one number: a sum where torch has a mean."""
    for backward in trace.of_role(Role.BACKWARD):
        if not backward.name.startswith("mindspore.") or is_uncalled(backward):
            continue
        for event in _losses_as_they_are(backward.receiver):
            loss = event.receiver.event if isinstance(event.receiver, Made) else event
            at = _NOT_REDUCED.get(loss.name)
            if at is None or loss.open or loss.arg(at, "reduction") is not None:
                continue
            where = loss.place
            name = loss.name.rpartition(".")[2]
            yield loss.place, found("api_01.script.not_reduced", where, certainty=Certainty.LIKELY, name=name)


def _losses_as_they_are(value: Value | None) -> Iterator[Event]:
    """The losses that something is made of by arithmetic alone."""
    waiting = list(options(value))
    seen: set[int] = set()
    while waiting and len(seen) < 400:
        other_value = waiting.pop()
        if id(other_value) in seen:
            continue
        seen.add(id(other_value))
        if isinstance(other_value, Derived):
            waiting.extend(option for side in other_value.of for option in options(side))
        elif isinstance(other_value, Made):
            if other_value.event.role is Role.LOSS:
                yield other_value.event
            elif other_value.event.method in _THROUGH:
                waiting.extend(option for part in other_value.parts() for option in options(part))
