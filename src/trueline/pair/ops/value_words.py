"""Values and lines of a block in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.pair.ops.reading import Reading

INPUT: Final = "input "


@dataclass(frozen=True, slots=True)
class Named:
    """A value in words: ``what`` is input, layer, parameter, op or constant, ``name`` says which.

    ``part`` counts the outputs of an operator that has several.
    """

    what: str
    name: str
    line: Location | None = None
    part: int = 0


def named(reading: Reading, value: int) -> Named:
    """A value in words."""
    graph = reading.graph
    if value in graph.inputs:
        return Named("input", str(graph.inputs.index(value) + 1) if len(graph.inputs) > 1 else "")
    op = graph.maker.get(value)
    if op is None:
        line = graph.assigned.get(value)
        return Named("parameter", graph.names[value], line) if value in graph.names else Named("constant", "")
    if op.module is not None:
        return Named("layer", op.module, op.line)
    return Named("op", op.kind, op.line, op.outputs.index(value) + 1 if len(op.outputs) > 1 else 0)


def at(line: Location | None) -> Message:
    """A line of a source file in words."""
    if line is None:
        return message("pair_explain.no_line")
    return message("pair_explain.at_line", file=line.file.replace("\\", "/").rpartition("/")[2], line=line.line)


def name_in_words(named: Named | None) -> Message:
    """A value in words."""
    if named is None or named.what == "constant":
        return message("pair_explain.value_constant")
    if named.what == "input":
        return message("pair_explain.value_input", number=named.name) if named.name else message("pair_explain.value_x")
    if named.part:
        return message("pair_explain.value_part", number=named.part, kind=named.name, at=at(named.line))
    if named.what == "op":
        return message("pair_explain.value_op", kind=named.name, at=at(named.line))
    return message(f"pair_explain.value_{named.what}", name=named.name)


def known_in_words(name: str) -> Message:
    """A value by the name that it has among a block's known ones."""
    what = "input" if name.startswith(INPUT) else "layer"
    return name_in_words(Named(what, name.removeprefix(INPUT)))
