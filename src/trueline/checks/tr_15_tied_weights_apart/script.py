"""Tied weights that come apart: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from trueline.apitable.functions import functions_of, names_of
from trueline.apitable.traits import Trait
from trueline.checks.engine.check import check, found, na, none, suspect, undecided
from trueline.model.finding import Finding
from trueline.script.analysis.followed import known_networks
from trueline.script.analysis.layers import is_parameter
from trueline.script.analysis.reachable import all_values
from trueline.script.roles import is_network
from trueline.script.script import Script
from trueline.script.trace import BRANCH, UNCALLED, Event, Trace
from trueline.script.values import Attribute, Derived, Instance, Made, Value, ancestry, constant, options

_OF_FORM: Final = functions_of(Trait.SIZE, Trait.RANK, Trait.FILLS_LIKE, Trait.LIKE)
_FORM: Final = functions_of(Trait.FORM)
_PRODUCTS: Final = names_of(Trait.MATMUL, Trait.MATMUL_ADDED, Trait.EINSUM) | functions_of(Trait.LINEAR)
WEIGHTS: Final = ("weight", "bias", "embedding_table", "embedding_weight")


@dataclass(frozen=True, slots=True)
class Tie:
    """Where a layer takes a weight from another; each of the two by its layer and the weight's name."""

    event: Event
    sides: tuple[tuple[Value, str], tuple[Value, str]]

    def has(self, layer: Value | None, name: str | None = None) -> bool:
        """Whether a layer (and this weight of it) is one of the two."""
        return any(value is layer and (name is None or name == held) for value, held in self.sides)


@check("tr.15")
def from_script(script: Script) -> Iterator[Finding]:
    """Weights that one layer takes from another, and what is put into either of them later."""
    trace = script.trace
    ties = _last_of_each(list(_ties(trace)))
    reported: set[str] = set()
    for tie in ties:
        apart = _taken_apart(tie, trace)
        if apart is None or str(apart.place) in reported or _is_tied_again(tie, apart, ties):
            continue
        reported.add(str(apart.place))
        said = suspect if _may_not_happen(apart, tie.event) else found
        yield said("tr_15.script.came_apart", apart.place, tied=tie.event.place.line)
    for event in (*_copied(trace), *_begun_as_copies(trace)):
        if str(event.place) not in reported and not any(tie.event.index > event.index for tie in ties):
            reported.add(str(event.place))
            yield found("tr_15.script.copied", event.place)
    if ties and not reported:
        yield none("tr_15.script.still_tied", evidence=[str(tie.event.place) for tie in ties])
    elif not reported:
        yield (undecided if known_networks(trace) is None else na)("tr_15.script.nothing_tied")


def _is_tied_again(tie: Tie, apart: Event, ties: Sequence[Tie]) -> bool:
    """Whether what was tied, or what has taken its place, is tied later."""
    layers = [*(layer for layer, _ in tie.sides), *options(apart.arg(1))]
    return any(
        other_tie.event.index > apart.index and any(other_tie.has(layer) for layer in layers) for other_tie in ties
    )


def _copied(trace: Trace) -> Iterator[Event]:
    """An embedding's table that is copied into the last layer of the same network, where sharing it was meant."""
    for event in trace.events:
        if event.method in ("copy_", "set_data"):
            target, value = event.receiver, event.arg(0)
        elif event.method == "__setattr__" and constant(event.arg(0)) in ("data", *WEIGHTS):
            target, value = event.receiver, event.arg(1)
            if isinstance(value, Attribute):
                continue
        else:
            continue
        into, source = _layer_behind(target), _layer_given(value)
        if into is not None and source is not None and into is not source:
            kinds = {value.name.rpartition(".")[2] for value in (into, source)}
            if "Embedding" in kinds and kinds & {"Linear", "Dense"}:
                yield event


def _begun_as_copies(trace: Trace) -> Iterator[Event]:
    """Weights of an output that are built from an embedding's table: they begin alike, and are two."""
    for event in trace.events:
        last = event.name.rpartition(".")[2]
        if event.receiver is not None or any(scope.kind == UNCALLED for scope in event.scopes):
            continue
        if last in ("Linear", "Dense"):
            given = event.arg(None, "weight_init", "weight")
        elif is_parameter(event.result) and constant(event.arg(None, "requires_grad"), True) is not False:
            given = event.arg(0, "data", "default_input")
        else:
            continue
        source = _layer_given(given)
        if source is None or source.name.rpartition(".")[2] != "Embedding":
            continue
        if last in ("Linear", "Dense") or _projects(event, trace):
            yield event


def _projects(parameter: Event, trace: Trace) -> bool:
    """Whether a network multiplies what it has computed with a weight."""
    for event in trace.events:
        multiplies = event.method in _PRODUCTS
        multiplies = multiplies or event.name.endswith("MatMul.__call__")
        if multiplies and any(_is_weight(value, parameter) for value in event.args[-2:]):
            return True
    return any(
        isinstance(value, Derived) and value.op == "MatMult" and _is_weight(value.of[1], parameter)
        for value in all_values(trace)
    )


def _is_weight(value: Value, parameter: Event) -> bool:
    """A weight as it is, or turned around."""
    return any(isinstance(part, Made) and part.event is parameter for part in ancestry(value, most=4))


def _layer_behind(value: Value | None) -> Made | None:
    while isinstance(value, Attribute):
        value = value.of
    return value if isinstance(value, Made) and is_network(value) else None


def _layer_given(value: Value | None) -> Made | None:
    """The layer whose weight a value has the numbers of; its shape alone gives none of them."""
    waiting, seen = [value] if value is not None else [], 0
    while waiting and seen < 20:
        part = waiting.pop(0)
        seen += 1
        if isinstance(part, Attribute):
            if part.name in WEIGHTS and isinstance(part.of, Made) and is_network(part.of):
                return part.of
            if part.name in _FORM:
                continue
        elif isinstance(part, Made) and (part.event.method in _OF_FORM or part.name.startswith("builtins.")):
            continue
        waiting.extend(part.parts())
    return None


def _ties(trace: Trace) -> Iterator[Tie]:
    for event in trace.events:
        value, name = event.arg(1), constant(event.arg(0))
        if event.method != "__setattr__" or name not in WEIGHTS or not isinstance(event.receiver, Made):
            continue
        # A layer may come from a class method of its kind, as from_pretrained.
        known = isinstance(value, Attribute) and (is_network(value.of) or isinstance(value.of, Made))
        if isinstance(value, Attribute) and value.name in WEIGHTS and known:
            yield Tie(event, ((event.receiver, str(name)), (value.of, value.name)))


def _last_of_each(ties: Sequence[Tie]) -> list[Tie]:
    """What is tied again counts from then on."""
    last: dict[frozenset[int], Tie] = {}
    for tie in ties:
        last[frozenset(id(layer) for layer, _ in tie.sides)] = tie
    return list(last.values())


def _taken_apart(tie: Tie, trace: Trace) -> Event | None:
    for event in trace.events[tie.event.index + 1 :]:
        if event.method != "__setattr__" or any(scope.kind == UNCALLED for scope in event.scopes):
            continue
        name, value = constant(event.arg(0)), event.arg(1)
        if name in WEIGHTS and any(tie.has(value, str(name)) for value in options(event.receiver)):
            if not _is_of_the_tie(value, tie):
                return event
        elif _replaces(event, tie, trace) and is_network(value) and not any(tie.has(part) for part in options(value)):
            return event
    return None


def _is_of_the_tie(value: Value | None, tie: Tie) -> bool:
    return isinstance(value, Attribute) and tie.has(value.of)


def _replaces(event: Event, tie: Tie, trace: Trace) -> bool:
    """Whether an attribute of a network held one of the two layers before."""
    if not isinstance(event.receiver, Instance):
        return False
    name = constant(event.arg(0))
    for earlier in reversed(trace.events[: event.index]):
        if earlier.method == "__setattr__" and earlier.receiver is event.receiver and constant(earlier.arg(0)) == name:
            return any(tie.has(value) for value in options(earlier.arg(1)))
    return False


def _may_not_happen(apart: Event, tie: Event) -> bool:
    return any(scope.kind == BRANCH and scope not in tie.scopes for scope in apart.scopes)
