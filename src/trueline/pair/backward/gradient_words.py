"""A block's values, lines and factors in words."""

from __future__ import annotations

from pathlib import Path

from trueline.model.location import Location
from trueline.model.message import Message, message


def value_name(key: str) -> Message:
    """A value of a block in words: ``in/0``, ``out/0``, ``param/scale``, ``layer1.conv#0/out/0``."""
    head, _, last = key.rpartition("/")
    if head == "in":
        return message("pair_ops.value_input", place=int(last) + 1)
    if head == "out":
        return message("pair_ops.value_output", place=int(last) + 1)
    if key.startswith("param/"):
        return message("pair_ops.value_parameter", name=key.removeprefix("param/"))
    layer, _, way = head.rpartition("/")
    name = layer.partition("#")[0]
    return message("pair_ops.value_of_layer" if way == "out" else "pair_ops.value_to_layer", name=name)


def number_text(factor: float) -> str:
    """A factor, short."""
    return f"{factor:.4g}"


def line_text(line: Location | None) -> str:
    """A line as file:line."""
    return f"{Path(line.file).name}:{line.line}" if line is not None else "-"
