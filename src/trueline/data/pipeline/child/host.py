"""Holds the pipeline, and looks at what it is asked for."""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from trueline.adapters.guest.importing import Asked
from trueline.adapters.guest.wire import Content
from trueline.adapters.pipeline import Opened
from trueline.adapters.protocol import Adapter
from trueline.data.pipeline.child.births import Births
from trueline.data.pipeline.child.building import NotBuilt, build, not_built, pipelines_of
from trueline.data.pipeline.child.chance import Chance
from trueline.data.pipeline.child.failing import failure
from trueline.data.pipeline.child.fields import Reader
from trueline.data.pipeline.child.meter import Meter, State
from trueline.data.pipeline.journal import Journal
from trueline.kernel.array import Array

Answer = tuple[Content, list[Array]]

# What can be asked for, and the file beside this one whose function ``answer_...`` does it.
_ROOMS: Final = {
    "operators": "walking",
    "walk": "walking",
    "trace": "tracing",
    "length": "length",
    "order": "order",
    "epochs": "order",
    "repeat": "repeating",
    "workers": "workers",
    "run": "running",
    "passage": "passage",
    "onward": "passage",
}


@dataclass(slots=True)
class Kept:
    """What a question leaves for a later one: samples' marks, those that did not fail, the steps they took."""

    marks: dict[int, int] = field(default_factory=dict)
    good: Sequence[int] = ()
    path: Sequence[State] = ()


class Host:
    """The pipeline of this process, once it is built; ``kept`` is what one question leaves for a later one."""

    def __init__(self) -> None:
        self.kept = Kept()
        self._opened: Opened | None = None
        self._adapter: Adapter | None = None
        self._journal: Journal | None = None
        self._meter: Meter | None = None

    @property
    def adapter(self) -> Adapter:
        """The adapter of the pipeline's framework."""
        assert self._adapter is not None
        return self._adapter

    @property
    def opened(self) -> Opened:
        """The pipeline."""
        assert self._opened is not None
        return self._opened

    @property
    def journal(self) -> Journal:
        """Where it is written down what is under way."""
        assert self._journal is not None
        return self._journal

    @property
    def meter(self) -> Meter:
        """What every operator's call goes through."""
        assert self._meter is not None
        return self._meter

    @property
    def reader(self) -> Reader:
        """Values as arrays."""
        return Reader(self.adapter.values.is_tensor, self.adapter.values.to_numpy)

    def answer(self, content: Content, arrays: list[Array]) -> Answer:
        """Do one thing: ``do`` says which."""
        what = content["do"]
        try:
            if what == "build":
                return self._build(content)
            room = importlib.import_module(f"trueline.data.pipeline.child.{_ROOMS[what]}")
            found: Answer = getattr(room, f"answer_{what}")(self, content, arrays)
            return found
        finally:
            if self._journal is not None:
                self._journal.rest()

    def _build(self, content: Content) -> Answer:
        kwargs = content["kwargs"]
        self._journal = Journal(Path(kwargs["journal"]), kwargs["limit"], kwargs["building"])
        self.kept = Kept()
        births = Births()
        try:
            given, self._adapter = build(Asked.arrived({**content, "kwargs": {}}), self._journal, births)
            pipelines = pipelines_of(self._adapter.name)
            opened: Opened = pipelines.opened(given, births.line)
            # The dataset is asked for its length.
            with not_built():
                facts = opened.facts()
        except NotBuilt as raised:
            traceback.print_exception(raised.error)
            return {"failed": failure(raised.error, "building", None)}, []
        self._opened = opened
        self._meter = Meter(self.reader, self._journal, Chance(pipelines))
        return {"framework": self._adapter.name, "facts": facts}, []
