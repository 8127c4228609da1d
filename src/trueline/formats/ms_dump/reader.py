"""MindSpore's synchronous dump, as graph mode and jit write it: one .npy for each operator's input and output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trueline.formats.dump import Dump, Dumped
from trueline.formats.files import unreadable
from trueline.formats.ms_dump.layout import (
    PARAMETER,
    DumpFile,
    files_of,
    graphs_of,
    iterations_of,
    networks,
    rank_of,
    whole,
    why_empty,
)
from trueline.formats.ms_dump.listings import execution_order, parameters, spellings
from trueline.formats.ms_dump.places import Place, is_wrapped, parameter_keys, places, trains, unlisted
from trueline.formats.npy import read_npy
from trueline.model.key import Key, Kind, Phase
from trueline.model.message import message
from trueline.model.trouble import BadFile

TOOL: Final = "mindspore"


def looks_like_ms_dump(folder: Path) -> bool:
    """Whether a folder is one of MindSpore's dumps: of all ranks, of one, of a network, a graph or an iteration."""
    try:
        return bool(networks(whole(folder)[0]))
    except (OSError, BadFile):
        return False


def read_ms_dump(folder: Path) -> Dump:
    """A dump's tensors by iteration and rank: what belongs to a cell, and the graph's parameters and inputs.

    An evaluation's graph beside a training's has the phase eval. Iterations are counted as MindSpore counts them, over
    all graphs.
    """
    try:
        top, only = whole(folder)
        found_networks = networks(top)
        if not found_networks:
            raise BadFile(folder, message("ms_dump.not_a_dump").text())
        steps: dict[tuple[int, int], list[Dumped]] = {}
        for network in found_networks:
            rank = rank_of(network)
            for step, found in _of_network(network).items():
                if only in (None, step):
                    steps[step, rank] = found
        if not steps:
            raise BadFile(folder, why_empty(found_networks))
    except OSError as error:
        raise unreadable(folder, error) from None
    return Dump(folder, TOOL, dict(sorted(steps.items())))


def _of_network(network: Path) -> dict[int, list[Dumped]]:
    """The tensors of each iteration in the order they were written, which is that of execution."""
    graphs = {graph: execution_order(network.parent, graph.name) for graph in graphs_of(network)}
    some_train = any(trains(order) for order in graphs.values())
    wrapped = any(is_wrapped(order) for order in graphs.values())
    steps: dict[int, list[Dumped]] = {}
    for graph, order in graphs.items():
        phase = Phase.EVAL if some_train and not trains(order) else Phase.TRAIN
        files = {step: files_of(folder) for step, folder in iterations_of(graph).items()}
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

    def of(self, file: DumpFile) -> tuple[Key, str, str] | None:
        """The Key, the name and the type of a file's tensor; None for what belongs to no cell."""
        if file.op == PARAMETER:
            unknown = file.scope, Key.of("", Kind.PARAM, file.scope, phase=self.phase)
            name, key = self.parameters.get(file.scope, unknown)
            return key, name, ""
        scope = file.scope if self.scopes is None else self.scopes.get(file.scope, "")
        place = unlisted(scope) if self.scopes is None else self.places.get(scope)
        if place is None:
            return None
        key = place.key(file.op, file.side == "input", file.slot, self.phase)
        return key, f"{scope}:{file.side}.{file.slot}", (place.type if key.index.isdigit() else "") or file.op


def _of_iteration(files: Iterable[DumpFile], names: _Names) -> list[Dumped]:
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
        first = file.op == PARAMETER and key.kind is Kind.IN
        (inputs if first else found)[key] = Dumped(key, name, stored.shape, str(stored.dtype), stored, type=kind)
    return [*inputs.values(), *found.values()]
