"""scikit-learn's digits, 8x8 with 17 grey levels: real images, small enough for a test."""

from __future__ import annotations

import gzip
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


@cache
def digits() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """(images of 0 to 255, labels), 1797 of them; from the file itself: importing scikit-learn takes seconds."""
    (folder,) = find_spec("sklearn").submodule_search_locations  # type: ignore[union-attr, misc]
    with gzip.open(Path(folder) / "datasets/data/digits.csv.gz", "rt") as file:
        table = np.loadtxt(file, delimiter=",")
    return (table[:, :-1].reshape(-1, 8, 8) * 15.9375).astype(np.uint8), table[:, -1].astype(np.int64)


def joined(source: Any, field: str) -> Any:
    """All values of a field, chunk by chunk; the chunks follow on each other."""
    at, parts = 0, []
    for chunk in source.chunks([field]):
        assert chunk.start == at
        assert list(chunk.columns) == [field]
        assert len(chunk.columns[field]) == chunk.size
        at += chunk.size
        parts.append(chunk.columns[field])
    if all(isinstance(one, np.ndarray) for one in parts):
        return np.concatenate(parts)
    return [value for part in parts for value in part]
