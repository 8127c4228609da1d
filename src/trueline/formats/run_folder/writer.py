"""Writing a run folder while the training runs."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from trueline.formats.run_folder import layout
from trueline.formats.run_folder.appending import Appender, replace_file
from trueline.formats.run_folder.batches import WholeBatch, write_batches
from trueline.formats.run_folder.guard import decode_json, read_file
from trueline.formats.run_folder.json_text import json_bytes, json_page
from trueline.formats.run_folder.layout import Limits
from trueline.formats.run_folder.process_file import ProcessFile
from trueline.formats.run_folder.stats_writer import StatsWriter
from trueline.formats.run_folder.tensors import can_keep, write_tensors
from trueline.kernel.array import Array
from trueline.model.descriptor import check_descriptors
from trueline.model.events import EventName
from trueline.model.key import Key
from trueline.model.run import CallInfo, ModuleInfo, ParamInfo, RunInfo
from trueline.model.summary import Summary
from trueline.model.trouble import BadUsage

# Events, statistics, the process's page, and a table or source at a time.
_DESCRIPTORS = 5


class RankWriter:
    """One process's part of a run folder; it only appends, and an OSError means that nothing more is taken."""

    def __init__(self, folder: Path, rank: int = 0, *, limits: Limits | None = None) -> None:
        self._run = Path(folder)
        self.folder = self._run / layout.rank_name(rank)
        # Without these nothing could be written, and a folder of nothing would tell of a run that never began.
        check_descriptors(_DESCRIPTORS)
        self._run.mkdir(parents=True, exist_ok=True)
        try:
            self.folder.mkdir()
        except FileExistsError:
            raise BadUsage("run_folder.rank_exists", path=str(self._run), rank=rank) from None
        self._events = Appender(self.folder / layout.EVENTS)
        self._stats = StatsWriter(self.folder, limits or Limits())
        self._process: ProcessFile | None = None
        self._failure: OSError | None = None
        self._closed = False
        self._joined: str | None = None

    def write_info(self, info: RunInfo) -> None:
        """run.json; a BadUsage when the folder is another run's."""
        path = self._run / layout.RUN_FILE
        if self._joined != info.id:
            self._join(path, info.id)
        replace_file(path, json_page(info.to_json()))

    def write_process(self, fields: Mapping[str, object]) -> None:
        """process.json: how this process stands. After the first time nothing is opened for it."""
        if self._process is None:
            self._process = ProcessFile(self.folder / layout.PROCESS)
        self._process.write(fields)

    def end_process(self, fields: Mapping[str, object]) -> None:
        """It has come to its end."""
        if self._process is not None:
            self._process.end(fields)

    def abandon(self) -> None:
        """Nothing could be written: leave no folder that would tell of a run that never began."""
        with contextlib.suppress(Exception):
            self.let_go()
        if self._process is not None:
            self._process.remove()
        for folder in (self.folder, self._run):
            with contextlib.suppress(OSError):
                folder.rmdir()

    def write_params(self, params: Sequence[ParamInfo]) -> None:
        """params.json."""
        replace_file(self.folder / layout.PARAMS, json_page({"params": [param.to_json() for param in params]}))

    def write_modules(self, modules: Sequence[ModuleInfo], calls: Sequence[CallInfo]) -> None:
        """modules.json."""
        content = {"modules": [module.to_json() for module in modules], "calls": [call.to_json() for call in calls]}
        replace_file(self.folder / layout.MODULES, json_page(content))

    def write_source(self, text: bytes) -> str:
        """Keep a source file under its hash, which is returned."""
        name = hashlib.sha256(text).hexdigest()
        path = self._run / layout.SOURCES / name
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            replace_file(path, text)
        return name

    def finish_step(
        self,
        step: int,
        phase: str,
        events: Sequence[Mapping[str, object]],
        stats: Sequence[tuple[Key, Summary]] = (),
        tensors: Mapping[Key, Array] | None = None,
        batches: Sequence[WholeBatch] | None = None,
    ) -> None:
        """A whole step: tensors, batches and statistics first, so that the ``end`` among the events vouches for them.

        A tensor whose dtype the file cannot hold is left out, and a ``notice`` says so.
        """
        if self._failure is not None:
            raise self._failure
        try:
            if batches:
                path = self.folder / layout.BATCHES / layout.tensors_name(step, phase)
                path.parent.mkdir(exist_ok=True)
                write_batches(path, batches)
            self._finish_step(step, phase, events, stats, tensors or {})
        except OSError as error:
            self._failure = error
            raise

    def close(self) -> None:
        """Turn the newest steps into a block and let go of the files."""
        try:
            if self._failure is None and not self._closed:
                self._stats.turn()
        finally:
            self.let_go()

    def let_go(self) -> None:
        """Close the files as they are, opening none; the newest steps are read from the tail."""
        self._closed = True
        self._stats.close()
        self._events.close()

    def _finish_step(
        self,
        step: int,
        phase: str,
        events: Sequence[Mapping[str, object]],
        stats: Sequence[tuple[Key, Summary]],
        tensors: Mapping[Key, Array],
    ) -> None:
        kept = {key: np.asarray(array) for key, array in tensors.items() if can_keep(array)}
        notices = [_left_out(key, array, events) for key, array in tensors.items() if key not in kept]
        if kept:
            path = self.folder / layout.TENSORS / layout.tensors_name(step, phase)
            path.parent.mkdir(exist_ok=True)
            write_tensors(path, kept)
        # The end, which vouches for all, stays last.
        lines = [
            json_bytes({"step": step, "phase": phase, **event}) for event in [*events[:-1], *notices, *events[-1:]]
        ]
        text = b"\n".join([*lines, b""])
        if stats:
            self._stats.append(step, layout.PHASE_NUMBERS[phase], stats, self._events.size + len(text))
        if text:
            self._events.append(text)
        if self._stats.full:
            self._stats.turn()

    def _join(self, path: Path, run: str) -> None:
        if path.exists():
            there = decode_json(path, read_file(self._run, path, layout.MAX_JSON))
            if not isinstance(there, dict) or there.get("id") != run:
                self.abandon()
                raise BadUsage("run_folder.other_run", path=str(self._run))
        self._joined = run


def _left_out(key: Key, array: Array, events: Sequence[Mapping[str, object]]) -> Mapping[str, object]:
    return {
        "event": EventName.NOTICE.value,
        "t": events[-1].get("t") if events else None,
        "message_id": "run_folder.tensor_left_out",
        "params": {"key": str(key), "dtype": str(np.asarray(array).dtype)},
    }
