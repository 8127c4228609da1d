"""Layers in a script: which have weights, which a network knows of, what their weights are used for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.apitable.functions import functions_of, qualified_of, stems_of
from trueline.apitable.traits import Trait
from trueline.script.analysis.networks import parts_of
from trueline.script.factories import is_factory
from trueline.script.reading.elements import layers_in, registered_in
from trueline.script.roles import Role, is_network
from trueline.script.trace import Event, Trace
from trueline.script.values import Derived, Instance, Made, Seq, Table, Value, ancestry, options
from trueline.script.walking import walk_each

_WITH_WEIGHTS: Final = stems_of(Trait.HAS_WEIGHTS)
PARAMETERS: Final = qualified_of(Trait.PARAMETER)
# Values behind all that a script uses: bounds the graph, which may be cyclic.
MAX_VISITED_VALUES: Final = 200_000
_SETTING_UP: Final = functions_of(Trait.WRITES, Trait.FILLS_IN_PLACE, Trait.DRAWS_IN_PLACE, Trait.SIZE, Trait.SAYS)
__all__ = [
    "PARAMETERS",
    "has_weights",
    "is_leaf",
    "is_parameter",
    "layers_within",
    "registered_in",
    "values_used",
]


def is_parameter(value: Value | None) -> bool:
    """Whether it is a weight by itself."""
    return isinstance(value, Made) and value.name in PARAMETERS


def has_weights(layer: Value | None) -> bool:
    """Whether a layer or network has weights to learn."""
    for value in parts_of(layer):
        if isinstance(value, Made) and value.name.rpartition(".")[2].startswith(_WITH_WEIGHTS):
            return True
        if isinstance(value, Instance) and any(is_parameter(held) for held in value.attributes.values()):
            return True
    return False


def is_leaf(layer: Value | None) -> bool:
    """Whether it is a library's layer, and no container."""
    return isinstance(layer, Made) and is_network(layer) and layers_in(layer) is None


def is_single(layer: Value | None) -> bool:
    """Whether it is one layer, and no whole network that a library has built."""
    return is_leaf(layer) and isinstance(layer, Made) and not is_factory(layer.name)


@walk_each()
def layers_within(value: Value | None) -> Iterator[Value]:
    """The networks in a list, tuple or dict of Python's, also in lists in it."""
    for other_value in options(value):
        if isinstance(other_value, Seq | Table):
            for part in other_value.parts():
                yield from layers_within(part)
        elif is_network(other_value):
            yield other_value


def values_used(trace: Trace) -> set[int]:
    """What goes into anything that is more than setting up weights, by identity."""
    return {id(value) for value in ancestry(*_everything_used(trace), most=MAX_VISITED_VALUES)}


def _everything_used(trace: Trace) -> Iterator[Value]:
    for event in trace.events:
        if _sets_up(event):
            continue
        if event.receiver is not None and not (isinstance(event.receiver, Instance) and event.method == "__call__"):
            yield event.receiver
        yield from event.args
        yield from event.kwargs.values()
        if event.role is Role.FORWARD and event.result is not None:
            yield event.result
        for scope in event.scopes:
            if scope.value is not None and isinstance(scope.value, Derived):
                yield scope.value


def _sets_up(event: Event) -> bool:
    if event.method in ("__setattr__", "__init__", "__new__") or is_network(event.result):
        return True
    return event.name.startswith(("torch.nn.init.", "mindspore.common.initializer.")) or (event.method in _SETTING_UP)
