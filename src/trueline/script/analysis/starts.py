"""What weights start from in a script: where something is put into them before training, and of which kind it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from trueline.apitable.functions import classes_of, functions_of, lower_of
from trueline.apitable.traits import Trait
from trueline.script.analysis.layers import is_leaf, registered_in
from trueline.script.roles import is_network
from trueline.script.trace import BRANCH, Event, Trace, item_of
from trueline.script.values import (
    Attribute,
    Const,
    Derived,
    Item,
    Made,
    Seq,
    Symbol,
    Value,
    ancestry,
    constant,
    options,
)
from trueline.script.walking import walk

_WEIGHTS: Final = ("weight", "embedding_table", "embedding_weight", "in_proj_weight")
_HIDDEN: Final = ("weight_ih", "weight_hh")
_ALL_OF_IT: Final = functions_of(Trait.LISTS_PARAMETERS)
_ALL_LAYERS: Final = functions_of(Trait.LISTS_LAYERS)
_SAME_VALUE: Final = functions_of(Trait.WRAPS) | classes_of(Trait.PARAMETER) | {"initializer"}
_SHAPING: Final = functions_of(Trait.SAME, Trait.VIEW, Trait.OWN_VALUE)
_STRETCHING: Final = functions_of(Trait.EXPANDS, Trait.REPEATS)
_ZEROS: Final = lower_of(Trait.FILLS_ZERO)
_ONES: Final = lower_of(Trait.FILLS_ONE)
_DRAWN: Final = functions_of(Trait.DRAWS_NORMAL, Trait.DRAWS_UNIFORM)


class Filling(StrEnum):
    """What is put into a weight."""

    ZERO = "zero"
    CONSTANT = "constant"
    EQUAL_ROWS = "equal_rows"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Start:
    """A layer whose weight gets its first values, where, and of which kind."""

    layer: Value
    event: Event
    filling: Filling


def starts(trace: Trace) -> Iterator[Start]:
    """All of them, in order."""
    for event in trace.events:
        filling = _built_with(event)
        if filling is not None and event.result is not None:
            yield Start(event.result, event, filling)
            continue
        put = _put(event)
        if put is not None:
            target, filling = put
            for layer in _layers(target, event):
                yield Start(layer, event, filling)


def _built_with(event: Event) -> Filling | None:
    """``nn.Dense(…, weight_init="zeros")``."""
    if not isinstance(event.result, Made) or event.result.event is not event:
        return None
    # Few calls are given one: whether it is a network is asked of these only.
    given = event.arg(None, "weight_init", "embedding_table")
    return filling_of(given) if given is not None and is_network(event.result) else None


def _put(event: Event) -> tuple[Value | None, Filling] | None:
    """What something is put into, and its kind."""
    if event.name.startswith("torch.nn.init."):
        return event.arg(0, "tensor"), _of_function(event)
    if event.method == "__setattr__":
        name, value = constant(event.arg(0)), event.arg(1)
        if name == "data":
            return event.receiver, filling_of(value)
        if name in _WEIGHTS and event.receiver is not None and is_leaf(event.receiver):
            return Attribute(event.receiver, str(name)), filling_of(value)
        return None
    if event.receiver is None or isinstance(event.receiver, Seq):
        return None
    if event.method in functions_of(Trait.WRITES):
        return event.receiver, filling_of(event.arg(0))
    if event.method == "zero_":
        return event.receiver, Filling.ZERO
    if event.method == "fill_":
        return event.receiver, _of_number(event.arg(0, "value"))
    if event.method in functions_of(Trait.DRAWS_IN_PLACE):
        return event.receiver, Filling.OTHER
    return None


def _of_function(event: Event) -> Filling:
    if event.method in ("zeros_", "zeros"):
        return Filling.ZERO
    if event.method in ("ones_", "ones"):
        return Filling.CONSTANT
    return _of_number(event.arg(1, "val")) if event.method in ("constant_", "constant") else Filling.OTHER


def _of_number(value: Value | None) -> Filling:
    number = constant(value)
    if not isinstance(number, int | float):
        return Filling.OTHER
    return Filling.ZERO if number == 0 else Filling.CONSTANT


@walk(Filling.OTHER)
def filling_of(value: Value | None) -> Filling:
    """What a value that is put into a weight is made of."""
    if isinstance(value, Const):
        if isinstance(value.value, str):
            name = value.value.lower()
            return Filling.ZERO if name in _ZEROS else Filling.CONSTANT if name in _ONES else Filling.OTHER
        return _of_number(value)
    if isinstance(value, Derived) and value.op == "Mult":
        sides = [filling_of(part) for part in value.of]
        if Filling.ZERO in sides:
            return Filling.ZERO
        return Filling.CONSTANT if all(filling is Filling.CONSTANT for filling in sides) else Filling.OTHER
    if not isinstance(value, Made):
        return Filling.OTHER
    event, name = value.event, value.name.rpartition(".")[2]
    if name.lower() in _ZEROS:
        return Filling.ZERO
    if name.lower() in _ONES:
        return Filling.CONSTANT
    if name in functions_of(Trait.FILLS_VALUE):
        return _of_number(event.arg(1, "fill_value"))
    if name == "Constant":
        return _of_number(event.arg(0, "value"))
    if name in _SAME_VALUE:
        return filling_of(event.arg(0, "data", "init", "input", "input_data"))
    if name in _SHAPING and event.receiver is not None:
        return filling_of(event.receiver)
    return Filling.EQUAL_ROWS if name in _STRETCHING and _is_one_row(event) else Filling.OTHER


def _is_one_row(event: Event) -> bool:
    """A single row of random numbers that is stretched over all rows."""
    source = event.receiver if event.receiver is not None else event.arg(0)
    if not isinstance(source, Made) or source.name.rpartition(".")[2] not in _DRAWN:
        return False
    size = source.event.args[0] if source.event.args else source.event.arg(None, "size", "shape")
    first = size.items[0] if isinstance(size, Seq) and size.items else size
    return constant(first) == 1 and not isinstance(constant(first), bool)


def _layers(target: Value | None, event: Event) -> Iterator[Value]:
    """The layers whose weights a target is."""
    while isinstance(target, Attribute) and target.name == "data":
        target = target.of
    if isinstance(target, Attribute) and (target.name in _WEIGHTS or target.name.startswith(_HIDDEN)):
        owner = target.of
        leaves = [value for value in options(owner) if is_leaf(value)]
        if leaves:
            yield from leaves
        elif isinstance(item_of(owner), Made):
            yield from _chosen_layers(item_of(owner), event)
        return
    source = item_of(target)
    if isinstance(source, Made) and source.event.method == "values":
        source = source.event.receiver
    if isinstance(target, Item) and isinstance(source, Made) and source.event.method in _ALL_OF_IT:
        tests = [scope for scope in event.scopes if scope.kind == BRANCH]
        if all(_leaves_weights(scope.value, scope.holds) for scope in tests):
            for network in options(source.event.receiver):
                yield from (value for value in registered_in(network) if is_leaf(value))


def _leaves_weights(test: Value | None, holds: bool) -> bool:
    """Whether a condition on a parameter's name or shape is met by weights rather than by biases."""
    for value in ancestry(test, most=60):
        if isinstance(value, Const) and isinstance(value.value, str):
            if "bias" in value.value:
                return not holds
            if "weight" in value.value:
                return holds
        if isinstance(value, Derived) and value.op in ("Gt", "GtE", "NotEq"):
            return holds
        if isinstance(value, Derived) and value.op in ("Lt", "LtE", "Eq"):
            return not holds
    return False


def _chosen_layers(source: Value | None, event: Event) -> Iterator[Value]:
    """The layers among ``net.modules()`` that a condition on their class lets through."""
    if not isinstance(source, Made) or source.event.method not in _ALL_LAYERS:
        return
    kinds = [name for scope in event.scopes if scope.kind == BRANCH and scope.holds for name in _classes(scope.value)]
    for network in options(source.event.receiver):
        for layer in registered_in(network):
            if isinstance(layer, Made) and layer.name in kinds:
                yield layer


def _classes(test: Value | None) -> Sequence[str]:
    names: list[str] = []
    for value in ancestry(test, most=40):
        if isinstance(value, Made) and value.name == "builtins.isinstance":
            kinds = value.event.arg(1)
            for kind in kinds.items if isinstance(kinds, Seq) else [kinds]:
                if isinstance(kind, Symbol):
                    names.append(kind.name)
    return names
