"""A script watched from its start to its end, or to the first hit."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueline.model.message import Message
from trueline.record.command import Command
from trueline.record.process_exit import Leaving, before_leaving
from trueline.record.ranks import rank_in_environment, rank_of
from trueline.record.recording import Recording
from trueline.record.run_mode import RunMode
from trueline.record.wanted import Wanted
from trueline.watch.afresh import FROM_THE_START, leave_answer, run_afresh
from trueline.watch.companion import Watching
from trueline.watch.coverage import Coverage

if TYPE_CHECKING:
    from trueline.watch.hit import Hit
    from trueline.watch.state import Watch


class Watched:
    """The run of a script, what was seen in it, and the script's own exit code."""

    def __init__(
        self, command: Command, warn: Callable[[Message], None], root: Path, folder: Path | None = None, **asked: Any
    ) -> None:
        self.command = command
        self.code = 1
        self.hit: Hit | None = None
        self._watching = Watching(self._new_watch)
        self.asked_step = RunMode.of_process().watched
        self.recording: Recording | None = None
        self._warn, self._root, self._folder, self._asked = warn, root, folder, asked

    @property
    def watch(self) -> Watch | None:
        """What was seen; None where no framework has arrived."""
        return self._watching.watch

    def run(self, conclude: Callable[[], int]) -> None:
        """Run it; what is recorded on the way is thrown away where no folder is wanted.

        Where the script leaves its process at once, ``conclude`` is asked from there for the exit code.
        """
        place = Path(tempfile.mkdtemp(prefix="trueline-"))
        wanted = Wanted(self._folder or place / "run", source=self._folder is not None)
        recording = self.recording = Recording(wanted, self._warn, root=self._root, companions=[self._watching])
        recording.begin()

        def leave(leaving: Leaving) -> int:
            self.code = leaving.code
            if leaving.command:
                recording.replaced(leaving.command)
            self._end(recording, place)
            return conclude()

        try:
            with self._own_errors_only(), before_leaving(leave):
                self.code = self.command.run_here()
        finally:
            self._end(recording, place)

    def _end(self, recording: Recording, place: Path) -> None:
        self._watching.script_ended()
        recording.finish(self.code)
        shutil.rmtree(place, ignore_errors=True)
        if self.watch is not None:
            self.watch.ended()
        self.hit = self.watch.hit if self.watch is not None else None
        if self.watch is not None and self.hit is None and not self.needs_another_run:
            self.hit = self.watch.doubtful
        if self.asked_step is not None:
            leave_answer(self.asked_step, self.hit)

    @contextmanager
    def _own_errors_only(self) -> Iterator[None]:
        """An error of a script that does not expect a step to be done again is none of its own."""
        before = sys.excepthook

        def show(*error: Any) -> None:
            if self.watch is None or not self.watch.doing_again:
                before(*error)

        sys.excepthook = show
        try:
            yield
        finally:
            if getattr(sys, "excepthook", None) is show:
                sys.excepthook = before
        if self.watch is not None and self.watch.doing_again and self.code == 1:
            self.code = 0

    def _new_watch(self) -> Watch:
        """NumPy comes with it: it is loaded when a framework is there."""
        from trueline.watch.state import Watch

        step = self.asked_step
        return Watch(
            at=step.at if step is not None else None,
            thrown_away_counts=step is not None and step.thrown_away,
            points=points_of(self._asked.pop("on", ())),
            **self._asked,
        )

    @property
    def coverage(self) -> Coverage:
        """How much of it was looked at."""
        return Coverage.of(self.recording, self.code)

    def write_hits(self) -> None:
        """Into the run folder, if there is one."""
        if self._folder is not None and self.watch is not None:
            from trueline.watch.hits_file import write_hits

            write_hits(self._folder, rank_of(self._watching.adapters)[0], self.watch, self.hit)

    @property
    def needs_another_run(self) -> bool:
        """Whether something went wrong that this run could not pin down; one of several ranks cannot be run alone."""
        found = self.watch
        alone = rank_in_environment()[1] == 1
        return (
            found is not None and self.hit is None and found.wrong_at is not None and self.asked_step is None and alone
        )

    def run_again(self) -> None:
        """The script once more, to the step that went wrong."""
        if self.watch is not None and self.watch.wrong_at is not None:
            # What was made in the step before may be what went wrong.
            begin = max(self.watch.wrong_from - 1, 0 if self.watch.announced else FROM_THE_START)
            lost = self.watch.ended_by_loss is not None
            found = run_afresh(self.command, begin, self._asked.get("limit"), thrown_away=lost)
            self.hit = found or self.watch.doubtful


def points_of(on: Sequence[str]) -> Any:
    """The watchpoints by their ids and limits; "recommended" stands for the usual ones."""
    if not on:
        return None
    from trueline.watch.points import Points, parse, recommended

    chosen = [parse(text) for text in on if text != "recommended"]
    if "recommended" in on:
        known = {point.id for point in chosen}
        chosen += [point for point in recommended(("tanh", "sigmoid", "relu")) if point.id not in known]
    return Points(chosen)
