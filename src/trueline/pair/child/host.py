"""Holds the model, and does what it is asked for."""

from __future__ import annotations

import importlib
from typing import Any, Final

from trueline.adapters.guest.importing import Asked
from trueline.adapters.guest.wire import Content
from trueline.adapters.protocol import Adapter
from trueline.kernel.array import Array
from trueline.pair.child.building import build

Answer = tuple[Content, list[Array]]

# What can be asked for, and the file beside this one whose function ``answer_...`` does it: imported when asked.
_ROOMS: Final = {
    "describe": "describing",
    "load": "loading",
    "forward": "running",
    "ops": "running",
    "get": "weights",
    "put": "weights",
    "settle": "settling",
    "record": "recording",
    "trace": "tracing",
    "force": "forcing",
    "run_module": "trying",
    "watch_ops": "op_level",
    "drawn": "initial",
    "parts": "parts",
    "loss": "losses",
    "optimize": "optimizing",
    "schedule": "optimizing",
    "train": "curves",
    "batches": "samples",
    "transform": "samples",
    "metric": "metrics",
    "compiled": "compiled",
    "run_compiled": "compiled",
}


class Host:
    """The model of this process, once it is built; ``kept`` is what one question leaves for a later one."""

    def __init__(self) -> None:
        self.side = ""
        self.model: Any = None
        self.asked: Asked | None = None
        self.kept: dict[str, Any] = {}
        self._adapter: Adapter | None = None

    @property
    def adapter(self) -> Adapter:
        """The adapter of the model's framework."""
        assert self._adapter is not None
        return self._adapter

    def answer(self, content: Content, arrays: list[Array]) -> Answer:
        """Do one thing: ``do`` says which."""
        what = content["do"]
        if what == "build":
            return self._build(content)
        room = importlib.import_module(f"trueline.pair.child.{_ROOMS[what]}")
        found: Answer = getattr(room, f"answer_{what}")(self, content, arrays)
        return found

    def _build(self, content: Content) -> Answer:
        self.side = content["side"]
        self.asked = Asked.arrived(content)
        self.model, self._adapter = build(self.asked)
        self._adapter.steady.work_in_order()
        return {}, []
