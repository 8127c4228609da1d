"""MindSpore's synchronous dump, as graph mode and jit write it: one .npy for each operator's input and output."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trueline.formats.dump import Dump, Dumped
from trueline.formats.files import unreadable
from trueline.formats.ms_dump.listings import execution_order, long_names, parameters, spellings
from trueline.formats.ms_dump.places import Place, is_wrapped, parameter_keys, places, trains, unlisted
from trueline.formats.npy import read_npy
from trueline.model.key import Key, Kind, Phase
from trueline.model.message import message
from trueline.model.trouble import BadFile

TOOL: Final = "mindspore"
_RANK: Final = re.compile(r"rank_(\d{1,9})")
_NUMBER: Final = re.compile(r"\d{1,18}")
_FILE: Final = re.compile(
    r"(?P<op>[^.]+)\.(?P<scope>.+)\.\d+\.\d+\.(?P<time>\d{1,20})"
    r"\.(?P<side>input|output)\.(?P<slot>\d{1,9})\.[^.]+(?:\.[^.]+)?\.npy"
)
_PARAMETER: Final = "Parameter"
_BESIDE: Final = frozenset(("execution_order", "graphs", ".dump_metadata"))


def looks_like_ms_dump(folder: Path) -> bool:
    """Whether a folder is one of MindSpore's dumps: of all ranks, of one, of a network, a graph or an iteration."""
    try:
        return bool(_networks(_whole(folder)[0]))
    except (OSError, BadFile):
        return False


def read_ms_dump(folder: Path) -> Dump:
    """A dump's tensors by iteration and rank: what belongs to a cell, and the graph's parameters and inputs.

    An evaluation's graph beside a training's has the phase eval. Iterations are counted as MindSpore counts them, over
    all graphs.
    """
    try:
        whole, only = _whole(folder)
        networks = _networks(whole)
        if not networks:
            raise BadFile(folder, message("ms_dump.not_a_dump").text())
        steps: dict[tuple[int, int], list[Dumped]] = {}
        for network in networks:
            rank = int(network.parent.name.partition("_")[2])
            for step, found in _of_network(network).items():
                if only in (None, step):
                    steps[step, rank] = found
        if not steps:
            raise BadFile(folder, _empty(networks))
    except OSError as error:
        raise unreadable(folder, error) from None
    return Dump(folder, TOOL, dict(sorted(steps.items())))


def _whole(folder: Path) -> tuple[Path, int | None]:
    """The dump that a graph's or an iteration's folder belongs to, and the iteration that is meant."""
    folder = folder.absolute()
    for up, network in enumerate(list(folder.parents)[:2]):
        below = (folder, *folder.parents)[: up + 1]
        if all(_NUMBER.fullmatch(one.name) for one in below) and _networks(network) == [network]:
            return network, int(folder.name) if up else None
    return folder, None


def _networks(folder: Path) -> list[Path]:
    """The folder of the dumped network, for each rank."""
    folder = folder.absolute()
    if _RANK.fullmatch(folder.parent.name) and _is_rank(folder.parent) and _graphs(folder):
        return [folder]
    ranks = [folder] if _RANK.fullmatch(folder.name) else sorted(folder.glob("rank_*"))
    found: list[Path] = []
    for rank in ranks:
        if not _RANK.fullmatch(rank.name) or not _is_rank(rank):
            continue
        inside = [one for one in sorted(rank.iterdir()) if one.name not in _BESIDE and _graphs(one)]
        if len(inside) > 1:
            raise BadFile(rank, message("ms_dump.several", names=", ".join(one.name for one in inside[:5])).text())
        found += inside
    return found


def _is_rank(folder: Path) -> bool:
    """msrun makes folders of that name too, but without these."""
    return any((folder / name).is_dir() for name in _BESIDE)


def _graphs(network: Path) -> list[Path]:
    if not network.is_dir():
        return []
    return sorted(one for one in network.iterdir() if _NUMBER.fullmatch(one.name) and one.is_dir())


def _empty(networks: list[Path]) -> str:
    if any(next(one.glob("*/*/statistic.csv"), None) for one in networks):
        return message("ms_dump.statistics").text()
    return message("ms_dump.no_tensors").text()


@dataclass(frozen=True, slots=True, order=True)
class _File:
    time: int
    side: str
    slot: int
    op: str
    scope: str
    path: Path


def _of_network(network: Path) -> dict[int, list[Dumped]]:
    """The tensors of each iteration in the order they were written, which is that of execution."""
    graphs = {graph: execution_order(network.parent, graph.name) for graph in _graphs(network)}
    some_train = any(trains(order) for order in graphs.values())
    wrapped = any(is_wrapped(order) for order in graphs.values())
    steps: dict[int, list[Dumped]] = {}
    for graph, order in graphs.items():
        phase = Phase.EVAL if some_train and not trains(order) else Phase.TRAIN
        folders = (one for one in graph.iterdir() if _NUMBER.fullmatch(one.name) and one.is_dir())
        files = {int(folder.name): sorted(_files(folder)) for folder in folders}
        names = _Names(
            spellings(order, {file.scope for found in files.values() for file in found}) if order else None,
            places(order, wrapped=wrapped),
            parameter_keys(parameters(network.parent, graph.name), phase),
            phase,
        )
        for step, found in files.items():
            dumped = _of_iteration(found, names)
            if dumped:
                steps.setdefault(step, []).extend(dumped)
    return steps


@dataclass(frozen=True, slots=True)
class _Names:
    """What the file names of one graph stand for."""

    scopes: Mapping[str, str] | None
    places: Mapping[str, Place]
    parameters: Mapping[str, tuple[str, Key]]
    phase: Phase

    def of(self, file: _File) -> tuple[Key, str, str] | None:
        """The Key, the name and the type of a file's tensor; None for what belongs to no cell."""
        if file.op == _PARAMETER:
            unknown = file.scope, Key.of("", Kind.PARAM, file.scope, phase=self.phase)
            name, key = self.parameters.get(file.scope, unknown)
            return key, name, ""
        scope = file.scope if self.scopes is None else self.scopes.get(file.scope, "")
        place = unlisted(scope) if self.scopes is None else self.places.get(scope)
        if place is None:
            return None
        key = place.key(file.op, file.side == "input", file.slot, self.phase)
        return key, f"{scope}:{file.side}.{file.slot}", (place.type if key.index.isdigit() else "") or file.op


def _of_iteration(files: Iterable[_File], names: _Names) -> list[Dumped]:
    inputs: dict[Key, Dumped] = {}
    found: dict[Key, Dumped] = {}
    for file in files:
        named = names.of(file)
        # MindSpore may write two executions into one iteration: the first one is meant.
        if named is None or named[0] in found or named[0] in inputs:
            continue
        key, name, kind = named
        stored = read_npy(file.path, str(key))
        # A graph's parameters are written when it has run, its inputs among them.
        first = file.op == _PARAMETER and key.kind is Kind.IN
        (inputs if first else found)[key] = Dumped(key, name, stored.shape, str(stored.dtype), stored, type=kind)
    return [*inputs.values(), *found.values()]


def _files(iteration: Path) -> Iterator[_File]:
    names = long_names(iteration)
    for path in iteration.glob("*.npy"):
        found = _FILE.fullmatch(names.get(path.name, path.name))
        if found is not None:
            yield _File(int(found["time"]), found["side"], int(found["slot"]), found["op"], found["scope"], path)
