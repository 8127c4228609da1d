"""A script run up to the first fetch of its training, and from there with a kept state and kept batches."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trueline.model.message import Message
from trueline.record.again import Command
from trueline.record.feed import Feed
from trueline.record.launch import ScriptEnded
from trueline.record.randomness import fix_random
from trueline.record.recording import Recording
from trueline.record.wanted import Wanted
from trueline.replay.injecting import ReplayFeed, WatchedReplayFeed
from trueline.replay.reenactment import Reenactment
from trueline.watch.state import Watch


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be seen of a replay, beyond that it is recorded."""

    watch: Watch | None = None
    stop_at: int | None = None
    float32: bool = False


class Replayed:
    """One replay: what it has recorded, and the script's own exit code."""

    def __init__(self, command: Command, replay: Reenactment, asked: Asked, wanted: Wanted) -> None:
        self.replay, self.asked, self.wanted = replay, asked, wanted
        self.code = 1
        self.off: Message | None = None
        self._command, self._running = command, False

    def run(self, warn: Callable[[Message], None]) -> None:
        """Run it, in the folder where the run was started."""
        os.chdir(self._command.folder)
        if self.wanted.seed is not None:
            fix_random(self.wanted.seed)
        recording = Recording(self.wanted, lambda said: self._tell(said, warn), root=Path.cwd(), feed=self._feed)
        recording.begin()
        try:
            self._running = True
            self.code = self._command.run_here()
        finally:
            self._running = False
            recording.finish(self.code)

    def _tell(self, said: Message, warn: Callable[[Message], None]) -> None:
        if not said.id.startswith("record.off"):
            warn(said)
            return
        self.off = said
        if self._running:
            # With nothing handed to it, the script would go on training by itself.
            raise ScriptEnded

    def _feed(self, recorder: Any, adapter: Any) -> Any:
        if self.replay.framework != adapter.name:
            return Feed(recorder, adapter)
        made = (
            ReplayFeed(recorder, adapter, self.replay)
            if self.asked.watch is None
            else WatchedReplayFeed(recorder, adapter, self.replay, self.asked.watch)
        )
        made.stop_at, made.in_float32 = self.asked.stop_at, self.asked.float32
        return made
