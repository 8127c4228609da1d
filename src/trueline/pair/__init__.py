"""Users' models, each in a process of its own; ``trueline.pair(bench=…, port=…)`` is this room called as a function."""

from __future__ import annotations

from trueline.model.callable_room import make_callable

make_callable(__name__, "api.pair")
