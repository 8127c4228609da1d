"""One array to its fingerprint."""

from __future__ import annotations

import numpy as np

from trueline.kernel.backend import current
from trueline.kernel.dtypes import kind_of


def fingerprint(x: object, *, threads: int | None = None) -> int:
    """The fingerprint that ``summarise`` gives, alone and faster."""
    x = np.asarray(x)
    return current().fingerprint(x, kind_of(x.dtype), threads)
