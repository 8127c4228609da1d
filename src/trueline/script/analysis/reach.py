"""How far gradients come in a script: from what backward is called on to the layers, and where the way is cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from trueline.apitable.functions import functions_of
from trueline.apitable.traits import Trait
from trueline.model.location import Location
from trueline.script.analysis.gradients import is_cut, is_without_gradient
from trueline.script.analysis.layers import is_leaf, is_parameter
from trueline.script.analysis.networks import parts_of
from trueline.script.roles import Role, is_network
from trueline.script.trace import WITH, Event, Trace
from trueline.script.values import Attribute, Made, Symbol, Value, ancestry, constant, options

_MOST = 30_000
_READ = functions_of(Trait.READS_WEIGHTS, Trait.GIVES_WEIGHTS)


@dataclass(slots=True)
class Reach:
    """The layers that gradients come to, and those that they would come to but for a cut, with the cut's line."""

    reached: dict[int, Value] = field(default_factory=dict)
    cut_off: dict[int, tuple[Value, Location]] = field(default_factory=dict)


def reach_of(backward: Event) -> Reach:
    """How far one backward comes."""
    reach = Reach()
    waiting: list[tuple[Value, Location | None]] = []
    if backward.receiver is not None:
        waiting.append((backward.receiver, None))
    seen: set[tuple[int, Location | None]] = set()
    at = 0
    while at < len(waiting) and at < _MOST:
        value, cut = waiting[at]
        at += 1
        # Of several cuts on a way, the one nearest to the layer is what it needs to be without.
        cut = _cut_at(value) or cut
        if (id(value), cut) in seen:
            continue
        seen.add((id(value), cut))
        for layer in _touched(value):
            if cut is None:
                reach.reached[id(layer)] = layer
            else:
                reach.cut_off.setdefault(id(layer), (layer, cut))
        waiting.extend((part, cut) for part in value.parts())
    return reach


def _cut_at(value: Value) -> Location | None:
    if isinstance(value, Attribute) and value.name == "data" and isinstance(value.of, Made):
        return value.of.event.place
    if not isinstance(value, Made):
        return None
    cut = is_cut(value)
    if cut is not None:
        return cut.place
    if value.event.role is Role.FORWARD and is_without_gradient(value.event):
        return _context(value.event)
    return None


def _context(event: Event) -> Location:
    """The line of the ``with`` that keeps gradients away."""
    for scope in reversed(event.scopes):
        name = scope.value.name if scope.kind == WITH and isinstance(scope.value, Symbol | Made) else ""
        if name.rpartition(".")[2] in functions_of(Trait.NO_GRADIENT, Trait.SWITCHES_GRADIENT):
            return scope.place
    return event.place


def _touched(value: Value) -> Iterator[Value]:
    """The layer whose weights a value was made with."""
    if isinstance(value, Made):
        if value.event.method == "__call__" and value.event.receiver is not None:
            yield from (part for part in options(value.event.receiver) if is_leaf(part))
        if is_parameter(value):
            yield value
    elif isinstance(value, Attribute) and is_leaf(value.of):
        # layer.weight, used by hand.
        yield value.of


def frozen_parts(trace: Trace, wanted: bool = False) -> Iterator[tuple[Event, Value]]:
    """Where ``requires_grad`` is set to this, and the networks whose weights it is set for."""
    for event in trace.events:
        if event.method == "requires_grad_":
            given = constant(event.arg(0, "requires_grad", "mode"), True)
        elif event.method == "__setattr__" and constant(event.arg(0)) == "requires_grad":
            given = constant(event.arg(1))
        elif event.method in ("freeze", "set_grad"):
            given = event.method != "freeze" and constant(event.arg(0), True)
        else:
            continue
        if given is wanted:
            for value in _networks_behind(event.receiver):
                yield event, value


def _networks_behind(value: Value | None) -> Iterator[Value]:
    """The networks that a weight, or an element of parameters(), belongs to; not those that they are copies of."""
    waiting = [value] if value is not None else []
    for _ in range(40):
        if not waiting:
            return
        part = waiting.pop(0)
        if is_network(part):
            yield from options(part)
        elif isinstance(part, Made) and part.event.receiver is not None and is_network(part.event.receiver):
            yield from options(part.event.receiver)
        else:
            waiting.extend(part.parts())


def parts_of_all(networks: Iterable[Value]) -> set[int]:
    """Networks with all that is in them, by identity."""
    return {id(part) for value in networks for part in parts_of(value)}


def loaded_parts(trace: Trace) -> set[int]:
    """The networks that weights were put into from elsewhere, with all that is in them."""
    values: list[Value] = []
    for event in trace.events:
        if event.method == "load_state_dict" and is_network(event.receiver):
            values.extend(options(event.receiver))
        elif event.method in ("load_param_into_net", "load_checkpoint"):
            values.extend(value for value in (*event.args, *event.kwargs.values()) if is_network(value))
        elif event.method == "copy_" and event.receiver is not None and _comes_from_elsewhere(event.arg(0)):
            values.extend(_networks_behind(event.receiver))
    return parts_of_all(values)


def _comes_from_elsewhere(value: Value | None) -> bool:
    """Whether it was read from a file, or from another network."""
    return any(
        (isinstance(part, Made) and part.event.method in _READ) or is_network(part) for part in ancestry(value, most=60)
    )
