"""Reading a log, whatever its kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from trueline.formats.log.choice import loss_of
from trueline.formats.log.lines import json_rows
from trueline.formats.log.pattern import compiled, pattern_rows
from trueline.formats.log.rows import Rows
from trueline.formats.log.stream import looks_like_log
from trueline.formats.log.table import table_rows
from trueline.formats.log.text import text_rows
from trueline.model.curve import Curve
from trueline.model.message import message
from trueline.model.trouble import BadFile

LOSS: Final = "loss"
_KINDS: Final[tuple[Callable[[Path], Rows | None], ...]] = (json_rows, table_rows, text_rows)


def read_log(path: Path, pattern: str | None = None) -> list[Curve]:
    """The curves of a text log, a table (CSV) or JSON lines; the training loss is called "loss" and stands first.

    Steps are those of the log; epochs with a counter that begins again become one running count, and a log without any
    counter counts its lines. ``pattern`` is an expression with a group ``loss`` and, if wanted, ``step`` and ``epoch``.
    """
    if pattern is not None:
        curves = pattern_rows(path, compiled(pattern)).curves()
        if not any(curve.name == LOSS for curve in curves):
            raise BadFile(path, message("log.pattern_not_found", pattern=pattern[:200]).text())
        return curves
    if not looks_like_log(path):
        raise BadFile(path, message("log.not_text").text())
    for kind in _KINDS:
        rows = kind(path)
        curves = [curve for curve in rows.curves() if len(curve)] if rows is not None else []
        loss = loss_of(curves)
        if loss is not None:
            others = [curve for curve in curves if curve is not loss]
            return [_named(loss), *others]
    raise BadFile(path, message("log.no_loss").text())


def _named(loss: Curve) -> Curve:
    """The training loss under one name, so that it is found in logs of any style; an evaluation's keeps its own."""
    return loss if loss.name.startswith(("val_", "test_")) else replace(loss, name=LOSS)
