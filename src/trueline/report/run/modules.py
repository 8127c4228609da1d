"""The modules of a network in the order of their calls, with the lines that built them."""

from __future__ import annotations

from collections.abc import Sequence

from trueline.formats.run_folder.reader import RankFolder
from trueline.model.json_value import JsonObject
from trueline.model.location import Location
from trueline.model.message import message
from trueline.model.report import Block, Table, Text
from trueline.model.run import ModuleInfo

MAX_SHOWN_MODULES = 60  # rows that one can look at


def modules_in_order(folder: RankFolder) -> list[tuple[ModuleInfo, int]]:
    """Modules with their number of calls in the first training step, those never called at the end."""
    calls: dict[str, int] = {}
    for call in folder.calls:
        if call.phase == "train":
            calls[call.path] = calls.get(call.path, 0) + 1
    for call in folder.calls:
        calls.setdefault(call.path, 0)
    places = {path: place for place, path in enumerate(calls)}
    modules = sorted(folder.modules, key=lambda module: places.get(module.path, len(places)))
    return [(module, calls.get(module.path, 0)) for module in modules]


def modules_json(modules: Sequence[tuple[ModuleInfo, int]]) -> list[JsonObject]:
    """The JSON shape."""
    return [{**module.to_json(), "calls": calls} for module, calls in modules]


def module_blocks(modules: Sequence[tuple[ModuleInfo, int]]) -> list[Block]:
    """The modules as a table, as many as one can look at."""
    if not modules:
        return []
    columns = [message("show.module"), message("show.type"), message("show.calls"), message("show.built_at")]
    rows = [
        [module.path or ".", module.type, calls, _place(module.built_at)]
        for module, calls in modules[:MAX_SHOWN_MODULES]
    ]
    blocks: list[Block] = [Table(message("show.modules"), columns, rows)]
    if len(modules) > MAX_SHOWN_MODULES:
        blocks.append(Text(message("show.more_modules", count=len(modules) - MAX_SHOWN_MODULES)))
    return blocks


def _place(line: Location | None) -> str | None:
    return f"{line.file}:{line.line}" if line is not None else None
