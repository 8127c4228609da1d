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
    for one in maskings(trace):
        if true_for(one.mask, trace) == WORDS:
            yield "mask_of_words", one.place, None
            continue
        asked = list(compared(one.mask))
        fills = [(each, padding_value(each.of[0], trace)) for each in asked]
        known = [(each, fill) for each, fill in fills if fill is not None]
        if known and all(constant(each.of[1]) != fill for each, fill in known) and known[0][0].place is not None:
            yield "mask_of_another_value", known[0][0].place, known[0][1]


def masks_of_one_value(trace: Trace) -> Iterator[Fault]:
    """Masks that say the same of the padding as of the words."""
    for loop in training_loops(trace):
        columns = [column for index in range(6) for column in columns_of(loop.loader, index, trace)]
        fills = [(one, repeated_fills(one)) for column in columns for one in ancestry(column, most=8)]
        same = [(one, pair[0]) for one, pair in fills if pair is not None and pair[0] == pair[1]]
        padded = any(one.value is not None for column in columns for one in paddings(column, trace))
        for one, value in same:
            if padded and isinstance(one, Derived) and one.place is not None:
                yield "mask_of_one_value", one.place, value


def parameters_of(function: Function) -> set[str]:
    """Those that it names itself: what ``**kwargs`` takes may go anywhere."""
    given = function.node.args
    return {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)}


def unused_masks(trace: Trace) -> Iterator[Fault]:
    """A network that is given a mask or lengths and does nothing with them."""
    for event in trace.of_role(Role.FORWARD):
        network = event.receiver
        if not isinstance(network, Instance) or any(one.kind == UNCALLED for one in event.scopes):
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
        if not isinstance(network, Instance) or any(one.kind == UNCALLED for one in event.scopes):
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
        if not isinstance(network, Instance) or any(one.kind == UNCALLED for one in event.scopes):
            continue
        if id(network.cls) in seen or not any(True for one in event.args for _ in padded_inputs(one, trace)):
            continue
        seen.add(id(network.cls))
        for method in _methods(network):
            node = method.node
            scores = scores_of(node) if not isinstance(node, ast.Lambda) and trace.returns_of(method) else None
            for at, name in enumerate([one.arg for one in node.args.args][1:] if scores is not None else []):
                if "mask" in name and not _is_read(node, name) and _is_handed(event, network, method, at, name):
                    yield "unused_in_scores", Location.of(method.module.file, scores or node), name


def _methods(network: Instance) -> Iterator[Function]:
    for cls in network.cls.lineage():
        yield from (one for one in cls.attributes.values() if isinstance(one, Function))


def _is_handed(event: Event, network: Instance, method: Function, at: int, name: str) -> bool:
    """Whether anything but None is given for a parameter: by the call of the network, or by its own methods."""
    called = getattr(method.node, "name", "")
    if called in ("forward", "construct"):
        given = passed(event, method).get(name)
        return given is not None and constant(given, "?") is not None
    for other in _methods(network):
        for call in ast.walk(other.node):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == called:
                named = [one.value for one in call.keywords if one.arg == name]
                for one in named or call.args[at : at + 1]:
                    if not (isinstance(one, ast.Constant) and one.value is None):
                        return True
    return False


def _attending(call: Event, function: Function, trace: Trace) -> Location | None:
    """The attention, or packing, of a network's own that could have taken a mask."""
    for event in trace.events[call.index :]:
        inside = any(
            one.kind == CALL and isinstance(one.value, Function) and one.value.node is function.node
            for one in event.scopes
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
    return any(batch_index(one) is not None for each in options(value) for one in ancestry(each, most=10))


def _is_read(node: ast.AST, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load) for one in ast.walk(node))


def padded_inputs(value: Value, trace: Trace) -> Iterator[Padding]:
    """Where the parts of a batch that a value comes from are padded."""
    for one in ancestry(value, most=300):
        at = batch_index(one)
        if at is not None:
            loader = iterated(at[0])
            for column in columns_of(loader, at[1], trace):
                yield from paddings(column, trace)
            yield from pipeline_paddings(loader, column_name(loader, at[1]))
