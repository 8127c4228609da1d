"""Layers that one side has in one piece and the other in several: fused projections, gates, convolutions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from trueline.apitable.layers import layer_of_class
from trueline.compare.align.spelling import words_of
from trueline.model.run import ParamInfo
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.whole_and_pieces import Pieces
from trueline.pair.questions.described import Described

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
    def name(self) -> str:
        return self.path.rpartition(".")[2]


def with_pieces(aligned: Aligned) -> Aligned:
    """The same, with layers without a counterpart that together are one of the other side's, and the other way."""
    theirs, ours = _layers(aligned.bench, aligned.only_bench), _layers(aligned.port, aligned.only_port)
    holders = {other: path for path, other in aligned.modules.items()}
    found = [
        *_found(theirs, ours, holders, of_port=True),
        *_found(ours, theirs, dict(aligned.modules), of_port=False),
    ]
    if not found:
        return aligned
    taken = {id(parameter) for pieces in found for parameter in (*pieces.bench, *pieces.port)}
    return replace(
        aligned,
        only_bench=[parameter for parameter in aligned.only_bench if id(parameter) not in taken],
        only_port=[parameter for parameter in aligned.only_port if id(parameter) not in taken],
        pieces=found,
    )


def _layers(described: Described, lone: Sequence[ParamInfo]) -> list[_Layer]:
    found: dict[str, dict[str, ParamInfo]] = {}
    for parameter in lone:
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
            yield Pieces([parameter], parts, axis) if of_port else Pieces(parts, [parameter], axis)


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
        if len(named) == len(run) == len(order):
            return [named[word] for word in order]
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
