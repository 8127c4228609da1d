"""Arrays to Summary and Distance: native code, with a chunked NumPy twin as fallback and oracle."""

from __future__ import annotations

from trueline.kernel.backend import native_available
from trueline.kernel.chunks import Parts, pieces
from trueline.kernel.distances import distance
from trueline.kernel.dtypes import UnsupportedDtype
from trueline.kernel.fingerprints import fingerprint
from trueline.kernel.rows import describe_rows
from trueline.kernel.state import RowStats
from trueline.kernel.stopping import stopping
from trueline.kernel.summaries import summarise

__all__ = [
    "Parts",
    "RowStats",
    "UnsupportedDtype",
    "describe_rows",
    "distance",
    "fingerprint",
    "native_available",
    "pieces",
    "stopping",
    "summarise",
]
