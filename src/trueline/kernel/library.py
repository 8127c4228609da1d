"""The native library, found and loaded once; without NumPy, which not all that it does has need of."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import Any, Final

LIBRARY: Final = Path(__file__).with_name("_native.so")
WANTED: Final = os.environ.get("TRUELINE_KERNEL") != "numpy"
_P, _U, _I, _D = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int, ctypes.c_double
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "tl_summary_start": (None, [_P]),
    "tl_summary_add": (_I, [_P, _U, _I, _U, _D, _I, _P]),
    "tl_summary_whole": (_I, [_P, _U, _I, _I, _P]),
    "tl_hash_add": (_I, [_P, _U, _U, _I, _P]),
    "tl_hash_finish": (_U, [_U, _U, _I]),
    "tl_describe_rows": (None, [_P, _U, _U, _I, _P, _P, _P, _P, _P]),
    "tl_distance_start": (None, [_P]),
    "tl_distance_add": (_I, [_P, _I, _P, _I, _U, _U, _P, _I, _P]),
    "tl_read_files": (_U, [ctypes.c_char_p, ctypes.c_char_p, _U, _P, _U, _U, _P, _P, _P]),
    "tl_md5_many": (None, [_P, _P, _P, _U, _P]),
    "tl_choose_lanes": (_I, [_I]),
}


def _load() -> Any:
    # Fingerprint and MD5 are defined over little-endian words, which the native code takes for granted.
    if sys.byteorder != "little" or not LIBRARY.exists():
        return None
    try:
        library = ctypes.CDLL(str(LIBRARY))
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError):
        # Built for another machine or an older TrueLine: the twin gives the same answers.
        return None
    return library


library: Final = _load()


def is_loaded() -> bool:
    """The library was built and fits."""
    return library is not None


def choose_lanes(best: bool) -> bool:
    """Use the CPU's best lanes or the baseline's; says whether the best are in use."""
    return bool(library.tl_choose_lanes(int(best)))
