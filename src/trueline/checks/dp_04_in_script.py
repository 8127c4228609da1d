"""Padding is taken for data: what a script says of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from trueline.checks.check import check, found, na, none
from trueline.checks.of_script.columns import batch_index, columns_of, passed, plain
from trueline.checks.of_script.padding import Padding, column_name, paddings, pipeline_paddings
from trueline.model.finding import Finding
from trueline.script.loops import training_loops
from trueline.script.place import Place
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import UNCALLED, Trace, iterated
from trueline.script.values import Derived, Function, Instance, Item, Made, Value, ancestry, constant, options

_IGNORING: Final = {"CrossEntropyLoss": -100, "cross_entropy": -100, "NLLLoss": -100, "nll_loss": -100,
                    "SoftmaxCrossEntropyWithLogits": None}  # fmt: skip
_ATTENTION: Final = ("TransformerEncoder", "TransformerEncoderLayer", "MultiheadAttention", "Transformer")
_MASKS: Final = ("src_key_padding_mask", "key_padding_mask", "mask", "src_mask", "attn_mask", "is_causal")
_COVERING: Final = re.compile(r"mask|lengths?$|lens$|seq_len|valid_len")


@check("dp.04")
def from_script(script: Script) -> Iterator[Finding]:
    """Padded targets against what the loss ignores; padded inputs against masks and lengths."""
    trace = script.trace
    told: set[str] = set()
    covered: list[str] = []
    for said, place, value in (*_losses(trace, covered), *_attention(trace, covered), *_unused(trace)):
        if str(place) not in told:
            told.add(str(place))
            yield found(f"dp_04_in_script.{said}", place.where(), value=value)
    if told:
        return
    if covered:
        yield none("dp_04_in_script.ignored", evidence=covered)
    else:
        yield na("dp_04_in_script.no_padding")


def _losses(trace: Trace, covered: list[str]) -> Iterator[tuple[str, Place, object]]:
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
            own = [one for column in columns_of(loader, at[1], trace) for one in paddings(column, trace)]
            own += pipeline_paddings(loader, column_name(loader, at[1]))
            values = {one.value for one in own}
            return own[0] if len(values) == 1 else None
        if (isinstance(target, Item) and isinstance(target.index, Derived) and target.index.op == "Slice") or (
            isinstance(target, Item) and hasattr(target.index, "items") and _is_slices(target.index)
        ):
            target = target.of
        else:
            return None
    return None


def _is_slices(value: Value | None) -> bool:
    return value is not None and all(isinstance(one, Derived) and one.op == "Slice" for one in value.parts())


def _attention(trace: Trace, covered: list[str]) -> Iterator[tuple[str, Place, object]]:
    """Attention over inputs that are padded, without a mask."""
    for event in trace.events:
        name = event.name.removesuffix(".__call__")
        if event.method != "__call__" or name.rpartition(".")[2] not in _ATTENTION:
            continue
        if any(one.kind == UNCALLED for one in event.scopes) or event.open or not event.args:
            continue
        padded = next((one for one in _inputs(event.args[0], trace)), None)
        if padded is None:
            continue
        if any(one in event.kwargs for one in _MASKS) or len(event.args) > (3 if "Multihead" in name else 1):
            covered.append(str(event.place))
        else:
            yield "no_mask", event.place, padded.value


def _inputs(value: Value, trace: Trace) -> Iterator[Padding]:
    for one in ancestry(value, most=300):
        at = batch_index(one)
        if at is not None:
            loader = iterated(at[0])
            for column in columns_of(loader, at[1], trace):
                yield from paddings(column, trace)
            yield from pipeline_paddings(loader, column_name(loader, at[1]))


def _unused(trace: Trace) -> Iterator[tuple[str, Place, object]]:
    """A network that is given a mask or lengths and does nothing with them."""
    for event in trace.of_role(Role.FORWARD):
        network = event.receiver
        if not isinstance(network, Instance) or any(one.kind == UNCALLED for one in event.scopes):
            continue
        function = _forward(network)
        if function is None:
            continue
        for name, value in passed(event, function).items():
            if _COVERING.search(name) and _is_of_batch(value) and not _is_read(function.node, name):
                yield "unused_mask", _pooling(function), name


def _forward(network: Instance) -> Function | None:
    for name in ("forward", "construct"):
        for cls in network.cls.lineage():
            found_ = cls.attributes.get(name)
            if isinstance(found_, Function):
                return found_
    return None


def _is_of_batch(value: Value) -> bool:
    return any(batch_index(one) is not None for each in options(value) for one in ancestry(each, most=10))


def _is_read(node: ast.AST, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load) for one in ast.walk(node))


def _pooling(function: Function) -> Place:
    """The line that takes all of a sequence, or its last state, for the whole; the function where there is none."""
    for node in ast.walk(function.node):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("mean", "max", "sum")
        ):
            return Place.of(function.module.file, node)
        if isinstance(node, ast.Subscript) and ast.unparse(node.slice).replace(" ", "") in ("(:,-1)", ":,-1", "-1"):
            return Place.of(function.module.file, node)
    return Place.of(function.module.file, function.node)
