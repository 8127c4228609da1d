"""Padding is taken for data: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.apitable.functions import ignored
from trueline.checks.dp_04_padding.filling import on_different_sides, read_from_the_front
from trueline.checks.dp_04_padding.mask_faults import (
    ATTENTION,
    masks_of_one_value,
    masks_wrong,
    only_shapes,
    padded_inputs,
    unmasked_scores,
    unused_masks,
)
from trueline.checks.dp_04_padding.padding import Padding, column_name, paddings, pipeline_paddings
from trueline.checks.dp_04_padding.target_values import never_compared_right
from trueline.checks.engine.check import check, found, none, undecided
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.script.analysis.columns import batch_index, columns_of, plain
from trueline.script.loops import training_loops
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import UNCALLED, Trace, iterated
from trueline.script.values import Derived, Item, Made, Value, constant

_IGNORING: Final = ignored()
_MASKS: Final = ("src_key_padding_mask", "key_padding_mask", "mask", "src_mask", "attn_mask", "is_causal")


@check("dp.04")
def from_script(script: Script) -> Iterator[Finding]:
    """Padded targets against what the loss ignores; padded inputs against masks and lengths."""
    trace = script.trace
    reported: set[str] = set()
    covered: list[str] = []
    for finding in _problems(trace, covered):
        if str(finding.where) not in reported:
            reported.add(str(finding.where))
            yield finding
    if reported:
        return
    if covered:
        yield none("dp_04.script.ignored", evidence=covered)
    else:
        yield undecided("dp_04.script.no_padding")


def _problems(trace: Trace, covered: list[str]) -> Iterator[Finding]:
    for said, place, value in (*_losses(trace, covered), *_attention(trace, covered)):
        yield found(f"dp_04.script.{said}", place, value=value)
    for said, place, name in (*unused_masks(trace), *only_shapes(trace), *unmasked_scores(trace)):
        yield found(f"dp_04.script.{said}", place, name=name)
    for said, place, value in (*masks_wrong(trace), *masks_of_one_value(trace), *never_compared_right(trace)):
        yield found(f"dp_04.script.{said}", place, value=value)
    for place in on_different_sides(trace):
        yield found("dp_04.script.sides", place)
    for place in read_from_the_front(trace):
        yield found("dp_04.script.left_by_lengths", place)


def _losses(trace: Trace, covered: list[str]) -> Iterator[tuple[str, Location, object]]:
    """Losses over targets that are padded."""
    for loop in training_loops(trace):
        for event in loop.of(Role.LOSS):
            kind = event.name.removesuffix(".__call__").rpartition(".")[2]
            if kind not in _IGNORING:
                continue
            padded = _padded(event.arg(1, "target", "labels"), trace)
            if padded is None or padded.value is None:
                continue
            maker = event.receiver.event if isinstance(event.receiver, Made) else event
            if constant(maker.arg(None, "reduction")) == "none" or maker.arg(0 if maker is not event else 2, "weight"):
                continue
            given = maker.arg(None, "ignore_index")
            if given is None and maker is event:
                given = event.arg(5 if event.name.startswith("torch.") else 3, "ignore_index")
            if given is not None and constant(given) is None:
                continue
            ignored = constant(given) if given is not None else _IGNORING[kind]
            if ignored == padded.value:
                covered.append(str(maker.place))
            elif given is not None:
                yield "other_value", padded.place, padded.value
            else:
                yield "not_ignored", maker.place, padded.value


def _padded(target: Value | None, trace: Trace) -> Padding | None:
    """The padding of a target that comes from a batch as it is; None where it is cut or masked on the way."""
    for _ in range(20):
        target = plain(target)
        at = batch_index(target)
        if at is not None:
            loader = iterated(at[0])
            own = [padding for column in columns_of(loader, at[1], trace) for padding in paddings(column, trace)]
            own += pipeline_paddings(loader, column_name(loader, at[1]))
            values = {padding.value for padding in own}
            return own[0] if len(values) == 1 else None
        if (isinstance(target, Item) and isinstance(target.index, Derived) and target.index.op == "Slice") or (
            isinstance(target, Item) and hasattr(target.index, "items") and _is_slices(target.index)
        ):
            target = target.of
        else:
            return None
    return None


def _is_slices(value: Value | None) -> bool:
    return value is not None and all(isinstance(part, Derived) and part.op == "Slice" for part in value.parts())


def _attention(trace: Trace, covered: list[str]) -> Iterator[tuple[str, Location, object]]:
    """Attention over inputs that are padded, without a mask."""
    for event in trace.events:
        name = event.name.removesuffix(".__call__")
        if event.method != "__call__" or name.rpartition(".")[2] not in ATTENTION:
            continue
        if any(scope.kind == UNCALLED for scope in event.scopes) or event.open or not event.args:
            continue
        padded = next((padding for padding in padded_inputs(event.args[0], trace)), None)
        if padded is None:
            continue
        if any(one in event.kwargs for one in _MASKS) or len(event.args) > (3 if "Multihead" in name else 1):
            covered.append(str(event.place))
        else:
            yield "no_mask", event.place, padded.value
