"""Which parameter and which module of the port is which of the benchmark's, and weights carried over by that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from trueline.apitable.layers import layer_of_class
from trueline.compare.align import Item, Rules, Structure, align
from trueline.compare.align.shapes import layout
from trueline.model.key import Key, Kind
from trueline.model.run import CallInfo, ParamInfo
from trueline.pair.aligning.layouts import lain_alike
from trueline.pair.aligning.param_pair import ParamPair
from trueline.pair.aligning.uncrossing import uncrossed
from trueline.pair.aligning.whole_and_pieces import Pieces
from trueline.pair.questions.described import Described
from trueline.pair.questions.model import GetWeights, PutWeights
from trueline.pair.questions.recording import Recording
from trueline.pair.sides.side import Side

_COUNTER = "num_batches_tracked"


@dataclass(frozen=True)
class Aligned:
    """Pairs, what is left over, and modules of the port with the benchmark's path.

    ``pieces`` are tensors that one side has in one piece and the other in several.
    """

    bench: Described
    port: Described
    pairs: Sequence[ParamPair]
    only_bench: Sequence[ParamInfo]
    only_port: Sequence[ParamInfo]
    modules: Mapping[str, str]
    pieces: Sequence[Pieces] = ()

    @property
    def is_whole(self) -> bool:
        """Whether every parameter has a counterpart of its shape; else some module had other values."""
        return not self.only_bench and not self.only_port and all(pair.layout is not None for pair in self.pairs)

    @cached_property
    def in_pieces(self) -> tuple[frozenset[str], frozenset[str]]:
        """The benchmark's and the port's layers that are pieces, or made of them: none is another's counterpart."""
        owners = (
            {_owner(self.bench, parameter) for pieces in self.pieces for parameter in pieces.bench},
            {_owner(self.port, parameter) for pieces in self.pieces for parameter in pieces.port},
        )
        return frozenset(owners[0] - {*self.modules.values()}), frozenset(owners[1] - self.modules.keys())

    @cached_property
    def unlike(self) -> dict[str, str]:
        """Layers of the port, with the benchmark's, that each have a tensor which the other has no counterpart of.

        They are not one layer, whatever their names: what one is given tells nothing of what the other is to be given.
        """
        here, there = _sizes(self.port, self.only_port), _sizes(self.bench, self.only_bench)
        # Tensors of one size may hold the same numbers in another shape.
        return {
            path: other
            for path, other in self.modules.items()
            if path in here and other in there and here[path] != there[other]
        }

    @cached_property
    def by_bench_path(self) -> dict[str, ParamPair]:
        """Pairs by the benchmark's attribute path."""
        return {pair.bench_path: pair for pair in self.pairs}

    @cached_property
    def by_port_path(self) -> dict[str, ParamPair]:
        """Pairs by the port's attribute path."""
        return {pair.port_path: pair for pair in self.pairs}


def align_sides(
    bench: Described,
    port: Described,
    recordings: tuple[Recording, Recording] | None = None,
    rules: Rules | None = None,
) -> Aligned:
    """Align by names, layers and shapes, and by who calls whom where both were recorded."""
    here, there = _by_key(bench), _by_key(port)
    calls = [_calls(recording) for recording in recordings] if recordings is not None else [(), ()]
    alignment = align(
        Structure(
            [Item(key, parameter.shape, parameter.dtype) for key, parameter in here.items()], bench.types, calls[0]
        ),
        Structure(
            [Item(key, parameter.shape, parameter.dtype) for key, parameter in there.items()], port.types, calls[1]
        ),
        rules or Rules(),
    )
    pairs = [
        ParamPair(
            here[pair.a],
            there[pair.b],
            bench.paths.get(here[pair.a].name, here[pair.a].name),
            port.paths.get(there[pair.b].name, there[pair.b].name),
            layout(here[pair.a].shape, there[pair.b].shape),
            pair.certainty,
        )
        for pair in alignment.pairs
    ]
    pairs = lain_alike(pairs, bench, port)
    if recordings is not None:
        pairs = uncrossed(pairs, recordings)
    paths = {module.path for module in bench.modules}
    renamed = alignment.renamed
    others = set(renamed.values())
    # A module of the same name is no counterpart where another one is.
    modules = {
        module.path: renamed.get(module.path, module.path)
        for module in port.modules
        if module.path in renamed or module.path not in others
    }
    by_params = _by_parameters(pairs)
    matched = {port_path: by_params.get(port_path, there) for port_path, there in modules.items() if there in paths}
    return Aligned(
        bench,
        port,
        pairs,
        left_over(bench, port, pairs, [here[leftover.key] for leftover in alignment.only_a]),
        left_over(port, bench, pairs, [there[leftover.key] for leftover in alignment.only_b]),
        matched,
    )


def _sizes(described: Described, parameters: Iterable[ParamInfo]) -> dict[str, list[int]]:
    """How many numbers tensors hold, by the layer that holds them."""
    found: dict[str, list[int]] = {}
    for parameter in parameters:
        found.setdefault(_owner(described, parameter), []).append(prod(parameter.shape))
    return {path: sorted(sizes) for path, sizes in found.items() if path}


def _owner(described: Described, parameter: ParamInfo) -> str:
    return described.paths.get(parameter.name, parameter.name).rpartition(".")[0]


def apart(aligned: Aligned, pieces: Sequence[Pieces]) -> Aligned:
    """The same with some tensors of both sides known to be each other's, cut otherwise.

    Modules that have only some of them, or of which only the counterpart has, are no counterparts, nor are layers whose
    weights lie otherwise, since so do their inputs: around them is the block that is the same.
    """
    if not pieces:
        return aligned
    taken = {id(parameter) for group in pieces for parameter in (*group.bench, *group.port)}
    groups = [(group.bench_paths(aligned.bench), group.port_paths(aligned.port)) for group in pieces]

    def hold_alike(here: str, there: str) -> bool:
        return all(_held(there, bench) is _held(here, port) is not None for bench, port in groups)

    laid = {
        (port[0].rpartition(".")[0], bench[0].rpartition(".")[0])
        for bench, port in groups
        if len(bench) == len(port) == 1
    }
    return replace(
        aligned,
        modules={
            here: there
            for here, there in aligned.modules.items()
            if hold_alike(here, there) and (not here or (here, there) not in laid)
        },
        only_bench=[parameter for parameter in aligned.only_bench if id(parameter) not in taken],
        only_port=[parameter for parameter in aligned.only_port if id(parameter) not in taken],
        pieces=[*aligned.pieces, *pieces],
    )


def _held(module: str, paths: Sequence[str]) -> bool | None:
    """Whether tensors are below a module, all or none; None for some."""
    held = {not module or path.startswith(f"{module}.") for path in paths}
    return held.pop() if len(held) == 1 else None


def carry_over(bench: Side, port: Side, aligned: Aligned) -> int:
    """Give the port the benchmark's values; returns how many."""
    fitting = [pair for pair in aligned.pairs if pair.layout is not None]
    if fitting:
        weights = bench.answer(GetWeights([pair.bench.name for pair in fitting]))
        port.answer(PutWeights({pair.port.name: pair.laid(weights[pair.bench.name]) for pair in fitting}))
    if aligned.pieces:
        names = [parameter.name for pieces in aligned.pieces for parameter in pieces.bench]
        weights = bench.answer(GetWeights(names))
        port.answer(PutWeights(dict(item for pieces in aligned.pieces for item in pieces.laid(weights))))
    return len(fitting)


def _by_key(described: Described) -> dict[Key, ParamInfo]:
    return {
        Key.of_parameter(described.paths.get(parameter.name, parameter.name), Kind.PARAM): parameter
        for parameter in described.parameters
        if is_tensor(parameter)
    }


def _by_parameters(pairs: Sequence[ParamPair]) -> dict[str, str]:
    """The benchmark's module of each module of the port that has tensors of its own, by those."""
    found: dict[str, str] = {}
    for pair in pairs:
        found.setdefault(pair.port_path.rpartition(".")[0], pair.bench_path.rpartition(".")[0])
    return found


def is_tensor(parameter: ParamInfo) -> bool:
    """Whether it is more than a counter."""
    return not parameter.name.endswith(_COUNTER)


def left_over(
    described: Described, other: Described, pairs: Sequence[ParamPair], lone: Iterable[ParamInfo]
) -> list[ParamInfo]:
    """Of the tensors without a counterpart those that say something.

    Not: another's second name, a buffer, what a framework always has of a layer that the other side has too.
    """
    paired = {path.rpartition(".")[0] for pair in pairs for path in (pair.bench_path, pair.port_path)}
    bare = _bare_layers(other, paired)
    excused: set[str] = set()
    found: list[ParamInfo] = []
    for parameter in lone:
        if parameter.shared_with is not None or parameter.buffer:
            # What a buffer is for shows in the forward pass; the other framework may hold it as a plain tensor.
            continue
        path, _, leaf = described.paths.get(parameter.name, parameter.name).rpartition(".")
        layer = layer_of_class(described.classes.get(path, ""))
        leaves = {leaf, layer.torch_leaf(leaf)} if layer is not None else set()
        if layer is None or not leaves & {*layer.only_torch, *layer.only_mindspore, *layer.statistics, *layer.neutral}:
            found.append(parameter)
        elif leaves & layer.neutral.keys() and path not in paired and path not in excused:
            if bare[layer.kind]:
                bare[layer.kind] -= 1
                excused.add(path)
            else:
                found.append(parameter)
    return found


def _bare_layers(described: Described, paired: Collection[str]) -> Counter[str]:
    """How many layers of each kind have no tensors of their own, and so may be another's that has neutral ones."""
    own = {
        described.paths.get(parameter.name, parameter.name).rpartition(".")[0]
        for parameter in described.parameters
        if not parameter.buffer
    }
    layers = (layer_of_class(name) for path, name in described.classes.items() if path not in own | set(paired))
    return Counter(layer.kind for layer in layers if layer is not None)


def _calls(recording: Recording) -> list[CallInfo]:
    """Calls with the ones that feed them: their inputs are these's outputs."""
    makers: dict[int, int] = {}
    found: list[CallInfo] = []
    for place, call in enumerate(recording.calls):
        feeds = sorted({makers[each] for each in call.ins if each in makers})
        found.append(CallInfo(call.path, call.call, "eval", None, feeds))
        for out in call.outs:
            makers.setdefault(out, place)
    return found
