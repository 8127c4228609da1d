"""The run that is replayed: which states it has, and whether it may be replayed at all."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.formats.run_folder.states import CommandPage, StatesReader
from trueline.model.events import BatchEvent
from trueline.model.key import Phase
from trueline.model.message import Message, message
from trueline.model.trouble import BadUsage

_MAX_NAMES: Final = 5


@dataclass(frozen=True, slots=True)
class Source:
    """A recorded run with kept states, and how it was started."""

    run: Run
    states: StatesReader
    started: CommandPage

    @property
    def rank(self) -> RankFolder:
        """What its process recorded."""
        return self.run.rank(self.run.ranks[0])

    @property
    def whole(self) -> list[int]:
        """The steps whose state and batches were kept; a pass over the data to its end that trained nothing is none."""
        found = [step for step in self.states.steps if self.states.fetches(step)]
        return [step for step in found if step < self.rank.finished or not self.states.ends(step)]

    @property
    def reach(self) -> dict[int, int]:
        """The steps that can be done again, each with the one whose state and batches lead to it.

        A loop that trains twice on a batch has steps without batches of their own.
        """
        whole, rank = self.whole, self.rank
        found = {step: step for step in whole}
        for origin in whole:
            step = origin + 1
            while step < rank.finished and step not in found and not _has_fetched(rank, step):
                found[step] = origin
                step += 1
        return found


def _has_fetched(rank: RankFolder, step: int) -> bool:
    events = rank.events(BatchEvent, phase=Phase.TRAIN.value, step=step)
    return any(event.loader is not None for event in events)


def source_of(run: Run) -> Source:
    """A BadUsage where nothing was kept, or not by one process alone."""
    if len(run.ranks) != 1 or run.info.world > 1:
        raise BadUsage("replay.ranks", run=str(run.path))
    folder = run.rank(run.ranks[0]).path
    states = StatesReader(run.path, folder)
    started = states.command()
    if started is None or not states.steps:
        raise BadUsage("replay.no_states", run=str(run.path))
    return Source(run, states, started)


@dataclass(frozen=True, slots=True)
class Way:
    """From the state before ``start`` through the batches of these steps."""

    start: int
    steps: Sequence[int]

    @property
    def last(self) -> int:
        """The last step that is done again."""
        return self.steps[-1]


def way_to(source: Source, step: int | None, more: int = 0) -> Way:
    """From the step before, so that the wanted step is the second one; from itself where that was not kept."""
    reach = source.reach
    if not reach:
        raise BadUsage("replay.no_batches", run=str(source.run.path))
    wanted = max(reach) if step is None else step
    if wanted not in reach:
        raise BadUsage("replay.not_kept", step=wanted, kept=ranges(list(reach)))
    start = reach.get(reach[wanted] - 1, reach[wanted])
    last = wanted
    while last < wanted + more and last + 1 in reach:
        last += 1
    return Way(start, range(start, last + 1))


def ranges(steps: Sequence[int]) -> str:
    """Steps as people write them: 3-7, 12."""
    parts: list[list[int]] = []
    for step in sorted(steps):
        if parts and step == parts[-1][-1] + 1:
            parts[-1][1:] = [step]
        else:
            parts.append([step])
    return ", ".join("-".join(map(str, part)) for part in parts)


def check(source: Source, way: Way) -> list[Message]:
    """A BadUsage, by name, for what makes a replay pointless; what may make it differ is returned."""
    lost = [*source.states.state(way.start).tree["lost"]]
    for step in set(way.steps) & set(source.states.steps):
        lost += [name for fetch in source.states.fetches(step) for name in fetch["lost"]]
    if lost:
        random = any("Dropout" in name for name in lost) and source.run.info.seed is None
        kind = "replay.lost_random" if random else "replay.lost"
        raise BadUsage(kind, names=_few(dict.fromkeys(lost)))
    folder = Path(source.started["cwd"])
    if not folder.is_dir():
        raise BadUsage("replay.no_folder", folder=str(folder))
    changed = _changed(source, folder)
    if changed:
        raise BadUsage("replay.changed", files=_few(changed), sources=str(source.run.path / "sources"))
    return _doubts(source)


def _few(names: Iterable[str]) -> str:
    found = list(names)
    return ", ".join(found[:_MAX_NAMES]) + (" …" if len(found) > _MAX_NAMES else "")


def _changed(source: Source, folder: Path) -> list[str]:
    """The source files that are no longer as they were."""
    root = _root(source, folder)
    return [name for name, kept in source.run.info.sources.items() if _hash(root / name) != kept]


def _root(source: Source, folder: Path) -> Path:
    """The project's folder, as ``trueline run`` chose it."""
    if source.started["as_module"]:
        return folder
    script = (folder / source.started["script"]).resolve().parent
    return folder if script.is_relative_to(folder) else script


def _hash(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def _doubts(source: Source) -> list[Message]:
    found = []
    if not source.run.info.sources:
        found.append(message("replay.no_sources"))
    before, now = str(source.started["python"]), platform.python_version()
    if before != now:
        found.append(message("replay.other_version", name="Python", before=before, now=now))
    return found
