"""A batch, row by row."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from trueline.kernel.array import Array
from trueline.kernel.backend import current
from trueline.kernel.chunks import CHUNK_SEGMENTS, SEGMENT_BYTES, is_plain
from trueline.kernel.dtypes import kind_of
from trueline.kernel.state import RowStats
from trueline.kernel.summaries import summarise


def describe_rows(x: object) -> RowStats:
    """Fingerprint, mean, std, minimum and maximum of every row ``x[i]``, as ``summarise`` gives them."""
    x = np.asarray(x)
    if x.ndim == 0:
        raise ValueError("a batch has at least one dimension")
    kind = kind_of(x.dtype)
    if is_plain(x):
        found = current().describe_rows(x, kind)
    elif len(x) and x.nbytes // len(x) > CHUNK_SEGMENTS * SEGMENT_BYTES:
        found = _one_by_one(x)
    else:
        found = _copied(x, kind)
    _put_right(x, found)
    return found


def _copied(x: Array, kind: int) -> RowStats:
    rows = max(1, CHUNK_SEGMENTS * SEGMENT_BYTES // max(1, x.nbytes // max(1, len(x))))
    parts = [
        current().describe_rows(np.array(x[start : start + rows], x.dtype.newbyteorder("="), order="C"), kind)
        for start in range(0, max(1, len(x)), rows)
    ]
    return RowStats(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(RowStats)))


def _one_by_one(x: Array) -> RowStats:
    summaries = [summarise(row) for row in x]
    return RowStats(
        np.array([summary.fingerprint for summary in summaries], np.uint64),
        np.array([summary.mean for summary in summaries]).astype(np.float32),
        np.array([summary.std for summary in summaries]).astype(np.float32),
        np.array([summary.minimum for summary in summaries]).astype(np.float32),
        np.array([summary.maximum for summary in summaries]).astype(np.float32),
    )


def _put_right(x: Array, found: RowStats) -> None:
    """Rows of doubles too large to be summed plainly are summarised apart."""
    with np.errstate(over="ignore"):
        for row in np.flatnonzero(~(np.isfinite(found.mean) & np.isfinite(found.std))):
            summary = summarise(x[row])
            found.mean[row], found.std[row] = summary.mean, summary.std
