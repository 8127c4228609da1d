"""What verbs about weights take: weight files, and models in processes of their own."""

from __future__ import annotations

from pathlib import Path

from trueline.formats.kinds import Kind, look
from trueline.formats.opening import open_weights
from trueline.formats.weights import Weights
from trueline.migrate.modules import Naming
from trueline.migrate.planning import Known
from trueline.model.message import message
from trueline.model.trouble import BadUsage
from trueline.pair.questions.described import Described


def open_weights_at(path: Path) -> Weights:
    """The weight file at a path; anything else there is refused for what it is."""
    found = look(path)
    if found.kind is not Kind.WEIGHTS:
        raise BadUsage("params.not_weights", file=str(path), kind=message(f"compare.kind_{found.kind.value}"))
    return open_weights(found)


def known_of(described: Described) -> Known:
    """What a model says of names: its classes by the paths of the names that its checkpoints have."""
    classes = dict(described.classes)
    for parameter in described.parameters:
        # A checkpoint may call a module otherwise than its attribute path does.
        path = described.paths.get(parameter.name, parameter.name).rpartition(".")[0]
        classes.setdefault(parameter.name.rpartition(".")[0], described.classes.get(path, ""))
    return Known(Naming(described.framework), described.parameters, classes)
