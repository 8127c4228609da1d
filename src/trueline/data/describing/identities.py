"""Fields that number or name each sample: they would make any two samples differ."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from trueline.data.source import Column, Source

_NAMES: Final = re.compile(r"(unnamed: ?\d+|(.*[_ ])?(id|uuid|guid)|index|idx|row|no|number|file_?name|path|key)")


def is_identity(name: str, values: Column) -> bool:
    """Whether a field is called like a number or name of samples and no two of these values are the same."""
    if not _NAMES.fullmatch(name.strip().lower() or "id"):
        return False
    known = [value for value in (values.tolist() if isinstance(values, np.ndarray) else values) if value is not None]
    return len(known) > 1 and len({str(value) for value in known}) == len(known)


def left_out(source: Source, label: str | None) -> list[str]:
    """Such fields of a source, by its first chunk; never all of them."""
    named: Sequence[str] = [
        name for name in source.fields if name != label and _NAMES.fullmatch(name.strip().lower() or "id")
    ]
    if not named or len(named) >= len(source.fields) - (label is not None):
        return []
    first = next(iter(source.chunks(named)), None)
    return [] if first is None else [name for name in named if is_identity(name, first.columns[name])]
