"""One recording in one process: from its first framework to its end, or until it goes off."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Final

from trueline.adapters.child_processes import NOTICE as SPAWNED
from trueline.adapters.patching import no_child_has_trained
from trueline.adapters.protocol import Adapter, Installed
from trueline.model.describing import described
from trueline.model.descriptor import DescriptorLost
from trueline.model.key import Phase
from trueline.model.message import Message, message
from trueline.model.run import RunInfo
from trueline.record.companion import Companion
from trueline.record.guard import guarded, turn_off
from trueline.record.kept import Kept
from trueline.record.observers import Observers
from trueline.record.open_step import OpenStep
from trueline.record.project import Project
from trueline.record.sink import Sink
from trueline.record.step_boundaries import Events, StepBoundaries
from trueline.record.training import Training
from trueline.record.wanted import Wanted

# Room for turning off where memory has run out: two of the pieces in which Python asks for it. Never touched, it costs
# none.
_SPARE_BYTES: Final = 2 << 20
_MAX_REASON_CHARACTERS: Final = 300
Subscriber = Callable[[Phase, int, Events], None]


class _Listening:
    """Hooks in place, and what they have begun to look at."""

    def __init__(self, hooks: Installed, end: Callable[[], None]) -> None:
        self._hooks, self._end = hooks, end

    def remove(self) -> None:
        """Take both away."""
        try:
            self._end()
        finally:
            self._hooks.remove()


class Recorder:
    """Joins step boundaries, what is kept, and the sink.

    After any trouble it is off, has warned once, and training goes on.
    """

    def __init__(
        self,
        wanted: Wanted,
        info: RunInfo,
        project: Project,
        warn: Callable[[Message], None],
        companions: Sequence[Companion] = (),
    ) -> None:
        self.wanted = wanted
        self.on = True
        self.lock: AbstractContextManager[object] = threading.RLock()
        self.training = Training(project)
        self.boundaries = StepBoundaries(self.training, wanted.captures, self._write, self._over)
        self.kept = Kept(wanted, self.training, self.boundaries)
        self.companions = companions
        self._sink = Sink(wanted, info, self.training)
        self._process = os.getpid()
        self._warn = warn
        self._spare = bytes(_SPARE_BYTES)
        self._installed: list[Installed] = []
        self._subscribers: list[Subscriber] = []
        no_child_has_trained()

    # ---- beginning

    def listen(self, adapter: Adapter) -> Installed:
        """Put a framework's hooks in place; removing them again pauses the recording."""
        from trueline.record.recorded import Recorded

        if adapter not in self.training.adapters:
            self.training.adapters.append(adapter)
            self.boundaries.attach(adapter)
        observers = Observers(self)
        recorded = Recorded(self, adapter, observers)
        for companion in self.companions:
            companion.observe(observers, recorded)
        observers.bind()
        hooks = partial(adapter.hooks.install, observers)
        for companion in self.companions:
            hooks = partial(companion.install, adapter, hooks)
        return _Listening(hooks(), recorded.operators.end)

    def attach(self, adapter: Adapter) -> None:
        """Listen to a framework from now on."""
        try:
            self._installed.append(self.listen(adapter))
        except Exception as error:  # noqa: BLE001 - a framework of an unknown version must still train
            turn_off(self, error)

    def subscribe(self, subscriber: Subscriber) -> None:
        """Be told of every finished step: its phase, number and events."""
        self._subscribers.append(subscriber)

    # ---- steps

    def _write(self, step: OpenStep, phase: Phase, number: int) -> Events:
        kept = self.kept.finished(step, phase, number)
        self._sink.write(kept)
        return kept.events

    def _over(self, phase: Phase, number: int, events: Events) -> None:
        self.kept.forget_step()
        for subscriber in self._subscribers:
            subscriber(phase, number, events)

    @guarded
    def note(self, said: Message) -> None:
        """Say, from outside of the hooks, what could not be captured."""
        self.kept.notice(said.id, **said.params)

    @property
    def finished(self) -> int:
        """How many training steps were written."""
        return self.boundaries.steps[Phase.TRAIN]

    @property
    def has_written(self) -> bool:
        """Whether a step was finished, or is about to be."""
        return self._sink.is_open or self.boundaries.open.active

    def rank_folder(self) -> Path:
        """This process's part of the run folder."""
        return self._sink.folder

    # ---- the end

    def finish(self, exit_code: int | None = None) -> None:
        """Close the last step and the folder; a recording that went off still says how the run ended."""
        if os.getpid() != self._process:
            # A fork of the script's: the files are its parent's.
            return
        self._close_last()
        self._write_end(exit_code)
        self._silence()
        try:
            self._sink.close()
        except OSError as error:
            turn_off(self, error)
        self._sink.end_process(exit_code)

    @guarded
    def _close_last(self) -> None:
        if self.kept.counts.child_trained():
            self.kept.notice(SPAWNED)
        self.boundaries.close()
        if self.kept.counts.children and not self.finished:
            self.kept.notice(SPAWNED)
        self._sink.unwritten = self.kept.unwritten_notices()

    @guarded
    def _write_end(self, exit_code: int | None) -> None:
        self._sink.write_end(exit_code)

    def leave_word(self, exit_code: int | None) -> None:
        """Where the recording went off before it could begin, a folder that says so, as far as there is room by now."""
        if not self._sink.is_open and self.off is not None and os.getpid() == self._process:
            self._sink.write_off(exit_code)

    @property
    def off(self) -> Message | None:
        """Why the recording went off, if it did."""
        return self._sink.off

    def turn_off(self, error: Exception) -> None:
        """Stop recording and say so once; what was written stays readable.

        Nothing is opened or imported here: the trouble may be that there is no descriptor left, or no memory.
        """
        if self.on:
            self.on = False
            # From here on there is a little memory again.
            self._spare = b""
            said = self._sink.off = _why(error, self.wanted.folder)
            self._silence()
            self._sink.let_go()
            self._warn(said)

    def _silence(self) -> None:
        """Take all hooks away, and let go of what they have told of the open step."""
        self.boundaries.forget()
        while self._installed:
            with contextlib.suppress(Exception):
                self._installed.pop().remove()


def _why(error: Exception, folder: Path) -> Message:
    if isinstance(error, DescriptorLost):
        return message("record.off_descriptor_lost", folder=str(folder))
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return message("record.off_disk_full", folder=str(folder))
    if isinstance(error, OSError):
        return message("record.off_unwritable", folder=str(folder), reason=error.strerror or str(error))
    reason = described(str, error)[:_MAX_REASON_CHARACTERS]
    return message("record.off_error", kind=type(error).__name__, reason=reason)
