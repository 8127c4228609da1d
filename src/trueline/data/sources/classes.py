"""Labels by the names of their classes, as files beside the data give them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from trueline.data.source import Column
from trueline.formats.files import open_file
from trueline.kernel.array import Array

_MOST_BYTES: Final = 1 << 20


def lines_of(path: Path) -> list[str]:
    """The lines of a text that say something."""
    with open_file(path) as file:
        text = file.read(_MOST_BYTES).decode("utf-8", "replace")
    return [splitline.strip() for splitline in text.splitlines() if splitline.strip()]


def naming(names: Sequence[str]) -> Callable[[Column], Column]:
    """What makes names of numbers; a number that no class has stays one."""
    return partial(_named, list(names))


def _named(names: Sequence[str], found: object) -> Column:
    values: Array = np.asarray(found)
    if not names:
        return values.astype(np.int64)
    return [names[number] if 0 <= number < len(names) else number for number in values.tolist()]
