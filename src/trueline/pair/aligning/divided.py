"""Layers that one side has in one piece and the other in several: fused projections, gates, convolutions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from trueline.apitable.layers import layer_of_class
from trueline.compare.align.spelling import words_of
from trueline.model.run import ParamInfo
from trueline.pair.aligning.aligned import Aligned, apart
from trueline.pair.aligning.param_pair import ParamPair
from trueline.pair.aligning.whole_and_pieces import Pieces
from trueline.pair.questions.described import Described
from trueline.pair.questions.recording import Recording

_MOST_PIECES: Final = 8
# What a fused layer holds in this order, in whatever order its pieces are defined.
_ORDERS: Final = (("query", "key", "value"),)


@dataclass(frozen=True, slots=True)
class _Layer:
    """A module with tensors that have no counterpart: by their names in torch's word."""

    path: str
    tensors: Mapping[str, ParamInfo]

    @property
    def parent(self) -> str:
        return self.path.rpartition(".")[0]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {leaf: tuple(parameter.shape or ()) for leaf, parameter in self.tensors.items()}

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]


def with_pieces(aligned: Aligned, recordings: tuple[Recording, Recording]) -> Aligned:
    """The same, with layers without a counterpart that together are one of the other side's, and the other way."""
    if not aligned.only_bench or not aligned.only_port:
        return aligned
    aligned = _exchanged(aligned, recordings)
    theirs, ours = _layers(aligned.bench, aligned.only_bench), _layers(aligned.port, aligned.only_port)
    holders = {other: path for path, other in aligned.modules.items()}
    found = [
        *_found(theirs, ours, holders, of_port=True),
        *_found(ours, theirs, dict(aligned.modules), of_port=False),
    ]
    return apart(aligned, found)


def _exchanged(aligned: Aligned, recordings: tuple[Recording, Recording]) -> Aligned:
    """The pieces of one layer are given the same: one of them that names have paired changes places with one that is
    left over and given something else."""
    for at, lone in enumerate((aligned.only_bench, aligned.only_port)):
        described = (aligned.bench, aligned.port)[at]
        given = _given(recordings[at])
        for layer, other in _strangers(_layers(described, lone), _paired(aligned, at), given):
            aligned = _swapped(aligned, at, layer, other)
    return aligned


def _strangers(
    lone: Sequence[_Layer], paired: Mapping[str, _Layer], given: Mapping[str, int]
) -> Iterator[tuple[_Layer, _Layer]]:
    """A layer without a counterpart among siblings that share another input, and one with a counterpart that shares
    theirs."""
    families: dict[str, list[_Layer]] = {}
    for layer in lone:
        families.setdefault(layer.parent, []).append(layer)
    for parent, family in families.items():
        siblings = [layer for layer in paired.values() if layer.parent == parent]
        counted = Counter(given[layer.path] for layer in (*family, *siblings) if layer.path in given)
        taken = max((given[layer.path] for layer in family if layer.path in given), key=counted.__getitem__, default=-1)
        if counted[taken] < 2:
            continue
        strangers = [layer for layer in family if given.get(layer.path) != taken]
        like = [layer for layer in siblings if given.get(layer.path) == taken]
        if len(strangers) == len(like) == 1 and strangers[0].shapes == like[0].shapes:
            yield strangers[0], like[0]


def _paired(aligned: Aligned, at: int) -> dict[str, _Layer]:
    described = (aligned.bench, aligned.port)[at]
    pairs = [(pair.bench, pair.port)[at] for pair in aligned.pairs]
    return {layer.path: layer for layer in _layers(described, pairs)}


def _given(recording: Recording) -> dict[str, int]:
    """The first input of each layer."""
    return {call.path: call.ins[0] for call in reversed(recording.calls) if call.ins}


def _swapped(aligned: Aligned, at: int, lone: _Layer, paired: _Layer) -> Aligned:
    """The same with two layers of one side in each other's places."""
    described = (aligned.bench, aligned.port)[at]
    instead = {id(parameter): lone.tensors[leaf] for leaf, parameter in paired.tensors.items()}
    back = {id(lone.tensors[leaf]): parameter for leaf, parameter in paired.tensors.items()}

    def moved(pair: ParamPair) -> ParamPair:
        found = instead.get(id((pair.bench, pair.port)[at]))
        if found is None:
            return pair
        path = described.paths.get(found.name, found.name)
        if at:
            return replace(pair, port=found, port_path=path)
        return replace(pair, bench=found, bench_path=path)

    modules = dict(aligned.modules)
    if at:
        other = modules.pop(paired.path, None)
        modules |= {lone.path: other} if other is not None else {}
    else:
        modules = {path: lone.path if there == paired.path else there for path, there in modules.items()}
    lone_ones = aligned.only_port if at else aligned.only_bench
    left = [back.get(id(parameter), parameter) for parameter in lone_ones]
    made = replace(aligned, pairs=[moved(pair) for pair in aligned.pairs], modules=modules)
    return replace(made, only_port=left) if at else replace(made, only_bench=left)


def _layers(described: Described, lone: Sequence[ParamInfo]) -> list[_Layer]:
    found: dict[str, dict[str, ParamInfo]] = {}
    order = {parameter.name: place for place, parameter in enumerate(described.parameters)}
    for parameter in sorted(lone, key=lambda parameter: order.get(parameter.name, 0)):
        path, _, leaf = described.paths.get(parameter.name, parameter.name).rpartition(".")
        layer = layer_of_class(described.classes.get(path, ""))
        word = (layer.torch_leaf(leaf) if layer is not None else None) or leaf
        found.setdefault(path, {})[word] = parameter
    return [_Layer(path, tensors) for path, tensors in found.items()]


def _found(
    wholes: Sequence[_Layer], pieces: Sequence[_Layer], counterparts: Mapping[str, str], *, of_port: bool
) -> Iterator[Pieces]:
    """``of_port``: the pieces are the port's. Each piece belongs to one layer only, the nearest in order."""
    free = list(pieces)
    for whole in wholes:
        run = next((run for run in _runs(whole, free) if _may_be_in(whole, run, counterparts)), None)
        if run is None:
            continue
        used = {layer.path for layer in run}
        free = [layer for layer in free if layer.path not in used]
        for leaf, parameter in whole.tensors.items():
            axis = _axis(parameter.shape, [layer.tensors[leaf].shape for layer in run])
            assert axis is not None
            parts = [layer.tensors[leaf] for layer in run]
            turned = axis > 0
            yield Pieces([parameter], parts, axis, turned) if of_port else Pieces(parts, [parameter], axis, turned)


def _runs(whole: _Layer, pieces: Sequence[_Layer]) -> Iterator[list[_Layer]]:
    """Neighbours among layers of one parent whose tensors, put together, have the whole's shapes."""
    for first in range(len(pieces)):
        for count in range(2, min(_MOST_PIECES, len(pieces) - first) + 1):
            run = list(pieces[first : first + count])
            if any(layer.parent != run[0].parent or layer.tensors.keys() != whole.tensors.keys() for layer in run):
                break
            shapes = {leaf: [layer.tensors[leaf].shape for layer in run] for leaf in whole.tensors}
            if all(_axis(parameter.shape, shapes[leaf]) is not None for leaf, parameter in whole.tensors.items()):
                yield _ordered(run)


def _ordered(run: list[_Layer]) -> list[_Layer]:
    for order in _ORDERS:
        named = {word: layer for layer in run for word in order if word in words_of(layer.name)}
        if len(named) == len(run):
            return [named[word] for word in order if word in named]
    return run


def _may_be_in(whole: _Layer, run: Sequence[_Layer], counterparts: Mapping[str, str]) -> bool:
    """Whether the pieces stand in the block that is the whole's, as far as one around it has a counterpart."""
    path = whole.path
    while path:
        path = path.rpartition(".")[0]
        other = counterparts.get(path)
        if path and other:
            return run[0].path.startswith(f"{other}.") or other.startswith(f"{run[0].parent}.")
    return True


def _axis(whole: Sequence[int] | None, pieces: Sequence[Sequence[int] | None]) -> int | None:
    """Along which axis of the whole the pieces lie, one after the other; they may be transposed."""
    known = [tuple(shape) for shape in pieces if shape is not None]
    if whole is None or len(known) != len(pieces) or any(len(shape) != len(known[0]) for shape in known):
        return None
    for turned in (False, True):
        laid = [shape[::-1] if turned and len(shape) == 2 else shape for shape in known]
        axis = len(whole) - 1 if turned else 0
        rest = [shape[:axis] + shape[axis + 1 :] for shape in laid]
        if len(laid[0]) != len(whole) or any(shape != rest[0] for shape in rest):
            continue
        if sum(shape[axis] for shape in laid) == whole[axis] and rest[0] == (*whole[:axis], *whole[axis + 1 :]):
            return axis
    return None
