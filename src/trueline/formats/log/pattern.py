"""Curves by a user's own expression."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from trueline.formats.log.rows import Rows, counter
from trueline.formats.log.running import NONE
from trueline.formats.log.text import texts_of
from trueline.model.trouble import BadUsage

# An expression may take time that grows steeply with a line's length.
_MAX_LINE: Final = 2000
_COUNTERS: Final = frozenset({"step", "epoch", "rank"})


def compiled(pattern: str) -> re.Pattern[str]:
    """The expression; a BadUsage where it is none, or has no group called loss."""
    try:
        expression = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadUsage("log.bad_pattern", pattern=pattern[:200], reason=str(error)[:200]) from None
    if "loss" not in expression.groupindex:
        raise BadUsage("log.pattern_without_loss", pattern=pattern[:200])
    return expression


def pattern_rows(path: Path, expression: re.Pattern[str]) -> Rows:
    """What the lines say that the expression is found in; every named group but the counters is a curve."""
    names = [name for name in expression.groupindex if name not in _COUNTERS]
    rows = Rows()
    for text in texts_of(path, _MAX_LINE):
        found = expression.search(text)
        if found is None:
            continue
        scalars = [(name, value) for name in names if (value := _number(found[name])) is not None]
        if scalars:
            groups = found.groupdict()
            step, epoch, rank = (counter(groups.get(name)) for name in ("step", "epoch", "rank"))
            rows.add(scalars, step=step, epoch=epoch, rank=rank if rank < 1 << 20 else NONE)
    return rows


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None
