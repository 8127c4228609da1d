"""Reading a run folder, whoever wrote it; every fault is one BadFile."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from trueline.formats.files import unreadable
from trueline.formats.run_folder import layout
from trueline.formats.run_folder.batches import WholeBatch, read_batches
from trueline.formats.run_folder.curves import read_curve, read_losses
from trueline.formats.run_folder.events_reader import EventLog
from trueline.formats.run_folder.guard import bad, decode_json, list_names, open_if_there, read_file
from trueline.formats.run_folder.stats_reader import StatsReader
from trueline.formats.run_folder.tensors import Tensors, read_tensors
from trueline.formats.stored import Stored
from trueline.model.curve import Curve
from trueline.model.ending import Ending
from trueline.model.events import NoticeEvent
from trueline.model.json_value import Json
from trueline.model.key import Key, Phase
from trueline.model.message import Message
from trueline.model.run import (
    FORMAT,
    UNSEEN_TRAINING,
    CallInfo,
    ModuleInfo,
    ParamInfo,
    ProcessInfo,
    RunInfo,
    WatchHit,
)
from trueline.model.summary import Summary
from trueline.model.trouble import BadFile

Noun = TypeVar("Noun")
MAX_DEPTH: Final = 4  # levels of folders that are searched for runs


class RankFolder:
    """What one process recorded, up to its last finished step."""

    def __init__(self, root: Path, path: Path) -> None:
        self._root = root
        self.path = path
        self._events = EventLog(root, path / layout.EVENTS)
        self._stats = StatsReader(root, path)
        # One signature, with its overloads, for the log and its folder.
        self.events = self._events.events
        self.stretch = self._events.stretch

    @cached_property
    def params(self) -> Sequence[ParamInfo]:
        """The parameters and buffers."""
        return self._list(layout.PARAMS, "params", ParamInfo.from_json)

    @cached_property
    def modules(self) -> Sequence[ModuleInfo]:
        """The modules of the network."""
        return self._list(layout.MODULES, "modules", ModuleInfo.from_json)

    @cached_property
    def calls(self) -> Sequence[CallInfo]:
        """The calls of modules in execution order."""
        calls = self._list(layout.MODULES, "calls", CallInfo.from_json)
        if any(position >= len(calls) for call in calls for position in call.feeds_from):
            raise bad(self.path / layout.MODULES, "bad_content", reason="feeds_from")
        return calls

    @cached_property
    def process(self) -> ProcessInfo | None:
        """How the process stood at last; None where it was not written whole."""
        path = self.path / layout.PROCESS
        with open_if_there(self._root, path) as there:
            if there is None:
                return None
        try:
            page = decode_json(path, read_file(self._root, path, layout.MAX_JSON))
        except BadFile:
            return None
        return ProcessInfo.from_json(page) if page and isinstance(page, dict) else None

    @cached_property
    def finished(self) -> int:
        """How many training steps are finished."""
        return len(self._events.finished(Phase.TRAIN))

    @property
    def steps(self) -> int:
        """How many steps of any phase are finished."""
        return self._events.steps

    def curve(self, name: str, phase: str = "train") -> Curve:
        """``loss`` (a step's first), ``lr`` and ``grad_norm`` (the first optimizer's), ``scale`` or ``seconds``.

        ``grad_norm`` is what the optimizer got, ``grad_norm_unclipped`` what was clipped.
        """
        return read_curve(self._events, name, phase)

    def losses(self, phase: str = "train") -> list[Curve]:
        """The first loss of every step, the second, and so on: of several backward calls, or of a closure's."""
        return read_losses(self._events, phase)

    @property
    def keys(self) -> Sequence[Key]:
        """The tensors with statistics, in the order of their first appearance."""
        return self._stats.keys

    def history(self, key: Key) -> npt.NDArray[np.void]:
        """One tensor's statistics: a structured array of ``step`` and the fields of Summary, in step order."""
        return self._stats.history(key)

    def stats(self, step: int) -> dict[Key, Summary]:
        """One step's statistics in execution order; the phase is in the key."""
        return self._stats.stats(step)

    @cached_property
    def tensor_steps(self) -> Sequence[int]:
        """The finished steps with full tensors."""
        return sorted({step for step, _ in self._tensor_files})

    def tensors(self, step: int) -> Tensors:
        """One step's full tensors as views of mapped files; empty where none were kept."""
        found = Tensors({})
        for (number, _), path in self._tensor_files.items():
            if number == step:
                found = found | read_tensors(self._root, path)
        return found

    def stored(self, step: int) -> dict[Key, Stored]:
        """Where one step's full tensors lie, in the order recorded."""
        found = self.tensors(step)
        return {key: found.stored(key) for key in found}

    def batch_steps(self, phase: str = "train") -> list[int]:
        """The finished steps of a phase whose batches were kept whole, in order."""
        return sorted(step for step, of in self._step_files(layout.BATCHES) if of == phase)

    def batches(self, step: int, phase: str = "train") -> list[WholeBatch]:
        """A step's batches in the order of its batch events, as views of the mapped file; none where none were kept."""
        path = self._step_files(layout.BATCHES).get((step, phase))
        return read_batches(self._root, path) if path is not None else []

    @cached_property
    def _tensor_files(self) -> dict[tuple[int, str], Path]:
        return self._step_files(layout.TENSORS)

    @cached_property
    def hits(self) -> Sequence[WatchHit]:
        """What a watch has found, in order; a last line without its end does not count."""
        path = self.path / layout.HITS
        with open_if_there(self._root, path) as there:
            if there is None:
                return []
        lines = read_file(self._root, path, layout.MAX_JSON).split(b"\n")[:-1]
        objects = [decode_json(path, line) for line in lines]
        return [WatchHit.from_json(hit) for hit in objects if isinstance(hit, dict)]

    def _step_files(self, folder: str) -> dict[tuple[int, str], Path]:
        files: dict[tuple[int, str], Path] = {}
        finished = {phase.value: self._events.finished(phase) for phase in Phase}
        for name in list_names(self._root, self.path / folder):
            found = layout.TENSORS_NAME.fullmatch(name)
            if found is not None:
                step, phase = int(found[2]), (Phase.EVAL if found[1] else Phase.TRAIN).value
                if step in finished[phase]:
                    files[step, phase] = self.path / folder / name
        return files

    def _list(self, file: str, name: str, make: Callable[[Json], Noun]) -> list[Noun]:
        path = self.path / file
        with open_if_there(self._root, path) as there:
            if there is None:
                return []
        content = decode_json(path, read_file(self._root, path, layout.MAX_JSON))
        entries = content.get(name) if isinstance(content, dict) else None
        if not isinstance(entries, list):
            raise bad(path, "bad_content", reason=name)
        return [_made(path, make, entry, f"{name}[{place}]: ") for place, entry in enumerate(entries)]


class Run:
    """A recorded run."""

    def __init__(self, path: Path, info: RunInfo, ranks: Sequence[int]) -> None:
        self.path = path
        self.info = info
        self.ranks = ranks
        self._folders: dict[int, RankFolder] = {}

    def rank(self, n: int = 0) -> RankFolder:
        """What one process recorded."""
        if n not in self.ranks:
            raise bad(self.path, "no_rank", rank=n)
        if n not in self._folders:
            self._folders[n] = RankFolder(self.path, self.path / layout.rank_name(n))
        return self._folders[n]

    def unseen(self) -> list[Message]:
        """What was said of training beside the recording, each once."""
        notices = self.info.notices
        for number in self.ranks:
            notices += [event.message for event in self.rank(number).events(NoticeEvent)]
        unseen: list[Message] = []
        for notice in notices:
            if notice.id in UNSEEN_TRAINING and notice not in unseen:
                unseen.append(notice)
        return unseen

    @cached_property
    def ending(self) -> Ending | None:
        """How the ranks came to an end that nobody wanted; None where nothing was noticed."""
        path = self.path / layout.ENDING
        with open_if_there(self.path, path) as there:
            if there is None:
                return None
        return _made(path, Ending.from_json, decode_json(path, read_file(self.path, path, layout.MAX_JSON)))

    def source(self, hash: str) -> list[str] | None:
        """The lines of a kept source file, or None when it was not kept."""
        path = self.path / layout.SOURCES
        if layout.SOURCE_NAME.fullmatch(hash) is None:
            raise bad(path, "bad_hash", hash=repr(hash[:80]))
        path = path / hash
        with open_if_there(self.path, path) as there:
            if there is None:
                return None
        text = read_file(self.path, path, layout.MAX_SOURCE)
        if hashlib.sha256(text).hexdigest() != hash:
            raise bad(path, "damaged")
        return text.decode("utf-8", "replace").splitlines()


def open_run(folder: str | Path) -> Run:
    """Open a run folder, also one whose process was killed or is still running."""
    path = Path(folder)
    if not path.is_dir():
        raise bad(path, "not_a_folder")
    names = list_names(path, path)
    ranks = [int(found[1]) for name in names if (found := layout.RANK_NAME.fullmatch(name))]
    if layout.RUN_FILE not in names:
        if not ranks:
            raise bad(path, "not_a_run")
        # Killed before it could say anything about itself.
        return Run(path, RunInfo(id=""), ranks)
    return Run(path, _read_info(path, path / layout.RUN_FILE), ranks)


def find_runs(folder: str | Path) -> list[Path]:
    """The run folders in or below a folder, down to a few levels, links not followed."""
    top = Path(folder)
    if not top.is_dir():
        raise bad(top, "not_a_folder")
    return sorted(_find(top, MAX_DEPTH))


def _find(folder: Path, depth: int) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            below = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except PermissionError:
        return
    except OSError as error:
        raise unreadable(folder, error) from None
    if any(layout.RANK_NAME.fullmatch(name) for name in below):
        yield folder
    elif depth > 0:
        for name in below:
            if not name.startswith("."):
                yield from _find(folder / name, depth - 1)


def _read_info(root: Path, path: Path) -> RunInfo:
    content = decode_json(path, read_file(root, path, layout.MAX_JSON))
    version = content.get("format") if isinstance(content, dict) else None
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise bad(path, "bad_content", reason="format")
    if version > FORMAT:
        raise bad(path, "newer", found=version, known=FORMAT)
    return _made(path, RunInfo.from_json, content)


def _made(path: Path, make: Callable[[Json], Noun], content: Json, where: str = "") -> Noun:
    try:
        return make(content)
    except ValueError as error:
        raise bad(path, "bad_content", reason=where + str(error)[:200]) from None
