"""Networks in a script: what they are made of, and which weights an optimizer was given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.apitable.functions import functions_of, stems_of
from trueline.apitable.traits import Trait
from trueline.script.loops import TrainingLoop
from trueline.script.roles import Role, is_network
from trueline.script.trace import Event
from trueline.script.values import Instance, Made, Seq, Table, Value, ancestry, options

_PARAMETERS: Final = functions_of(Trait.LISTS_PARAMETERS, Trait.LISTS_UNTRAINED, Trait.LISTS_LAYERS)
NORMS: Final = stems_of(Trait.NORM)
DROPOUTS: Final = stems_of(Trait.DROPOUT)


def parts_of(network: Value | None, most: int = 2000) -> Iterator[Value]:
    """A network and all networks in it."""
    waiting = list(options(network))
    seen: set[int] = set()
    while waiting and len(seen) < most:
        value = waiting.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        if is_network(value):
            yield value
        if isinstance(value, Instance):
            waiting.extend(value.attributes.values())
        elif isinstance(value, Made | Seq | Table):
            waiting.extend(value.parts())
        else:
            waiting.extend(options(value) if options(value) != (value,) else ())


def kinds_of(network: Value | None) -> set[str]:
    """The classes of a library that a network has in it, by their last names."""
    return {value.name.rpartition(".")[2] for value in parts_of(network) if isinstance(value, Made)}


def has_norm(network: Value | None) -> bool:
    """Whether it normalises."""
    return any(kind.startswith(NORMS) for kind in kinds_of(network))


def has_batch_norm(network: Value | None) -> bool:
    """Whether it keeps statistics of batches."""
    return any(kind.startswith(stems_of(Trait.KEEPS_STATISTICS)) for kind in kinds_of(network))


def has_dropout(network: Value | None) -> bool:
    """Whether it drops values in training."""
    return any(kind.startswith(DROPOUTS) for kind in kinds_of(network))


def networks_given(optimizer: Event) -> list[Value]:
    """The networks whose weights an optimizer was built with."""
    values: list[Value] = []
    for value in ancestry(optimizer.arg(0, "params", "learning_rate_params") or optimizer.arg(None, "params")):
        if isinstance(value, Made) and value.event.method in _PARAMETERS and value.event.receiver is not None:
            values.extend(part for part in options(value.event.receiver))
    return values


def optimizers_of(loop: TrainingLoop) -> Iterator[Event]:
    """Where the optimizers were built that a training loop steps."""
    for step in loop.of(Role.STEP, Role.SCALER_STEP):
        value = step.arg(0, "optimizer") if step.role is Role.SCALER_STEP else step.receiver
        for part in options(value):
            if isinstance(part, Made) and part.event.role is Role.BUILD_OPTIMIZER:
                yield part.event
