"""Faults of masks and lengths in a script: what is said, where, and of what."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from trueline.apitable.functions import classes_of, functions_of
from trueline.apitable.traits import Trait
from trueline.checks.dp_04_padding.mask_reading import lost_numbers, scores_of
from trueline.checks.dp_04_padding.masks import WORDS, compared, maskings, padding_value, repeated_fills, true_for
from trueline.checks.dp_04_padding.padding import Padding, column_name, paddings, pipeline_paddings
from trueline.model.location import Location
from trueline.script.analysis.columns import batch_index, columns_of, passed
from trueline.script.loops import training_loops
from trueline.script.roles import Role
from trueline.script.trace import CALL, UNCALLED, Event, Trace, iterated
from trueline.script.values import Derived, Function, Instance, Value, ancestry, constant, options

ATTENTION: Final = classes_of(Trait.ATTENTION)
_COVERING: Final = re.compile(r"mask|lengths?$|lens$|seq_len|valid_len")
Fault = tuple[str, Location, object]


def masks_wrong(trace: Trace) -> Iterator[Fault]:
    """Masks that leave out the words, and masks that compare with something that sequences are not padded with."""
    for masking in maskings(trace):
        if true_for(masking.mask, trace) == WORDS:
            yield "mask_of_words", masking.place, None
            continue
        asked = list(compared(masking.mask))
        fills = [(value, padding_value(value.of[0], trace)) for value in asked]
        known = [(value, fill) for value, fill in fills if fill is not None]
        if known and all(constant(value.of[1]) != fill for value, fill in known) and known[0][0].place is not None:
            yield "mask_of_another_value", known[0][0].place, known[0][1]


def masks_of_one_value(trace: Trace) -> Iterator[Fault]:
    """Masks that say the same of the padding as of the words."""
    for loop in training_loops(trace):
        columns = [column for index in range(6) for column in columns_of(loop.loader, index, trace)]
        fills = [(value, repeated_fills(value)) for column in columns for value in ancestry(column, most=8)]
        same = [(value, pair[0]) for value, pair in fills if pair is not None and pair[0] == pair[1]]
        padded = any(padding.value is not None for column in columns for padding in paddings(column, trace))
        for part, value in same:
            if padded and isinstance(part, Derived) and part.place is not None:
                yield "mask_of_one_value", part.place, value


def parameters_of(function: Function) -> set[str]:
    """Those that it names itself: what ``**kwargs`` takes may go anywhere."""
    given = function.node.args
    return {node.arg for node in (*given.posonlyargs, *given.args, *given.kwonlyargs)}


def unused_masks(trace: Trace) -> Iterator[Fault]:
    """A network that is given a mask or lengths and does nothing with them."""
    for event in trace.of_role(Role.FORWARD):
        network = event.receiver
        if not isinstance(network, Instance) or any(scope.kind == UNCALLED for scope in event.scopes):
            continue
        function = _forward(network)
        if function is None:
            continue
        for name, value in passed(event, function).items():
            named = name in parameters_of(function)
            if named and _COVERING.search(name) and _is_of_batch(value) and not _is_read(function.node, name):
                yield "unused_mask", _attending(event, function, trace) or _pooling(function), name


def only_shapes(trace: Trace) -> Iterator[Fault]:
    """Lengths, or a mask, of which a network takes only the shape: ``full_like(lengths, n)``, ``0 * lengths``."""
    for event in trace.of_role(Role.FORWARD):
        network = event.receiver
        if not isinstance(network, Instance) or any(scope.kind == UNCALLED for scope in event.scopes):
            continue
        function = _forward(network)
        if function is None:
            continue
        for name, value in passed(event, function).items():
            if _COVERING.search(name) and _is_of_batch(value):
                gone = lost_numbers(function.node, name)
                if gone is not None:
                    yield "only_its_shape", Location.of(function.module.file, gone), name


def unmasked_scores(trace: Trace) -> Iterator[Fault]:
    """Methods of a network that are handed a mask, take a softmax of scores, and never look at the mask."""
    seen: set[int] = set()
    for event in trace.of_role(Role.FORWARD):
        network = event.receiver
        if not isinstance(network, Instance) or any(scope.kind == UNCALLED for scope in event.scopes):
            continue
        if id(network.cls) in seen or not any(True for value in event.args for _ in padded_inputs(value, trace)):
            continue
        seen.add(id(network.cls))
        for method in _methods(network):
            node = method.node
            scores = scores_of(node) if not isinstance(node, ast.Lambda) and trace.returns_of(method) else None
            for at, name in enumerate([child.arg for child in node.args.args][1:] if scores is not None else []):
                if "mask" in name and not _is_read(node, name) and _is_handed(event, network, method, at, name):
                    yield "unused_in_scores", Location.of(method.module.file, scores or node), name


def _methods(network: Instance) -> Iterator[Function]:
    for cls in network.cls.lineage():
        yield from (value for value in cls.attributes.values() if isinstance(value, Function))


def _is_handed(event: Event, network: Instance, method: Function, at: int, name: str) -> bool:
    """Whether anything but None is given for a parameter: by the call of the network, or by its own methods."""
    called = getattr(method.node, "name", "")
    if called in ("forward", "construct"):
        given = passed(event, method).get(name)
        return given is not None and constant(given, "?") is not None
    for function in _methods(network):
        for call in ast.walk(function.node):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == called:
                named = [node.value for node in call.keywords if node.arg == name]
                for node in named or call.args[at : at + 1]:
                    if not (isinstance(node, ast.Constant) and node.value is None):
                        return True
    return False


def _attending(call: Event, function: Function, trace: Trace) -> Location | None:
    """The attention, or packing, of a network's own that could have taken a mask."""
    for event in trace.events[call.index :]:
        inside = any(
            scope.kind == CALL and isinstance(scope.value, Function) and scope.value.node is function.node
            for scope in event.scopes
        )
        if inside and event.name.removesuffix(".__call__").rpartition(".")[2] in ATTENTION:
            return event.place
    return None


def _pooling(function: Function) -> Location:
    """The line that takes all of a sequence, or its last state, for the whole; the function where there is none."""
    for node in ast.walk(function.node):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in functions_of(Trait.MEAN, Trait.SUM, Trait.LARGEST)
        ):
            return Location.of(function.module.file, node)
        if isinstance(node, ast.Subscript) and ast.unparse(node.slice).replace(" ", "") in ("(:,-1)", ":,-1", "-1"):
            return Location.of(function.module.file, node)
    return Location.of(function.module.file, function.node)


def _forward(network: Instance) -> Function | None:
    for name in ("forward", "construct"):
        for cls in network.cls.lineage():
            found_ = cls.attributes.get(name)
            if isinstance(found_, Function):
                return found_
    return None


def _is_of_batch(value: Value) -> bool:
    return any(
        batch_index(other_value) is not None for part in options(value) for other_value in ancestry(part, most=10)
    )


def _is_read(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(child, ast.Name) and child.id == name and isinstance(child.ctx, ast.Load) for child in ast.walk(node)
    )


def padded_inputs(value: Value, trace: Trace) -> Iterator[Padding]:
    """Where the parts of a batch that a value comes from are padded."""
    for part in ancestry(value, most=300):
        at = batch_index(part)
        if at is not None:
            loader = iterated(at[0])
            for column in columns_of(loader, at[1], trace):
                yield from paddings(column, trace)
            yield from pipeline_paddings(loader, column_name(loader, at[1]))
