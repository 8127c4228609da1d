"""A script run up to the first fetch of its training, and from there with a kept state and kept batches."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from trueline.model.message import Message
from trueline.record.command import Command
from trueline.record.companion import Companion
from trueline.record.launch import ScriptEnded
from trueline.record.observers import Observers
from trueline.record.randomness import fix_random
from trueline.record.recorded import Recorded
from trueline.record.recording import Recording
from trueline.record.wanted import Wanted
from trueline.replay.injector import Injector
from trueline.replay.reenactment import Reenactment
from trueline.watch.state import Watch
from trueline.watch.watcher import Watcher


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
        companions = [_Replaying(self.replay, self.asked)]
        recording = Recording(self.wanted, lambda said: self._tell(said, warn), root=Path.cwd(), companions=companions)
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


class _Replaying(Companion):
    """Puts the kept state and the kept batches into the framework that they are of."""

    def __init__(self, replay: Reenactment, asked: Asked) -> None:
        self._replay, self._asked = replay, asked

    def observe(self, observers: Observers, recorded: Recorded) -> None:
        """Watched, where that is asked for; what another framework does is only recorded."""
        if self._replay.framework != recorded.adapter.name:
            return
        if self._asked.watch is not None:
            Watcher(recorded, observers, self._asked.watch).join()
        observers.put_last(Injector(recorded, observers, self._replay, self._asked.stop_at, self._asked.float32))
