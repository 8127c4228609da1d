"""What a graft showed, in one sentence and, where the port still differs, a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from trueline.model.message import Message, message
from trueline.model.report import Block, Table, Text
from trueline.pair.graft.run import Apart, Grafted

# JSON has them all.
_SHOWN: Final = 12


def graft_blocks(grafts: Sequence[Grafted]) -> Iterator[Block]:
    """A sentence for each graft, then what still differs behind it."""
    yield from (Text(said(graft)) for graft in grafts)
    for graft in grafts:
        if graft.diverging and not graft.after.within:
            yield _table(graft)


def said(graft: Grafted) -> Message:
    """What remains of the difference, and where what makes it lies."""
    numbers = {"before": _number(graft.before), "after": _number(graft.after), "limit": graft.after.limit}
    params: dict[str, object] = {"modules": _names(graft), "count": len(graft.modules), **numbers}
    if graft.after.within:
        return message("pair_graft.agrees_anyway" if graft.before.within else "pair_graft.lies_before", **params)
    if graft.first is None:
        return message("pair_graft.still_in_code", **params)
    params["first"] = f"`{graft.first.module}`"
    return message("pair_graft.still_inside" if graft.first.inside else "pair_graft.still_at_input", **params)


def _names(graft: Grafted) -> str:
    return ", ".join(f"`{path}`" for path in graft.modules)


def _number(apart: Apart) -> float | Message:
    return apart.level if apart.level is not None else message("pair_graft.shapes")


def _table(graft: Grafted) -> Table:
    title = message("pair_graft.diverging", modules=_names(graft), count=len(graft.diverging))
    columns = [message(f"pair_graft.column_{name}") for name in ("module", "bench", "level", "limit")]
    rows = [[one.module, one.other_module, one.level, one.limit] for one in graft.diverging[:_SHOWN]]
    return Table(title, columns, rows)
