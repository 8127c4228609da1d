"""A batch, fingerprinted sample by sample, small enough to keep for every step."""

from __future__ import annotations

import array
import base64
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self


def _pack(kind: str, values: Sequence[Any]) -> str:
    packed = array.array(kind, values)
    if sys.byteorder == "big":
        packed.byteswap()
    return base64.b64encode(packed.tobytes()).decode("ascii")


def _unpack(kind: str, text: object, size: int) -> array.array[Any]:
    unpacked = array.array(kind)
    if not isinstance(text, str):
        raise ValueError("not packed numbers")
    unpacked.frombytes(base64.b64decode(text, validate=True))
    if sys.byteorder == "big":
        unpacked.byteswap()
    if len(unpacked) != size:
        raise ValueError(f"{len(unpacked)} packed numbers for {size} samples")
    return unpacked


@dataclass(frozen=True, slots=True)
class Ends:
    """How long ``value`` stands at either end of each sequence, and how often it is inside of them."""

    value: int
    left: Sequence[int]
    right: Sequence[int]
    inside: int

    def to_json(self) -> dict[str, object]:
        """The JSON shape."""
        return {"value": self.value, "left": list(self.left), "right": list(self.right), "inside": self.inside}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """Read the JSON shape; a KeyError, TypeError or ValueError says what is wrong."""
        left, right = ([int(one) for one in found[side]] for side in ("left", "right"))
        return cls(int(found["value"]), left, right, int(found["inside"]))


def is_index(value: object) -> bool:
    """Whether it is a whole number of 64 bits."""
    return type(value) is int and -(1 << 63) <= value < 1 << 63


def _rows(found: Mapping[str, Any], size: int) -> dict[str, Sequence[int]]:
    rows: dict[str, Sequence[int]] = {str(kind): [int(place) for place in places] for kind, places in found.items()}
    if any(not 0 <= place < size for places in rows.values() for place in places):
        raise ValueError("samples beyond the batch")
    return rows


@dataclass(frozen=True, slots=True)
class SampleField:
    """One field of a batch (image, label …): a number of each kind for every sample.

    ``fingerprints`` find the very same sample again; the statistics, which do not depend on the
    order of elements, find it across frameworks, layouts and rounding. They speak of the finite elements: ``nonfinite``
    are the samples (at most the first of them) with others, by kind: nan, +inf, -inf. ``ends`` is there for a loader's
    first batches, of sequences of whole numbers.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    fingerprints: Sequence[int]
    mean: Sequence[float]
    std: Sequence[float]
    minimum: Sequence[float]
    maximum: Sequence[float]
    nonfinite: Mapping[str, Sequence[int]] = field(default_factory=dict)
    ends: Ends | None = None

    def to_json(self) -> dict[str, object]:
        """The JSON shape; the numbers are base64 of little-endian u64 and f32."""
        return {
            "name": self.name,
            "shape": list(self.shape),
            "dtype": self.dtype,
            "fingerprints": _pack("Q", self.fingerprints),
            "mean": _pack("f", self.mean),
            "std": _pack("f", self.std),
            "min": _pack("f", self.minimum),
            "max": _pack("f", self.maximum),
            **({"nonfinite": {kind: list(rows) for kind, rows in self.nonfinite.items()}} if self.nonfinite else {}),
            **({"ends": self.ends.to_json()} if self.ends is not None else {}),
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any], size: int) -> Self:
        """Read the JSON shape; a ValueError says what is wrong."""
        try:
            return cls(
                str(found["name"]),
                tuple(int(one) for one in found["shape"]),
                str(found["dtype"]),
                _unpack("Q", found["fingerprints"], size),
                _unpack("f", found["mean"], size),
                _unpack("f", found["std"], size),
                _unpack("f", found["min"], size),
                _unpack("f", found["max"], size),
                _rows(found.get("nonfinite") or {}, size),
                Ends.from_json(found["ends"]) if found.get("ends") is not None else None,
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a sample field: {error}") from error


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch's samples: how many, their fields, and the sampler's indexes where visible."""

    size: int
    fields: Sequence[SampleField]
    indexes: Sequence[int] | None = None

    def to_json(self) -> dict[str, object]:
        """The JSON shape."""
        return {
            "size": self.size,
            "fields": [one.to_json() for one in self.fields],
            "indexes": list(self.indexes) if self.indexes is not None else None,
        }

    @classmethod
    def from_json(cls, found: Mapping[str, object]) -> Self:
        """Read the JSON shape; a ValueError says what is wrong."""
        size = found.get("size")
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            raise ValueError("a batch without its size")
        fields, indexes = found.get("fields", []), found.get("indexes")
        if not isinstance(fields, list):
            raise ValueError("a batch whose fields are not a list")
        if indexes is not None and not (isinstance(indexes, list) and all(map(is_index, indexes))):
            raise ValueError("a batch whose indexes are not numbers")
        return cls(size, [SampleField.from_json(one, size) for one in fields], indexes)
