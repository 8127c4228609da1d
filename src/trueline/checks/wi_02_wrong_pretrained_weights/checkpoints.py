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
def is_same_path(value: Value | None, other_value: Value | None) -> bool:
    """Whether two values are one path: the same value, the same text, or put together alike from the same."""
    value, other_value = _path(value), _path(other_value)
    if value is None or other_value is None:
        return False
    if value is other_value:
        return True
    if isinstance(value, Const) or isinstance(other_value, Const):
        return isinstance(value, Const) and isinstance(other_value, Const) and bool(value.value == other_value.value)
    if isinstance(value, Derived) and isinstance(other_value, Derived):
        alike = value.op == other_value.op
    else:
        alike = isinstance(value, Made) and isinstance(other_value, Made) and value.name == other_value.name
    mine, theirs = value.parts(), other_value.parts()
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
            for value in options(event.receiver):
                yield Loading(event, value, event.arg(0, "state_dict"), strict)
        elif event.method == "load_param_into_net" and _takes_weights(event.arg(0, "net")):
            strict = constant(event.arg(2, "strict_load"), False) is True
            for value in options(event.arg(0, "net")):
                yield Loading(event, value, event.arg(1, "parameter_dict"), strict)
        elif event.name == "mindspore.load_checkpoint" and is_network(event.arg(1, "net")):
            for value in options(event.arg(1, "net")):
                yield Loading(event, value, None, True)


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
            return {str(name) for name in only.items}
        return {str(at) for at in range(len(held[0]))}
    if isinstance(network, Instance):
        names = {
            name
            for name, value in network.attributes.items()
            if name != HELD_LAYERS and any(is_network(name) or is_parameter(name) for name in options(value))
        }
        return names if names and not any(name.startswith("*") for name in names) else None
    return None


@walk_each()
def words_of(weights: Value | None) -> Iterator[str]:
    """The words that names of weights begin with, as far as they are known for sure."""
    for value in options(weights):
        if isinstance(value, Made) and value.event.method in _NAMED and value.event.receiver is not None:
            for network in options(value.event.receiver):
                yield from names_in(network) or ()
        elif isinstance(value, Table) and value.key is not None:
            for key in options(value.key):
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
    keys = {id(key) for word in options(weights) if isinstance(word, Table) for key in options(word.key)}
    for event in trace.named("*.startswith") if keys else ():
        if id(event.receiver) in keys:
            given = event.arg(0, "prefix")
            words = given.items if isinstance(given, Seq) else [given]
            known = [constant(word) for word in words]
            if all(isinstance(word, str) and "." in word for word in known):
                yield from (str(word).partition(".")[0] for word in known)


_LAST_WORDS: Final = tensor_names("linear", "embedding", "batchnorm")


def renamed_to_nothing(weights: Value | None) -> str | None:
    """``name.replace("weight", "kernel")``: a last word that no layer knows."""
    for value in options(weights):
        for key in options(value.key) if isinstance(value, Table) else ():
            if isinstance(key, Made) and key.event.method == "replace":
                old, new = constant(key.event.arg(0)), constant(key.event.arg(1))
                known = isinstance(old, str) and old.strip(".") in _LAST_WORDS
                if known and isinstance(new, str) and new.strip(".") and new.strip(".") not in _LAST_WORDS:
                    return new
    return None


def saved_under(trace: Trace) -> dict[str, Event]:
    """The keys under which a network's weights are saved in a checkpoint, and where."""
    events: dict[str, Event] = {}
    for event in trace.named("torch.save"):
        table = event.arg(0, "obj")
        if isinstance(table, Table):
            for key, value in table.items.items():
                if isinstance(key, str) and _is_of_network(value):
                    events[key] = event
    return events


def _is_of_network(value: Value) -> bool:
    return isinstance(value, Made) and value.event.method == "state_dict" and is_network(value.event.receiver)
