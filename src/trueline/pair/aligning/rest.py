"""What is left over once tensors in pieces are known: the blocks that these show, and what is alone of its kind."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace

from trueline.apitable.layers import layer_of_class
from trueline.compare.align.shapes import layout, untransposed
from trueline.model.finding import Certainty
from trueline.model.run import ParamInfo
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.layouts import lain_alike
from trueline.pair.aligning.nesting import same_holders
from trueline.pair.aligning.param_pair import ParamPair
from trueline.pair.questions.described import Described
from trueline.pair.questions.recording import Recording


def with_rest(aligned: Aligned, recordings: tuple[Recording, Recording]) -> Aligned:
    """The same with blocks that hold the same pieces, and in each block the layers that alone are of their kind."""
    aligned = replace(aligned, modules=_with_holders(aligned, recordings))
    if not aligned.only_bench or not aligned.only_port:
        return aligned
    sides = _layers(aligned.bench, aligned.only_bench), _layers(aligned.port, aligned.only_port)
    blocks = _blocks(aligned)
    pairs, modules = list(aligned.pairs), dict(aligned.modules)
    for there, here in _alone(*sides, blocks):
        modules[here] = there
        for leaf, tensor in sides[1][here].items():
            other = sides[0][there][leaf]
            paths = (aligned.bench.paths.get(other.name, other.name), aligned.port.paths.get(tensor.name, tensor.name))
            pairs.append(ParamPair(other, tensor, *paths, layout(other.shape, tensor.shape), Certainty.LIKELY))
    known = {id(tensor) for pair in pairs for tensor in (pair.bench, pair.port)}
    return replace(
        aligned,
        pairs=lain_alike(pairs, aligned.bench, aligned.port),
        modules=modules,
        only_bench=[tensor for tensor in aligned.only_bench if id(tensor) not in known],
        only_port=[tensor for tensor in aligned.only_port if id(tensor) not in known],
    )


def _with_holders(aligned: Aligned, recordings: tuple[Recording, Recording]) -> dict[str, str]:
    found = same_holders(aligned.bench, aligned.port, aligned.pairs, recordings, pieces=aligned.pieces)
    modules, taken = dict(aligned.modules), {*aligned.modules.values()}
    in_pieces = aligned.in_pieces
    for here, there in found.items():
        held = (there in in_pieces[0] and not _holds(aligned.bench, there)) if there is not None else True
        if there is not None and here not in modules and there not in taken and not held:
            modules[here] = there
            taken.add(there)
    return modules


def _holds(described: Described, path: str) -> bool:
    return any(other.startswith(f"{path}.") for other in described.types)


Layers = Mapping[str, Mapping[str, ParamInfo]]


def _layers(described: Described, lone: Sequence[ParamInfo]) -> dict[str, dict[str, ParamInfo]]:
    """Known layers of which no tensor has a counterpart, with their tensors in torch's word."""
    left = {parameter.name for parameter in lone}
    found: dict[str, dict[str, ParamInfo]] = {}
    for parameter in described.parameters:
        path, _, leaf = described.paths.get(parameter.name, parameter.name).rpartition(".")
        layer = layer_of_class(described.classes.get(path, ""))
        if layer is not None and not parameter.buffer:
            found.setdefault(path, {})[layer.torch_leaf(leaf) or leaf] = parameter
    return {path: tensors for path, tensors in found.items() if all(tensor.name in left for tensor in tensors.values())}


def _blocks(aligned: Aligned) -> list[tuple[str, str]]:
    """Pairs of modules that hold others, the innermost first."""
    holding = {path.rpartition(".")[0] for path in aligned.port.types}
    pairs = [(there, here) for here, there in aligned.modules.items() if here in holding]
    return sorted(pairs, key=lambda pair: -pair[1].count(".") - bool(pair[1]))


def _alone(bench: Layers, port: Layers, blocks: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Layers with the same tensors, the only such ones in a block, that both sides have."""
    free = {**bench}, {**port}
    for there, here in blocks:
        by_kind = _by_kind(free[0], there), _by_kind(free[1], here)
        for kind, others in by_kind[0].items():
            ours = by_kind[1].get(kind, [])
            if len(others) == len(ours) == 1:
                yield others[0], ours[0]
                del free[0][others[0]], free[1][ours[0]]


def _by_kind(layers: Layers, block: str) -> dict[Hashable, list[str]]:
    found: dict[Hashable, list[str]] = {}
    for path, tensors in layers.items():
        if not block or path.startswith(f"{block}."):
            what = frozenset((leaf, untransposed(tuple(tensor.shape or ()))) for leaf, tensor in tensors.items())
            found.setdefault(what, []).append(path)
    return found
