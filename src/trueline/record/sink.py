"""The run folder as a recording writes it: each finished step, the tables, and how the process began and ended."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import os
import platform
import sys
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from trueline.formats.run_folder.writer import RankWriter
from trueline.model.json_value import JsonObject
from trueline.model.message import Message
from trueline.model.numbers import plain
from trueline.model.process_birth import birth_of
from trueline.model.run import RunInfo
from trueline.record.kept import KeptStep
from trueline.record.ranks import leads_its_machine, rank_of
from trueline.record.training import Training
from trueline.record.wanted import Wanted

_NO_MODULE: Final = "trueline_no_such_module"


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def new_info(**fields: Any) -> RunInfo:
    """A run's circumstances as far as they are known before it starts."""
    return RunInfo(id=uuid.uuid4().hex, started=_now(), **fields)


class Sink:
    """Opens this process's part of the folder with the first step; ``off`` says why the recording has ended early."""

    def __init__(self, wanted: Wanted, info: RunInfo, training: Training) -> None:
        self.off: Message | None = None
        # What was noticed after the last step.
        self.unwritten: list[JsonObject] = []
        self._wanted, self._info, self._training = wanted, info, training
        process = os.getpid()
        self._identity: JsonObject = {"pid": process, "host": platform.node(), "born": birth_of(process)}
        self._writer: RankWriter | None = None
        self._leads = False

    @property
    def is_open(self) -> bool:
        """Whether the folder is there."""
        return self._writer is not None

    @property
    def folder(self) -> Path:
        """This process's part of the run folder."""
        return self._open().folder

    def write(self, step: KeptStep) -> None:
        """A finished step, after the tables where they have changed."""
        writer = self._open()
        if self._training.changed:
            writer.write_params(self._training.parameter_table())
            writer.write_modules(*self._training.module_table())
            self._write_info(writer)
            self._training.changed = False
        writer.finish_step(step.number, step.phase.value, step.events, step.stats, step.tensors or None, step.batches)

    def write_end(self, exit_code: int | None) -> None:
        """How the run has ended."""
        self._end(exit_code)
        self._write_info(self._open())

    def close(self) -> None:
        """Nothing more is written but how the process has ended."""
        if self._writer is not None:
            self._writer.close()

    def end_process(self, exit_code: int | None) -> None:
        """How the process has ended, and where the recording was off before, the run; as far as that is possible."""
        if self._writer is None:
            return
        if self.off is not None:
            self._end(exit_code)
            # The folder may be what the trouble was about.
            with contextlib.suppress(Exception):
                self._write_info(self._writer)
        with contextlib.suppress(Exception):
            self._writer.end_process(self._process_now())

    def let_go(self) -> None:
        """The recording is off: say so, opening and importing nothing."""
        if self._writer is not None:
            with contextlib.suppress(Exception):
                self._writer.write_process(self._process_now())
            with contextlib.suppress(Exception):
                self._writer.let_go()

    def write_off(self, exit_code: int | None) -> None:
        """A folder that says why nothing was recorded, as far as there is room by now."""
        with contextlib.suppress(Exception):
            self._end(exit_code)
            writer = self._open()
            writer.close()
            writer.end_process(self._process_now())

    def _end(self, exit_code: int | None) -> None:
        self._info = dataclasses.replace(self._info, ended=_now(), exit_code=exit_code)

    def _open(self) -> RankWriter:
        if self._writer is None:
            rank, world = rank_of(self._training.adapters)
            writer = RankWriter(self._wanted.folder, rank)
            self._info = dataclasses.replace(self._info, world=world)
            self._leads = leads_its_machine(rank)
            try:
                # The process first: by it a folder is told apart whose process is gone.
                writer.write_process(self._process_now())
                self._write_info(writer)
            except Exception:
                writer.abandon()
                raise
            self._writer = writer
            _refresh_finders(self._wanted.folder)
        return self._writer

    def _process_now(self) -> dict[str, object]:
        return {
            **self._identity,
            "ended": self._info.ended,
            "exit_code": self._info.exit_code,
            "off": _to_json(self.off),
        }

    def _write_info(self, writer: RankWriter) -> None:
        if not self._leads:
            return
        notices = [{name: event[name] for name in ("message_id", "params")} for event in self.unwritten]
        state = {"process": self._identity, "off": _to_json(self.off), "notices": notices}
        info = dataclasses.replace(self._info, hyper=self._training.hyper, recorded={**self._wanted.to_json(), **state})
        around = self._training.circumstances or self._circumstances()
        merged = {name: {**getattr(info, name), **around.get(name, {})} for name in ("versions", "seeds", "flags")}
        info = dataclasses.replace(info, **{**around, **merged})
        if self._wanted.source:
            files = self._training.project.sources()
            sources = {name: writer.write_source(path.read_bytes()) for name, path in files}
            info = dataclasses.replace(info, sources=sources)
        self._info = info
        writer.write_info(info)

    def _circumstances(self) -> Mapping[str, Any]:
        adapters = self._training.adapters
        try:
            return adapters[0].state.circumstances() if adapters else {}
        except Exception:
            if self.off is None:
                raise
            # The trouble may be the framework's own, and how the run ended is told all the same.
            return {}


def _to_json(said: Message | None) -> JsonObject | None:
    return {"message_id": said.id, "params": plain(said.params)} if said is not None else None


def _refresh_finders(made: Path) -> None:
    """A folder made among the script's modules must not be noticed by its imports.

    Python's finders look anew through each folder that has changed, for which a script may later have no descriptor.
    They do so here, where the folder was made, and find what they knew.
    """
    above = {str(parent) for parent in made.absolute().parents}
    for place, finder in list(sys.path_importer_cache.items()):
        if str(Path(place).absolute()) in above:
            with contextlib.suppress(Exception):
                finder.find_spec(_NO_MODULE)  # type: ignore[union-attr]
