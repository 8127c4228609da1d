"""Which of the two does the work."""

from __future__ import annotations

from typing import cast

from trueline.kernel import native, twin
from trueline.kernel.library import WANTED, is_loaded
from trueline.kernel.state import Backend

NATIVE = cast(Backend, native)
TWIN = cast(Backend, twin)
_current: Backend = NATIVE if is_loaded() and WANTED else TWIN


def native_available() -> bool:
    """The native code was built and is in use; TRUELINE_KERNEL=numpy turns it off."""
    return _current is NATIVE


def current() -> Backend:
    """The backend in use."""
    return _current


def use(backend: Backend) -> None:
    """Choose the backend for this process."""
    global _current
    _current = backend
