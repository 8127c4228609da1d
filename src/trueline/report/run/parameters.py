"""How many parameters a network has, and which of them are frozen, shared or in no optimizer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from trueline.model.json_value import JsonObject
from trueline.model.message import Message, message
from trueline.model.report import Block, Table
from trueline.model.run import ParamInfo

MAX_SHOWN_NAMES = 6  # in a table's cell


@dataclass(frozen=True, slots=True)
class Parameters:
    """Numbers of elements (a shared parameter counts once) and the names worth knowing."""

    tensors: int
    elements: int
    trainable: int
    buffers: int
    frozen: Sequence[str]
    shared: Sequence[tuple[str, str]]
    without_optimizer: Sequence[str]

    def to_json(self) -> JsonObject:
        """The JSON shape."""
        return {
            "tensors": self.tensors,
            "elements": self.elements,
            "trainable": self.trainable,
            "buffers": self.buffers,
            "frozen": list(self.frozen),
            "shared": [{"name": name, "with": shared} for name, shared in self.shared],
            "without_optimizer": list(self.without_optimizer),
        }


def parameters_of(params: Sequence[ParamInfo]) -> Parameters:
    """Count and sort out the parameters of a run."""
    real = [param for param in params if not param.buffer]
    own = [param for param in real if param.shared_with is None]
    # Where no optimizer was seen at all, none can be missing from it.
    seen = any(param.optimizer is not None for param in own)
    return Parameters(
        len(own),
        sum(math.prod(param.shape) for param in own),
        sum(math.prod(param.shape) for param in own if param.trainable),
        sum(1 for param in params if param.buffer),
        [param.name for param in own if not param.trainable],
        [(param.name, param.shared_with) for param in real if param.shared_with is not None],
        [param.name for param in own if param.trainable and param.optimizer is None] if seen else [],
    )


def parameter_blocks(found: Parameters) -> list[Block]:
    """A table of counts and names; trainable parameters in no optimizer stand out."""
    if not found.tensors and not found.buffers:
        return []
    rows: list[list[object]] = [
        [message("show.all_parameters"), found.elements, message("show.in_tensors", count=found.tensors)],
        [message("show.trainable"), found.trainable, None],
        [message("show.buffers"), found.buffers, None],
        [message("show.frozen"), len(found.frozen), _names(found.frozen)],
        [message("show.shared"), len(found.shared), _names([f"{name} = {shared}" for name, shared in found.shared])],
        [message("show.without_optimizer"), len(found.without_optimizer), _names(found.without_optimizer)],
    ]
    columns = [message("show.what"), message("show.number"), message("show.which")]
    return [Table(message("show.parameters"), columns, rows, frozenset({5} if found.without_optimizer else ()))]


def _names(names: Sequence[str]) -> Message | str | None:
    text = ", ".join(names[:MAX_SHOWN_NAMES])
    if len(names) > MAX_SHOWN_NAMES:
        return message("show.and_more", names=text, count=len(names) - MAX_SHOWN_NAMES)
    return text or None
