"""A recording from before the frameworks are imported until the program ends.

Nothing here imports NumPy or a framework: a script that sets OMP_NUM_THREADS before its first import must find the same
world as without TrueLine.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueline.model.key import Phase
from trueline.model.message import Message, message
from trueline.record.arrival import on_import
from trueline.record.project import Project, git_state
from trueline.record.wanted import Wanted
from trueline.version import __version__

if TYPE_CHECKING:
    from trueline.adapters.observer import Observer
    from trueline.adapters.protocol import Adapter
    from trueline.record.perturb import PerturbedAdapters
    from trueline.record.recorder import Recorder

FRAMEWORKS = ("torch", "mindspore")
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
        perturbed: PerturbedAdapters | None = None,
        feed: Callable[[Recorder, Adapter], Observer] | None = None,
    ) -> None:
        self.wanted = wanted
        self.recorder: Recorder | None = None
        self._warn = warn
        self._argv = argv
        self._root = root
        self._always_folder = always_folder
        self._perturbed = perturbed
        self._feed = feed
        self._git: dict[str, Any] | None = None
        self._stop_waiting: Callable[[], None] = lambda: None

    def begin(self, then: Callable[[], None] = lambda: None) -> None:
        """Listen from now on, doing ``then`` whenever a framework has arrived.

        A MindSpore scheduler process has nothing to record.
        """
        self._then = then
        if os.environ.get("MS_ROLE") != "MS_SCHED":
            self._stop_waiting = on_import(FRAMEWORKS, self._arrived)

    def _arrived(self, framework: str) -> None:
        try:
            self._attach(framework)
            self._then()
        except Exception as error:  # noqa: BLE001 - the user's import must succeed whatever happens here
            self._warn(message("record.off_error", kind=type(error).__name__, reason=str(error)[:300]))

    def _attach(self, framework: str) -> None:
        from trueline.adapters import adapter_of
        from trueline.record.recorder import Recorder, new_info

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
            self.recorder = Recorder(self.wanted, info, Project(root), self._warn)
            self.recorder.feed = self._feed
            if self._perturbed is not None:
                self.recorder.subscribe(self._end_after_last)
        if self.recorder.on:
            adapter = adapter_of(framework)
            self.recorder.attach(adapter if self._perturbed is None else self._perturbed.of(adapter))

    def _end_after_last(self, phase: Phase, step: int, _events: Sequence[Mapping[str, Any]]) -> None:
        """A repeated run has what it was started for: the rest of the script is not run."""
        if self._perturbed is not None and phase is Phase.TRAIN and self._perturbed.is_last(step):
            self.finish(0)
            # Nothing more is to be computed or written, neither by the script's threads nor by what runs at exit.
            os._exit(0)

    def finish(self, exit_code: int | None = None) -> None:
        """Close the run folder."""
        self._stop_waiting()
        if self.recorder is None:
            return
        if self._always_folder or self.recorder.has_written:
            self.recorder.finish(exit_code)
            if self._perturbed is not None:
                self._perturbed.write_told(self.wanted.folder)

    @property
    def off(self) -> Message | None:
        """Why the recording went off, if it did."""
        return self.recorder.off if self.recorder is not None else None

    @property
    def steps(self) -> int:
        """How many training steps were recorded."""
        return self.recorder.finished if self.recorder is not None else 0
