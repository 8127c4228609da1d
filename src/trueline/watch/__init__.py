"""The first NaN or Inf, and watchpoints: cheaply, and op by op where it went wrong; ``trueline.watch(...)``."""

from __future__ import annotations

from trueline.model.callable_room import make_callable

make_callable(__name__, "session.watch")
