"""Which element types the kernel reads, and their numbers in the native code and the fingerprint."""

from __future__ import annotations

from enum import IntEnum

from trueline.kernel.array import DType
from trueline.model.trouble import Trouble


class UnsupportedDtype(Trouble):
    """An array whose elements are not numbers the kernel knows."""

    def __init__(self, dtype: str) -> None:
        super().__init__("kernel.unsupported_dtype", dtype=dtype)
        self.dtype = dtype


class Kind(IntEnum):
    """The element types; their order is the native code's and part of the fingerprint."""

    BOOL = 0
    I8 = 1
    U8 = 2
    I16 = 3
    U16 = 4
    I32 = 5
    U32 = 6
    I64 = 7
    U64 = 8
    F16 = 9
    BF16 = 10
    F32 = 11
    F64 = 12
    C64 = 13
    C128 = 14


_BY_LETTER = {
    "b1": Kind.BOOL,
    "i1": Kind.I8,
    "u1": Kind.U8,
    "i2": Kind.I16,
    "u2": Kind.U16,
    "i4": Kind.I32,
    "u4": Kind.U32,
    "i8": Kind.I64,
    "u8": Kind.U64,
    "f2": Kind.F16,
    "f4": Kind.F32,
    "f8": Kind.F64,
    "c8": Kind.C64,
    "c16": Kind.C128,
}
NAMES = (
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)
ITEM_SIZE = (1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 8, 16)
_known: dict[DType, int] = {}


def kind_of(dtype: DType) -> int:
    """The Kind of a dtype, whatever its byte order."""
    found = _known.get(dtype)
    return _learn(dtype) if found is None else found


def _learn(dtype: DType) -> int:
    # bfloat16 is known by its name, so that ml_dtypes need not be imported to look.
    kind = Kind.BF16 if dtype.name == "bfloat16" else _BY_LETTER.get(f"{dtype.kind}{dtype.itemsize}")
    if kind is None:
        raise UnsupportedDtype(str(dtype))
    _known[dtype] = int(kind)
    return int(kind)
