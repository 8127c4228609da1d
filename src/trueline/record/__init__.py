"""Live training to a run folder; ``trueline.record(...)`` is this room called as a function."""

from __future__ import annotations

from trueline.model.callable_room import make_callable

make_callable(__name__, "session.record")
