"""What a pickle of weights is made of: inert stand-ins for storages, tensors, types and NumPy's values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import ml_dtypes
import numpy as np

from trueline.formats.pth.machine import Made
from trueline.formats.pth.trouble import BadPickle
from trueline.kernel.array import DType

_MAX_DIMENSIONS: Final = 32

DTYPES: Final[dict[str, DType]] = {
    **{name: np.dtype(name) for name in ("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32")},
    **{name: np.dtype(name) for name in ("uint64", "int64", "float16", "float32", "float64")},
    **{name: np.dtype(name) for name in ("complex64", "complex128")},
    **{
        name: np.dtype(getattr(ml_dtypes, name))
        for name in (
            *("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"),
            "float8_e8m0fnu",
        )
        # Older releases of ml_dtypes lack some.
        if hasattr(ml_dtypes, name)
    },
}
STORAGES: Final = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "BFloat16Storage": "bfloat16",
    "ComplexDoubleStorage": "complex128",
    "ComplexFloatStorage": "complex64",
}


@dataclass(frozen=True, slots=True)
class StorageType(Made):
    """A kind of storage; without a dtype its elements are bytes."""

    dtype: DType | None


@dataclass(frozen=True, slots=True)
class TensorType(Made):
    """torch's name of a dtype."""

    name: str


@dataclass(frozen=True, slots=True)
class Storage(Made):
    """A stretch of elements; ``count`` is in elements of its dtype, or in bytes."""

    key: str
    dtype: DType | None
    count: int

    @property
    def nbytes(self) -> int:
        """How many bytes it has."""
        return self.count * (self.dtype.itemsize if self.dtype is not None else 1)


@dataclass(frozen=True, slots=True)
class Tensor(Made):
    """A view of a storage; offset and strides are in elements."""

    storage: Storage
    dtype: DType
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def build(self, state: object) -> None:
        """Attributes set by hand change no element."""


@dataclass(frozen=True, slots=True)
class Plain(Made):
    """A value that is only shown: a device, a NumPy array."""

    text: str


def counts(found: object) -> tuple[int, ...]:
    """A shape or strides, checked."""
    if not isinstance(found, (tuple, list)) or len(found) > _MAX_DIMENSIONS:
        raise BadPickle("shape")
    if not all(type(one) is int and 0 <= one < 1 << 62 for one in found):
        raise BadPickle("shape")
    return tuple(found)


def tensor(storage: object, offset: object, shape: object, strides: object, dtype: DType | None = None) -> Tensor:
    """A tensor of a storage, which need not know its dtype."""
    if not isinstance(storage, Storage) or type(offset) is not int or not 0 <= offset < 1 << 62:
        raise BadPickle("tensor")
    kind = dtype or storage.dtype
    sides, steps = counts(shape), counts(strides)
    if kind is None or len(sides) != len(steps):
        raise BadPickle("tensor")
    return Tensor(storage, kind, offset, sides, steps)
