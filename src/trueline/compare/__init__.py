"""Two of a kind to a verdict; ``trueline.compare(a, b)`` is this room called as a function."""

from __future__ import annotations

from trueline.model.callable_room import make_callable

make_callable(__name__, "paths.compare")
