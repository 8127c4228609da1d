"""Arrays to Summary and Distance: native code, with a chunked NumPy twin as fallback and oracle."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from trueline.kernel.stopping import stopping

if TYPE_CHECKING:
    from trueline.kernel.backend import native_available
    from trueline.kernel.chunks import Parts, pieces
    from trueline.kernel.distances import distance
    from trueline.kernel.dtypes import UnsupportedDtype
    from trueline.kernel.fingerprints import fingerprint
    from trueline.kernel.rows import describe_rows
    from trueline.kernel.state import RowStats
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
# Loaded when first asked for: files are read and hashed without NumPy, which takes longer to load than many of them.
_PLACES: Final = {
    "Parts": "chunks",
    "RowStats": "state",
    "UnsupportedDtype": "dtypes",
    "describe_rows": "rows",
    "distance": "distances",
    "fingerprint": "fingerprints",
    "native_available": "backend",
    "pieces": "chunks",
    "summarise": "summaries",
}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'trueline.kernel' has no attribute {name!r}")
    found = getattr(import_module(f"trueline.kernel.{_PLACES[name]}"), name)
    globals()[name] = found
    return found
