"""The element types of a .ckpt by MindSpore's names: those that its load_checkpoint takes."""

from __future__ import annotations

from typing import Final

import ml_dtypes
import numpy as np

from trueline.kernel.array import DType

TEXT: Final = "str"
TYPES: Final[dict[str, DType]] = {
    "Bool": np.dtype(bool),
    # Not by its name: MindSpore, once imported, gives NumPy another type of that name.
    "BFloat16": np.dtype(ml_dtypes.bfloat16),
    **{
        name: np.dtype(name.lower())
        for name in (
            *("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"),
            *("Float16", "Float32", "Float64"),
        )
    },
}
NAMES: Final = {dtype: name for name, dtype in TYPES.items()}
