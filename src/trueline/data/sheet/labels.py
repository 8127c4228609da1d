"""Labels as they can be counted and shown: one plain value for each sample, whatever a dataset keeps them as."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from trueline.data.source import Picture

Label = int | float | str | None
_VALUES: Final = 6
_LONGEST: Final = 200


def told_label(value: object) -> Label:
    """A whole number, a text, or None where there is none; a fraction stays one, and is no class."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | str | None):
        return value if not isinstance(value, str) else value[:_LONGEST]
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else int(value) if value.is_integer() else value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")[:_LONGEST]
    if isinstance(value, np.ndarray | list | tuple):
        return _of_several(value)
    if isinstance(value, Picture):
        return value.place
    return str(value)[:_LONGEST]


def _of_several(value: object) -> Label:
    """The place of the one of a one-hot vector; of any other the first values."""
    try:
        array = np.asarray(value)
    except ValueError:
        return str(value)[:_LONGEST]
    if array.size == 1:
        return told_label(array.reshape(-1)[0])
    if array.ndim == 1 and array.dtype.kind in "biuf" and np.isin(array, (0, 1)).all() and array.sum() == 1:
        return int(array.argmax())
    shown = [str(told_label(element)) for element in array.reshape(-1)[:_VALUES]]
    return f"[{' '.join(shown)}{' …' if array.size > _VALUES else ''}]"


def is_class(label: Label) -> bool:
    """Whether samples can have this label in common."""
    return not isinstance(label, float)


def in_order(labels: Sequence[Label]) -> list[Label]:
    """Numbers by size, then texts, then samples without one."""
    return sorted(labels, key=lambda label: (label is None, isinstance(label, str), label if label is not None else 0))
