"""A recorder that watches: the same watcher, although its hooks come and go with every measured step."""

from __future__ import annotations

from trueline.record.companion import Companion
from trueline.record.observers import Observers
from trueline.record.recorded import Recorded
from trueline.record.recorder import Recorder
from trueline.watch.state import Watch
from trueline.watch.watcher import Watcher


class _SameWatcher(Companion):
    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._watcher: Watcher | None = None

    def observe(self, observers: Observers, recorded: Recorded) -> None:
        if self._watcher is None:
            self._watcher = Watcher(recorded, observers, self._watch)
        self._watcher.recorded, self._watcher.observers = recorded, observers
        self._watcher.join()


def watch_with(recorder: Recorder | None, watch: Watch) -> None:
    """From now on the recorder looks at numbers too."""
    assert recorder is not None
    recorder.companions = [_SameWatcher(watch)]
