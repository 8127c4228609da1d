"""A recorder that watches: the same feed, although its hooks come and go with every measured step."""

from __future__ import annotations

from trueline.record.recorder import Recorder
from trueline.watch.state import Watch
from trueline.watch.watcher import WatchFeed


def watch_with(recorder: Recorder | None, watch: Watch) -> None:
    """From now on the recorder looks at numbers too."""
    assert recorder is not None
    feeds: list[WatchFeed] = []

    def feed(found: object, adapter: object) -> WatchFeed:
        if not feeds:
            feeds.append(WatchFeed(found, adapter, watch))  # type: ignore[arg-type]
        return feeds[0]

    recorder.feed = feed
