"""``with trueline.watch() as watched``: watching a loop of one's own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from trueline.adapters.protocol import Adapter
from trueline.model.finding import Finding
from trueline.record.recorder import Recorder
from trueline.record.recording import Recording
from trueline.record.session import warn
from trueline.record.wanted import Wanted
from trueline.watch.coverage import Coverage
from trueline.watch.hit import Hit
from trueline.watch.report import findings
from trueline.watch.running import points_of
from trueline.watch.state import Watch, WatchEnded
from trueline.watch.watcher import WatchFeed


class WatchedBlock:
    """What was seen in a block; ``hit`` is the first number that is not finite, None where there is none."""

    def __init__(self, watch: Watch, recording: Recording) -> None:
        self._watch, self._recording = watch, recording

    @property
    def hit(self) -> Hit | None:
        """The first hit."""
        return self._watch.hit or self._watch.doubtful

    @property
    def steps(self) -> int:
        """How many training steps were watched."""
        return self._watch.steps

    @property
    def findings(self) -> list[Finding]:
        """All there is to say, watchpoints too."""
        return findings(self._watch, self.hit, Coverage.of(self._recording))


@contextmanager
def watch(
    *, limit: float | None = None, on: Sequence[str] = (), go_on: bool = False, replay: bool = True
) -> Iterator[WatchedBlock]:
    """Watch all training inside the block; at the first hit the rest of the block is left out.

    The options are those of ``trueline watch``. A hit that cannot be found by doing the step again is told without its
    operator, since a block cannot be run afresh.
    """
    state = Watch(replay=replay, limit=limit, go_on=go_on, points=points_of(on))
    place = Path(tempfile.mkdtemp(prefix="trueline-"))
    feeds: list[WatchFeed] = []

    def feed(recorder: Recorder, adapter: Adapter) -> WatchFeed:
        feeds.append(WatchFeed(recorder, adapter, state))
        return feeds[-1]

    recording = Recording(Wanted(place / "run", source=False), warn, feed=feed)
    recording.begin()
    try:
        yield WatchedBlock(state, recording)
    except WatchEnded:
        pass
    finally:
        state.script_over = True
        for watching in feeds:
            watching.script_ended()
        recording.finish(0)
        state.ended()
        shutil.rmtree(place, ignore_errors=True)
