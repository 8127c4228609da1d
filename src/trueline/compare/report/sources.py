"""How both sides built a module, and the lines that did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from trueline.compare.runs import Side
from trueline.model.message import message
from trueline.model.report import Source, Table

_AROUND: Final = 3


def built(*modules: tuple[Side, str]) -> Iterator[Table]:
    """How both sides built the module that differs, arguments of the same name in one row."""
    found = [(side, side.module(path)) for side, path in modules]
    arguments = [
        dict((module.arguments if module.arguments is not None else module.attributes) if module is not None else {})
        for _, module in found
    ]
    names = list(dict.fromkeys(name for argument in arguments for name in argument))
    if not names:
        return
    types = [module.type.rpartition(".")[2] if module is not None else "" for _, module in found]
    rows = [[name, *(_plain(argument, name) for argument in arguments)] for name in names]
    heads = [
        message("compare.column_side", side=side.name, type=type) for (side, _), type in zip(found, types, strict=True)
    ]
    apart = (place for place, row in enumerate(rows) if not {"", "None"} & set(row) and row[1] != row[2])
    yield Table(
        message("compare.built", module=modules[0][1] or "-"),
        [message("compare.column_argument"), *heads],
        rows,
        frozenset(apart),
    )


def source(side: Side, path: str) -> Iterator[Source]:
    """The lines around the one that built a module."""
    module = side.module(path)
    line = module.built_at if module is not None else None
    lines = side.source(line.file) if line is not None else None
    if line is None or lines is None or not 0 < line.line <= len(lines):
        return
    begin = max(1, line.line - _AROUND)
    yield Source(line.file, line.line, lines[begin - 1 : line.line + _AROUND], begin, side.name)


def _plain(arguments: Mapping[str, object], name: str) -> str:
    return str(arguments[name]) if name in arguments else ""
