"""A script, or several files of a project, read but not run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from trueline.script.programs import programs_of
from trueline.script.project import Project, open_project
from trueline.script.reading.reader import read_trace
from trueline.script.source import SourceFile
from trueline.script.trace import Trace


class Script:
    """The noun: files, and what happens when they run, as far as reading can tell."""

    def __init__(self, project: Project, trace: Trace | None = None) -> None:
        self._project = project
        if trace is not None:
            self.trace = trace

    @property
    def files(self) -> Sequence[SourceFile]:
        """The files, those that are imported too once the trace was read."""
        return self._project.files

    @cached_property
    def trace(self) -> Trace:
        """What happens, in order."""
        return read_trace(self._project)

    @cached_property
    def programs(self) -> Sequence[Script]:
        """The script itself; or, where several of its files train when they are run, each of these, and the rest."""
        return [Script(part, trace) for part, trace in programs_of(self._project)] or [self]

    @property
    def entries(self) -> Sequence[SourceFile]:
        """The files that were asked for."""
        return self._project.entries

    @property
    def unread(self) -> Sequence[SourceFile]:
        """Files that could not be read, those that are imported too."""
        _ = self.trace
        return [file for file in self._project.files if file.trouble is not None]

    @property
    def left_out(self) -> int:
        """How many files there were more than are read."""
        return self._project.left_out

    @cached_property
    def frameworks(self) -> frozenset[str]:
        """Those that it calls."""
        heads = {event.name.partition(".")[0] for event in self.trace.events}
        frameworks = {"torch"} if heads & {"torch", "lightning", "transformers", "torchvision"} else set()
        return frozenset(frameworks | ({"mindspore"} & heads))


def read_script(paths: Sequence[str | Path]) -> Script:
    """A Script from files and folders; a BadFile where one of them is not there."""
    return Script(open_project([Path(path) for path in paths]))
