"""The names that a safetensors file has for types, and for files."""

from __future__ import annotations

from typing import Final

import ml_dtypes
import numpy as np

from trueline.kernel.array import DType

INDEX: Final = ".safetensors.index.json"
METADATA: Final = "__metadata__"

TYPES: Final[dict[str, DType]] = {
    "BOOL": np.dtype(np.bool_),
    "U8": np.dtype(np.uint8),
    "I8": np.dtype(np.int8),
    "F8_E4M3": np.dtype(ml_dtypes.float8_e4m3fn),
    "F8_E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "U16": np.dtype(np.uint16),
    "I16": np.dtype(np.int16),
    "F16": np.dtype(np.float16),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "U32": np.dtype(np.uint32),
    "I32": np.dtype(np.int32),
    "F32": np.dtype(np.float32),
    "U64": np.dtype(np.uint64),
    "I64": np.dtype(np.int64),
    "F64": np.dtype(np.float64),
    "C64": np.dtype(np.complex64),
}
# Older releases of ml_dtypes lack them.
for _name, _type in (
    ("F8_E8M0", "float8_e8m0fnu"),
    ("F8_E4M3FNUZ", "float8_e4m3fnuz"),
    ("F8_E5M2FNUZ", "float8_e5m2fnuz"),
):
    if hasattr(ml_dtypes, _type):
        TYPES[_name] = np.dtype(getattr(ml_dtypes, _type))
# Types of the format whose elements are smaller than a byte, or that this release of ml_dtypes lacks.
UNREAD: Final = {"F4", "F6_E2M3", "F6_E3M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"} - TYPES.keys()

# The library reads C64 since its release 0.7, F8_E8M0 since 0.6 and the FNUZ types since 0.8; MindSpore reads none of
# them, nor any other float8.
NAMES: Final[dict[DType, str]] = {dtype: name for name, dtype in TYPES.items()}
