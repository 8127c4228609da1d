"""Where the files of MindSpore's dump lie, and what their names say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trueline.formats.ms_dump.listings import long_names
from trueline.model.message import message
from trueline.model.trouble import BadFile

PARAMETER: Final = "Parameter"
_RANK: Final = re.compile(r"rank_(\d{1,9})")
_NUMBER: Final = re.compile(r"\d{1,18}")
_FILE: Final = re.compile(
    r"(?P<op>[^.]+)\.(?P<scope>.+)\.(?P<task>\d{1,20})\.(?P<stream>\d{1,20})\.(?P<time>\d{1,20})"
    r"\.(?P<side>input|output)\.(?P<slot>\d{1,9})\.[^.]+(?:\.[^.]+)?\.npy"
)
_BESIDE: Final = frozenset(("execution_order", "graphs", ".dump_metadata"))


@dataclass(frozen=True, slots=True, order=True)
class DumpFile:
    """One tensor's file; in order of time, an operator's inputs before its outputs."""

    time: int
    side: str
    slot: int
    op: str
    scope: str
    path: Path
    task: int = 0
    stream: int = 0


def whole(folder: Path) -> tuple[Path, int | None]:
    """The dump that a graph's or an iteration's folder belongs to, and the iteration that is meant."""
    folder = folder.absolute()
    for up, network in enumerate(list(folder.parents)[:2]):
        below = (folder, *folder.parents)[: up + 1]
        if all(_NUMBER.fullmatch(path.name) for path in below) and networks(network) == [network]:
            return network, int(folder.name) if up else None
    return folder, None


def networks(folder: Path) -> list[Path]:
    """The folder of the dumped network, for each rank."""
    folder = folder.absolute()
    if _RANK.fullmatch(folder.parent.name) and _is_rank(folder.parent) and graphs_of(folder):
        return [folder]
    ranks = [folder] if _RANK.fullmatch(folder.name) else sorted(folder.glob("rank_*"))
    found: list[Path] = []
    for rank in ranks:
        if not _RANK.fullmatch(rank.name) or not _is_rank(rank):
            continue
        inside = [path for path in sorted(rank.iterdir()) if path.name not in _BESIDE and graphs_of(path)]
        if len(inside) > 1:
            raise BadFile(rank, message("ms_dump.several", names=", ".join(path.name for path in inside[:5])).text())
        found += inside
    return found


def rank_of(network: Path) -> int:
    """The rank that a network's folder belongs to."""
    return int(network.parent.name.partition("_")[2])


def _is_rank(folder: Path) -> bool:
    """msrun makes folders of that name too, but without these."""
    return any((folder / name).is_dir() for name in _BESIDE)


def graphs_of(network: Path) -> list[Path]:
    """The folders of a network's graphs."""
    if not network.is_dir():
        return []
    return sorted(path for path in network.iterdir() if _NUMBER.fullmatch(path.name) and path.is_dir())


def iterations_of(graph: Path) -> dict[int, Path]:
    """The folder of each iteration of a graph."""
    return {int(path.name): path for path in graph.iterdir() if _NUMBER.fullmatch(path.name) and path.is_dir()}


def files_of(iteration: Path) -> list[DumpFile]:
    """The tensors of an iteration in the order they were written, which is that of execution."""
    return sorted(_files(iteration))


def _files(iteration: Path) -> Iterator[DumpFile]:
    names = long_names(iteration)
    for path in iteration.glob("*.npy"):
        found = _FILE.fullmatch(names.get(path.name, path.name))
        if found is not None:
            time, slot, task, stream = (int(found[one]) for one in ("time", "slot", "task", "stream"))
            yield DumpFile(time, found["side"], slot, found["op"], found["scope"], path, task, stream)


def why_empty(found: list[Path]) -> str:
    """What a dump without tensors has instead."""
    if any(next(path.glob("*/*/statistic.csv"), None) for path in found):
        return message("ms_dump.statistics").text()
    return message("ms_dump.no_tensors").text()
