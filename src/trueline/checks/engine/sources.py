"""The source behind findings: one name for a file that a script and a run know, and comments that ask to be spared."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from trueline.checks.engine.listing import codes
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding
from trueline.model.message import Message, message
from trueline.script.script import Script
from trueline.script.source import SourceFile, comments_of

BENCH_SIDE = "bench"


@dataclass(frozen=True)
class Sources:
    """Files as they are now, where a script was given; else as the run has kept them."""

    script: Script | None = None
    run: Run | None = None

    def name_of_file(self, finding: Finding) -> str:
        """The finding's file as the script calls it."""
        source = self._file(finding)
        return finding.where.file if source is None else source.shown

    def leaves_out(self, finding: Finding) -> bool:
        """Whether a comment in the source asks not to be told."""
        line = finding.where.line
        source = self._file(finding)
        if line is None or source is None:
            return False
        return source.leaves_out(line, finding.code)

    def notes(self) -> Iterator[Message]:
        """Files of the script that are others by now, and comments in it that name no item."""
        if self.script is None:
            return
        for name in self._changed:
            yield message("check.changed_since", file=name)
        if self.run is not None and self.run.info.sources and not self._called:
            yield message("check.other_script", ran=", ".join(sorted(self.run.info.sources)[:3]))
        known = codes()
        families = {code.partition(".")[0] for code in known}
        for source in self.script.files:
            for line, (named, _) in sorted(source.ignored.items()):
                unknown = [code for code in named if code not in known and code not in families]
                if unknown:
                    yield message("check.ignores_unknown", file=source.shown, line=line, codes=", ".join(unknown))

    def _file(self, finding: Finding) -> SourceFile | None:
        name = finding.where.file
        if name is None or finding.where.side == BENCH_SIDE:
            return None
        if self.script is None:
            return self._kept(name)
        by_name = {file.shown: file for file in self.script.files}
        return by_name.get(name) or by_name.get(self._called.get(name, ""))

    def _kept(self, name: str) -> SourceFile | None:
        """The run's own copy."""
        hash = self.run.info.sources.get(name) if self.run is not None else None
        lines = self.run.source(hash) if self.run is not None and hash is not None else None
        if lines is None:
            return None
        text = "\n".join([*lines, ""])
        return SourceFile(Path(name), name, text, ignored=comments_of(text))

    @cached_property
    def _called(self) -> Mapping[str, str]:
        """How the script calls the files of the run: those whose path ends alike, of several the one that is equal."""
        if self.script is None or self.run is None:
            return {}
        called = {}
        for name, hash in self.run.info.sources.items():
            alike = [file for file in self.script.files if file.path.as_posix().endswith(f"/{name.lstrip('/')}")]
            equal = [file for file in alike if _hash(file.path) == hash]
            if len(alike) == 1 or equal:
                called[name] = (equal or alike)[0].shown
        return called

    @cached_property
    def _changed(self) -> list[str]:
        if self.script is None or self.run is None:
            return []
        paths = {file.shown: file.path for file in self.script.files}
        of_run = self.run.info.sources
        return [shown for name, shown in self._called.items() if _hash(paths[shown]) != of_run[name]]


def _hash(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
