"""A recording from before the frameworks are imported until the program ends.

Nothing here imports NumPy or a framework: a script that sets OMP_NUM_THREADS before its first import must find the same
world as without TrueLine.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import platform
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trueline import locale
from trueline.model.json_value import JsonObject
from trueline.model.key import Phase
from trueline.model.message import Message, message
from trueline.model.run import UNSEEN_TRAINING
from trueline.record.arrival import on_import
from trueline.record.launch import ended_with
from trueline.record.process_exit import leave_at_once
from trueline.record.project import Project, git_state
from trueline.record.ranks import is_scheduler
from trueline.record.started_processes import StartedProcesses
from trueline.record.wanted import Wanted
from trueline.version import __version__

if TYPE_CHECKING:
    from trueline.record.companion import Companion
    from trueline.record.recorder import Recorder

FRAMEWORKS = ("torch", "mindspore")
# Why a recording went off, where that is nothing that a user can mend.
INTERNAL_ERROR = "record.off_error"
_MAX_COMMAND_CHARACTERS = 300
_ENVIRONMENT = ("PYTHONHASHSEED", "OMP_NUM_THREADS", "CUBLAS_WORKSPACE_CONFIG", "CUDA_VISIBLE_DEVICES")


class Recording:
    """Waits for a framework, then records it; ``finish`` ends it."""

    def __init__(
        self,
        wanted: Wanted,
        warn: Callable[[Message], None],
        *,
        argv: Callable[[], list[str]] = lambda: list(sys.argv),
        root: Path | None = None,
        always_folder: bool = True,
        companions: Sequence[Companion] = (),
        exit_code: Callable[[], int | None] = ended_with,
    ) -> None:
        """``exit_code`` is asked where Python ends before ``finish`` was called."""
        self.wanted = wanted
        self.recorder: Recorder | None = None
        self._warn = warn
        self._argv = argv
        self._root = root
        self._always_folder = always_folder
        self._companions = companions
        self._exit_code = exit_code
        self._over = False
        self._notices: list[Message] = []
        self._not_attached: Message | None = None
        self._stop_waiting: Callable[[], None] = lambda: None
        self._started = StartedProcesses()

    def begin(self, then: Callable[[], None] = lambda: None) -> None:
        """Listen from now on, doing ``then`` whenever a framework has arrived.

        A MindSpore scheduler process has nothing to record.
        """
        self._then = then
        locale.load()
        if not is_scheduler():
            self._started.begin()
            self._stop_waiting = on_import(FRAMEWORKS, self._arrived)

    def _arrived(self, framework: str) -> None:
        try:
            with self._started.aside():
                self._attach(framework)
            atexit.unregister(self._end_with_python)
            atexit.register(self._end_with_python)
            self._then()
        except Exception as error:  # noqa: BLE001 - the user's import must succeed whatever happens here
            said = message(INTERNAL_ERROR, kind=type(error).__name__, reason=str(error)[:300])
            self._not_attached = self._not_attached or said
            with contextlib.suppress(Exception):
                self._tell(said)

    def _tell(self, said: Message) -> None:
        """Warn; whoever waits for the numbers of a repeated run is told as well."""
        for companion in self._companions:
            companion.went_off(said)
        self._warn(said)

    def _attach(self, framework: str) -> None:
        from trueline.adapters import adapter_of
        from trueline.record.recorder import Recorder
        from trueline.record.sink import new_info

        if self.recorder is None:
            root = self._root or Path.cwd()
            info = new_info(
                argv=self._argv(),
                cwd=str(Path.cwd()),
                git=git_state(root),
                versions={
                    "trueline": __version__,
                    "python": platform.python_version(),
                    "platform": platform.platform(),
                },
                flags={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            )
            self.recorder = Recorder(self.wanted, info, Project(root), self._tell, self._companions)
            if self._companions:
                self.recorder.subscribe(self._end_after_last)
        if self.recorder.on:
            self.recorder.attach(adapter_of(framework))

    def _end_after_last(self, phase: Phase, step: int, _events: Sequence[JsonObject]) -> None:
        """A repeated run has what it was started for: the rest of the script is not run."""
        if phase is Phase.TRAIN and any(companion.is_last(step) for companion in self._companions):
            self.finish(0)
            # Nothing more is to be computed or written, neither by the script's threads nor by what runs at exit.
            leave_at_once(0)

    def _end_with_python(self) -> None:
        """What is registered last runs first: after the script's own, before a framework takes its own things down."""
        self.finish(self._exit_code())

    def replaced(self, command: Sequence[str]) -> None:
        """The process is about to become another program."""
        self._note(message("record.replaced", command=shlex.join(command)[:_MAX_COMMAND_CHARACTERS]))

    def _note(self, said: Message) -> None:
        if self.recorder is not None:
            self.recorder.note(said)
        else:
            self._notices.append(said)

    def finish(self, exit_code: int | None = None) -> None:
        """Close the run folder; once. Where there was no room to say that nothing was recorded, there may be now."""
        if self._over:
            if self.recorder is not None and self._always_folder:
                self.recorder.leave_word(exit_code)
            return
        self._over = True
        atexit.unregister(self._end_with_python)
        self._stop_waiting()
        started = self._started.end()
        if started is not None:
            self._note(started)
        if self.recorder is None:
            return
        if self._always_folder or self.recorder.has_written:
            self.recorder.finish(exit_code)
            self.recorder.leave_word(exit_code)
            for companion in self._companions:
                for said in self.unseen:
                    companion.unseen(said)
                companion.finish(self.wanted.folder)

    @property
    def off(self) -> Message | None:
        """Why the recording went off, if it did."""
        if self.recorder is None or self.recorder.on:
            return self._not_attached
        # Where there was no memory left, not even the reason could be kept.
        return self.recorder.off or message(INTERNAL_ERROR, kind="MemoryError", reason="")

    @property
    def unseen(self) -> Sequence[Message]:
        """What is said of training that was not recorded."""
        noticed = self._notices if self.recorder is None else self.recorder.kept.notices
        return [said for said in noticed if said.id in UNSEEN_TRAINING]

    @property
    def steps(self) -> int:
        """How many training steps were recorded."""
        return self.recorder.finished if self.recorder is not None else 0
