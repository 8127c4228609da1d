"""Holds the model, and does what it is asked for."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from trueline.adapters.protocol import Adapter
from trueline.pair.child.building import build
from trueline.pair.child.faults import said_for
from trueline.pair.wire import Array, Content

Answer = tuple[Content, list[Array]]


class Host:
    """The model of this process, once it is built."""

    def __init__(self) -> None:
        self.side = ""
        self.model: Any = None
        self._adapter: Adapter | None = None

    @property
    def adapter(self) -> Adapter:
        """The adapter of the model's framework."""
        assert self._adapter is not None
        return self._adapter

    def answer(self, content: Content, arrays: list[Array]) -> Answer:
        """Do one thing: ``do`` says which."""
        asked: dict[str, Any] = {
            "build": self._build,
            "describe": self._describe,
            "load": self._load,
            "forward": self._forward,
            "ops": self._ops,
        }
        found: Answer = asked[content["do"]](content, arrays)
        return found

    def _build(self, content: Content, _: list[Array]) -> Answer:
        self.side = content["side"]
        folder = Path(content["folder"])
        os.chdir(folder)
        sys.path.insert(0, str(folder))
        self.model, self._adapter = build(
            self.side, content["module"], content["name"], is_file=content["is_file"], folder=folder
        )
        return {}, []

    def _describe(self, content: Content, _: list[Array]) -> Answer:
        from trueline.pair.child.describing import describe

        return {"described": describe(self.side, self.model, self.adapter, summaries=content["summaries"])}, []

    def _load(self, content: Content, _: list[Array]) -> Answer:
        from trueline.pair.child.loading import load

        return {"loaded": load(self.side, self.model, self.adapter, Path(content["path"]), content["strict"])}, []

    def _ops(self, _: Content, arrays: list[Array]) -> Answer:
        from trueline.pair.child.running import ops

        with said_for(self.side, "running"):
            return {"ops": ops(self.model, self.adapter, arrays)}, []

    def _forward(self, content: Content, arrays: list[Array]) -> Answer:
        from trueline.pair.child.running import forward

        with said_for(self.side, "running"):
            return {}, forward(
                self.model,
                self.adapter,
                arrays,
                train=content["train"],
                seed=content["perturbed"],
                ulps=content["ulps"],
            )
