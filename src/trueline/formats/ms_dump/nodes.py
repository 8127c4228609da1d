"""MindSpore's dump operator by operator, in the order of execution: also what belongs to no cell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trueline.formats.dump import Dumped, Node
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
from trueline.formats.ms_dump.places import Place, is_wrapped, parameter_keys, places
from trueline.formats.npy import read_npy
from trueline.model.key import Key, Kind, Phase
from trueline.model.message import message
from trueline.model.trouble import BadFile

_UPDATE: Final = re.compile(r"Default[/_](?:[^/]*[/_])?optimizer-")


@dataclass(frozen=True, slots=True)
class _Graph:
    """What a graph's listings say: its operators in order, their cells, its parameters."""

    order: Sequence[str]
    places: Mapping[str, Place]
    parameters: Mapping[str, tuple[str, Key]]


def read_ms_nodes(folder: Path) -> Iterator[tuple[tuple[int, int], list[Node]]]:
    """The operators of each (iteration, rank), one after the other: an iteration's files are opened when it comes."""
    try:
        top, only = whole(folder)
        found = networks(top)
        if not found:
            raise BadFile(folder, message("ms_dump.not_a_dump").text())
        graphs: dict[Path, _Graph] = {}
        folders: dict[tuple[int, int], list[Path]] = {}
        for network in found:
            for graph, known in _known(network).items():
                graphs[graph] = known
                for step, iteration in iterations_of(graph).items():
                    if only in (None, step):
                        folders.setdefault((step, rank_of(network)), []).append(iteration)
        some = False
        for place, iterations in sorted(folders.items()):
            executed = [(files, graphs[path.parent]) for path in iterations if (files := files_of(path))]
            executed.sort(key=lambda one: one[0][0].time)
            nodes = [node for files, graph in executed for node in _nodes(files, graph)]
            if nodes:
                some = True
                yield place, nodes
        if not some:
            raise BadFile(folder, why_empty(found))
    except OSError as error:
        raise unreadable(folder, error) from None


def _known(network: Path) -> dict[Path, _Graph]:
    orders = {graph: execution_order(network.parent, graph.name) for graph in graphs_of(network)}
    wrapped = any(is_wrapped(order) for order in orders.values())
    return {
        graph: _Graph(
            order,
            places(order, wrapped=wrapped),
            parameter_keys(parameters(network.parent, graph.name), Phase.TRAIN),
        )
        for graph, order in orders.items()
    }


def _nodes(files: Sequence[DumpFile], graph: _Graph) -> list[Node]:
    spelt = spellings(graph.order, {file.scope for file in files})
    fed: list[Node] = []
    kept: list[Node] = []
    calls: list[list[DumpFile]] = []
    open_calls: dict[str, list[DumpFile]] = {}
    for file in files:
        if file.op == PARAMETER:
            node = _parameter(file, graph)
            (fed if node.part == "data" else kept).append(node)
            continue
        call = open_calls.get(file.scope)
        # The same tensor once more is another execution, as in a loop.
        if call is None or any((one.side, one.slot) == (file.side, file.slot) for one in call):
            call = open_calls[file.scope] = []
            calls.append(call)
        call.append(file)
    ordered = _in_order(calls, spelt, {scope: place for place, scope in enumerate(graph.order)})
    return [*fed, *(_operator(call, spelt, graph) for call in ordered), *kept]


def _in_order(calls: list[list[DumpFile]], spelt: Mapping[str, str], listed: Mapping[str, int]) -> list[list[DumpFile]]:
    """In the order of time; a device that numbers its tasks writes them when it likes, so its own order counts."""
    numbered = any(file.task or file.stream for call in calls for file in call)
    once = len({call[0].scope for call in calls}) == len(calls)
    if not numbered or not once:
        return calls
    if all(call[0].scope in spelt for call in calls):
        return sorted(calls, key=lambda call: listed[spelt[call[0].scope]])
    if len({call[0].stream for call in calls}) == 1:
        return sorted(calls, key=lambda call: call[0].task)
    return calls


def _parameter(file: DumpFile, graph: _Graph) -> Node:
    unknown = file.scope, Key.of("", Kind.PARAM, file.scope)
    name, key = graph.parameters.get(file.scope, unknown)
    part = "data" if key.kind is Kind.IN else "weights"
    return Node(name, PARAMETER, key.module, part, (), [_dumped(file, key)])


def _operator(call: Sequence[DumpFile], spelt: Mapping[str, str], graph: _Graph) -> Node:
    scope = spelt.get(call[0].scope, call[0].scope)
    place = graph.places.get(scope)
    backward = scope.startswith("Gradients")
    part = "backward" if backward else "update" if _UPDATE.match(scope) else "forward"
    module = place.module if place is not None else ""
    kinds = {"input": Kind.GOUT if backward else Kind.IN, "output": Kind.GIN if backward else Kind.OUT}
    tensors: dict[str, list[Dumped]] = {"input": [], "output": []}
    for file in sorted(call, key=lambda one: (one.side, one.slot)):
        tensors[file.side].append(_dumped(file, Key.of(module, kinds[file.side], file.slot)))
    return Node(scope, call[0].op, module, part, tensors["input"], tensors["output"])


def _dumped(file: DumpFile, key: Key) -> Dumped:
    stored = read_npy(file.path, file.path.name)
    name = f"{file.scope}:{file.side}.{file.slot}"
    return Dumped(key, name, stored.shape, stored.dtype.name, stored, type=file.op)
