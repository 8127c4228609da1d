"""A batch of any structure, sample by sample."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from trueline.adapters.nouns import Expanded, Unreadable, Value
from trueline.adapters.protocol import Values
from trueline.adapters.tree import leaves
from trueline.kernel import describe_rows
from trueline.kernel.array import Array
from trueline.model.sample import Batch, SampleField
from trueline.record.padding import ends_of

_MAX_FIELDS: Final = 16
# Samples that are named of those with numbers that are not finite.
_MAX_SAMPLES: Final = 64


@dataclass(frozen=True, slots=True)
class Laid:
    """A batch laid out: arrays with one row for each of ``size`` samples, by name, and its texts.

    ``left_out`` are the names of fields that would take many times what is stored of them.
    """

    size: int
    arrays: list[tuple[str, Array]]
    texts: list[str]
    left_out: Sequence[str] = ()

    @property
    def bytes(self) -> int:
        """How much memory the arrays take."""
        return sum(int(array.nbytes) for _, array in self.arrays)


def lay_out(batch: Value, values: Values, indexes: Sequence[int] | None) -> Laid:
    """Every field of a batch that has one row per sample; the arrays may share its memory."""
    arrays: list[tuple[str, Array]] = []
    left_out: list[str] = []
    for name, found in leaves(batch, lambda leaf: values.is_tensor(leaf) or isinstance(leaf, np.ndarray | str)):
        if not isinstance(found, str):
            try:
                array = found if isinstance(found, np.ndarray) else values.to_numpy(found)
            except Expanded:
                left_out.append(name)
                continue
            except Unreadable:
                continue
            if array.ndim and array.dtype.kind not in "OSUM":
                arrays.append((name, array))
    lengths = [array.shape[0] for _, array in arrays]
    size = len(indexes) if indexes is not None and len(indexes) in lengths else lengths[0] if lengths else 0
    kept = [(name, array) for name, array in arrays[:_MAX_FIELDS] if array.shape[0] == size]
    texts = _texts(batch)
    if texts and (not arrays or len(texts) == size):
        return Laid(len(texts), kept, texts, left_out)
    return Laid(size, kept, [], left_out)


def describe_batch(laid: Laid, indexes: Sequence[int] | None, *, closely: bool = False) -> Batch:
    """Fingerprints and statistics of every sample in every field; ``closely`` also what fills sequences up."""
    fields = [_field(name, array, closely) for name, array in laid.arrays]
    if laid.texts:
        fields.append(_text_field(laid.texts))
    if indexes is not None and len(indexes) != laid.size:
        indexes = None
    return Batch(laid.size, fields, indexes)


def _field(name: str, array: Array, closely: bool) -> SampleField:
    rows = describe_rows(array)
    return SampleField(
        name,
        tuple(array.shape[1:]),
        str(array.dtype),
        rows.fingerprints.tolist(),
        rows.mean.tolist(),
        rows.std.tolist(),
        rows.minimum.tolist(),
        rows.maximum.tolist(),
        _nonfinite(array),
        ends_of(array) if closely else None,
    )


def _nonfinite(array: Array) -> dict[str, list[int]]:
    """The samples with elements that are not finite; one pass that is much quicker than looking at each."""
    if array.dtype.kind != "f" or not array.size:
        return {}
    with np.errstate(all="ignore"):
        if np.isfinite(np.add.reduce(array, axis=None, dtype=np.float64 if array.itemsize > 4 else np.float32)):
            return {}
    flat = array.reshape(len(array), -1)
    found = {"nan": np.isnan(flat), "+inf": np.isposinf(flat), "-inf": np.isneginf(flat)}
    rows = {kind: np.flatnonzero(bad.any(1))[:_MAX_SAMPLES].tolist() for kind, bad in found.items()}
    return {kind: some for kind, some in rows.items() if some}


def _texts(batch: Value) -> list[str]:
    """The first list of strings in a batch of texts."""
    try:
        return _strings(batch)
    except Exception:  # noqa: BLE001 - a batch may hold anything
        return []


def _strings(batch: Value) -> list[str]:
    parts = batch.values() if isinstance(batch, dict) else batch if isinstance(batch, list | tuple) else ()
    for part in (batch, *parts):
        if isinstance(part, list | tuple) and part and all(isinstance(text, str) for text in part):
            return list(part)
    return []


def _text_field(texts: list[str]) -> SampleField:
    marks = [int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") for text in texts]
    lengths = [float(len(text)) for text in texts]
    nothing = [0.0] * len(texts)
    return SampleField("text", (), "str", marks, lengths, nothing, lengths, lengths)
