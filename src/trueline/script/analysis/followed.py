"""What reading has followed as a whole, so that what was not found there is not there."""

from __future__ import annotations

from typing import Final

from trueline.apitable.functions import functions_of
from trueline.apitable.traits import Trait
from trueline.script.analysis.forwards import forward_around
from trueline.script.analysis.networks import has_batch_norm, has_dropout, parts_of
from trueline.script.loops import training_loops
from trueline.script.roles import Role, is_network
from trueline.script.trace import Trace
from trueline.script.values import Instance, Made, Value, options

_FRAMEWORKS: Final = ("torch", "mindspore")
# Rooms of the frameworks whose networks come ready made, often with weights.
_READY_MADE: Final = ("torch.hub.", "mindspore.hub.")
_ACTING: Final = functions_of(Trait.DROPOUT, Trait.BATCH_NORM)


def is_training_followed(trace: Trace) -> bool:
    """Whether the script itself leads to a training loop, so that its steps are known."""
    return any(loop.is_certain for loop in training_loops(trace))


def known_networks(trace: Trace) -> list[Value] | None:
    """The networks that training calls, where all are of the project or of a framework's layers; else None."""
    networks = [
        network
        for loop in training_loops(trace)
        if loop.is_certain
        for event in loop.of(Role.FORWARD)
        if event.receiver is not None and forward_around(event) is None
        for network in options(event.receiver)
    ]
    if not networks or not all(is_network(network) for network in networks):
        return None
    return networks if all(_is_known(part) for network in networks for part in parts_of(network)) else None


def acts_by_mode(trace: Trace) -> bool | None:
    """Whether training's networks have what acts in training only; None where not all of them are known."""
    networks = known_networks(trace)
    if networks is None:
        return None
    functions = any(event.method in _ACTING for event in trace.events)
    return functions or any(has_dropout(network) or has_batch_norm(network) for network in networks)


def _is_known(part: Value) -> bool:
    if isinstance(part, Instance):
        bases = all(_is_of_framework(name) for name in part.cls.library_bases())
        return bases and all(_is_plain(value) for value in part.attributes.values())
    return isinstance(part, Made) and _is_of_framework(part.name)


def _is_plain(value: Value) -> bool:
    """An attribute that is no network of another library's."""
    return all(not isinstance(option, Made) or _is_of_framework(option.name) for option in options(value))


def _is_of_framework(name: str) -> bool:
    room = name.partition(".")[0]
    return room in (*_FRAMEWORKS, "builtins", "math", "numpy", "copy", "abc") and not name.startswith(_READY_MADE)
