"""Checkpoints in a script: where weights are read, where they are put in, and what their names begin with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trueline.apitable.functions import functions_of, qualified_of
from trueline.apitable.layers import tensor_names
from trueline.apitable.traits import Trait
from trueline.script.analysis.layers import is_parameter
from trueline.script.reading.elements import HELD_LAYERS, layers_in
from trueline.script.roles import is_network, is_optimizer
from trueline.script.trace import Event, Trace, item_of
from trueline.script.values import Const, Derived, Instance, Made, Seq, Table, Value, constant, options
from trueline.script.walking import walk, walk_each

_READING: Final = qualified_of(Trait.READS_WEIGHTS)
_AS_PATH: Final = functions_of(Trait.AS_PATH) | {"str"}
_NAMED: Final = ("state_dict", "parameters_dict")


@dataclass(frozen=True, slots=True)
class Loading:
    """A place where weights are put into a network; ``strict`` where names that do not fit are an error."""

    event: Event
    network: Value
    weights: Value | None
    strict: bool


def readings(trace: Trace) -> Iterator[Event]:
    """Where a file of weights is read without being put anywhere at once."""
    for event in trace.named(*_READING):
        if event.name != "mindspore.load_checkpoint" or not is_network(event.arg(1, "net")):
            yield event


def is_reading(event: Event) -> bool:
    """Whether a file of weights is read."""
    return event.name in _READING


@walk(False)
def is_same_path(one: Value | None, other: Value | None) -> bool:
    """Whether two values are one path: the same value, the same text, or put together alike from the same."""
    one, other = _path(one), _path(other)
    if one is None or other is None:
        return False
    if one is other:
        return True
    if isinstance(one, Const) or isinstance(other, Const):
        return isinstance(one, Const) and isinstance(other, Const) and bool(one.value == other.value)
    if isinstance(one, Derived) and isinstance(other, Derived):
        alike = one.op == other.op
    else:
        alike = isinstance(one, Made) and isinstance(other, Made) and one.name == other.name
    mine, theirs = one.parts(), other.parts()
    together = zip(mine, theirs, strict=False)
    return alike and bool(mine) and len(mine) == len(theirs) and all(is_same_path(*pair) for pair in together)


def _path(value: Value | None) -> Value | None:
    """The path without what only gives it another type."""
    while isinstance(value, Made) and value.name.rpartition(".")[2] in _AS_PATH and len(value.event.args) == 1:
        value = value.event.args[0]
    return value


def loadings(trace: Trace) -> Iterator[Loading]:
    """Where weights are put into a network."""
    for event in trace.events:
        if event.method == "load_state_dict" and is_network(event.receiver):
            strict = constant(event.arg(1, "strict"), True) is not False
            for one in options(event.receiver):
                yield Loading(event, one, event.arg(0, "state_dict"), strict)
        elif event.method == "load_param_into_net" and _takes_weights(event.arg(0, "net")):
            strict = constant(event.arg(2, "strict_load"), False) is True
            for one in options(event.arg(0, "net")):
                yield Loading(event, one, event.arg(1, "parameter_dict"), strict)
        elif event.name == "mindspore.load_checkpoint" and is_network(event.arg(1, "net")):
            for one in options(event.arg(1, "net")):
                yield Loading(event, one, None, True)


def _takes_weights(value: Value | None) -> bool:
    """A network, or an optimizer of MindSpore: it holds the weights, and its moments, under their names."""
    return is_network(value) or is_optimizer(value)


def names_in(network: Value) -> set[str] | None:
    """The first words of the names of a network's weights; None where they are not all known."""
    held = layers_in(network)
    if held is not None:
        if held[1]:
            return None
        only = network.event.args[0] if isinstance(network, Made) and len(network.event.args) == 1 else None
        if isinstance(only, Table):
            return {str(one) for one in only.items}
        return {str(at) for at in range(len(held[0]))}
    if isinstance(network, Instance):
        names = {
            name
            for name, value in network.attributes.items()
            if name != HELD_LAYERS and any(is_network(one) or is_parameter(one) for one in options(value))
        }
        return names if names and not any(name.startswith("*") for name in names) else None
    return None


@walk_each()
def words_of(weights: Value | None) -> Iterator[str]:
    """The words that names of weights begin with, as far as they are known for sure."""
    for one in options(weights):
        if isinstance(one, Made) and one.event.method in _NAMED and one.event.receiver is not None:
            for network in options(one.event.receiver):
                yield from names_in(network) or ()
        elif isinstance(one, Table) and one.key is not None:
            for key in options(one.key):
                yield from _word_of(key)


def _word_of(key: Value) -> Iterator[str]:
    """``f"module.{name}"`` begins with module; ``f"old_{name}"`` with old_ and whatever the names begin with."""
    first = key.of[0] if isinstance(key, Derived) and key.op in ("text", "Add") and key.of else None
    if not isinstance(first, Const) or not isinstance(first.value, str) or not first.value:
        return
    if "." in first.value:
        yield first.value.partition(".")[0]
        return
    source = item_of(key.of[1]) if isinstance(key, Derived) and len(key.of) > 1 else None
    held = source.event.receiver if isinstance(source, Made) and source.event.method in ("items", "keys") else source
    yield from (first.value + word for word in words_of(held))


def chosen_words(weights: Value | None, trace: Trace) -> Iterator[str]:
    """First words by which names are chosen from a file and put in as they are: ``if k.startswith("net.")``."""
    keys = {id(key) for one in options(weights) if isinstance(one, Table) for key in options(one.key)}
    for event in trace.named("*.startswith") if keys else ():
        if id(event.receiver) in keys:
            given = event.arg(0, "prefix")
            words = given.items if isinstance(given, Seq) else [given]
            known = [constant(one) for one in words]
            if all(isinstance(one, str) and "." in one for one in known):
                yield from (str(one).partition(".")[0] for one in known)


_LAST_WORDS: Final = tensor_names("linear", "embedding", "batchnorm")


def renamed_to_nothing(weights: Value | None) -> str | None:
    """``name.replace("weight", "kernel")``: a last word that no layer knows."""
    for one in options(weights):
        for key in options(one.key) if isinstance(one, Table) else ():
            if isinstance(key, Made) and key.event.method == "replace":
                old, new = constant(key.event.arg(0)), constant(key.event.arg(1))
                known = isinstance(old, str) and old.strip(".") in _LAST_WORDS
                if known and isinstance(new, str) and new.strip(".") and new.strip(".") not in _LAST_WORDS:
                    return new
    return None


def saved_under(trace: Trace) -> dict[str, Event]:
    """The keys under which a network's weights are saved in a checkpoint, and where."""
    found: dict[str, Event] = {}
    for event in trace.named("torch.save"):
        table = event.arg(0, "obj")
        if isinstance(table, Table):
            for key, value in table.items.items():
                if isinstance(key, str) and _is_of_network(value):
                    found[key] = event
    return found


def _is_of_network(value: Value) -> bool:
    return isinstance(value, Made) and value.event.method == "state_dict" and is_network(value.event.receiver)
