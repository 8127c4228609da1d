"""Aligned by what goes into each layer, where names and structure leave parameters over on both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from trueline.apitable.layers import layer_of_class
from trueline.compare.align.shapes import layout, untransposed
from trueline.kernel.array import Array
from trueline.model.finding import Certainty
from trueline.model.run import ParamInfo
from trueline.pair.aligning.aligned import Aligned, is_tensor, left_over
from trueline.pair.aligning.divided import with_pieces
from trueline.pair.aligning.in_order import in_order
from trueline.pair.aligning.layouts import lain_alike
from trueline.pair.aligning.nesting import same_holders
from trueline.pair.aligning.param_pair import ParamPair
from trueline.pair.questions.described import Described
from trueline.pair.questions.model import BenchCall, Trace
from trueline.pair.questions.recording import Recording
from trueline.pair.sides.side import Side


def align_by_values(
    port: Side, aligned: Aligned, recordings: tuple[Recording, Recording], inputs: Sequence[Array]
) -> Aligned | None:
    """One run of the port; None where it leaves no fewer parameters over than the names did."""
    if not aligned.only_bench or not aligned.only_port:
        return None
    sides = (_Owned(aligned.bench), _Owned(aligned.port))
    found = _traced(port, aligned, sides, recordings, inputs)
    tensors = dict(_tensors(sides, found))
    tensors |= dict(_loose(sides, found, tensors))
    made = with_pieces(_made(aligned, sides, tensors, recordings), recordings)
    left = [len(one.only_bench) + len(one.only_port) for one in (made, aligned)]
    return made if left[0] < left[1] else None


@dataclass
class _Owned:
    """The tensors of a side by the module that has them: paths to what a checkpoint says of each."""

    described: Described

    def __post_init__(self) -> None:
        self.tensors: dict[str, ParamInfo] = {
            self.described.paths.get(parameter.name, parameter.name): parameter
            for parameter in self.described.parameters
            if is_tensor(parameter)
        }
        self.modules: dict[str, list[str]] = {}
        for path in self.tensors:
            self.modules.setdefault(path.rpartition(".")[0], []).append(path)

    def leaf(self, path: str) -> str:
        """What a tensor is in its layer, in torch's word where the layer is known."""
        module, _, leaf = path.rpartition(".")
        layer = layer_of_class(self.described.classes.get(module, ""))
        return (layer.torch_leaf(leaf) if layer is not None else None) or leaf

    def kind(self, module: str) -> str:
        """The kind of a layer; empty for one of the user's own."""
        layer = layer_of_class(self.described.classes.get(module, ""))
        return layer.kind if layer is not None else ""

    def shapes(self, module: str) -> list[tuple[int, ...]]:
        """Shapes of a module's own tensors, whichever way round; of one with matrices without its biases."""
        found = sorted(untransposed(self.tensors[path].shape) for path in self.modules[module])
        return [one for one in found if len(one) > 1] or found


def _traced(
    port: Side,
    aligned: Aligned,
    sides: tuple[_Owned, _Owned],
    recordings: tuple[Recording, Recording],
    inputs: Sequence[Array],
) -> Mapping[str, str]:
    """The benchmark's layer of each of the port's, by path."""
    bench = recordings[0]
    layers: dict[str, list[BenchCall]] = {}
    for call in bench.calls:
        if call.path in sides[0].modules and call.ins and call.outs:
            arrays = bench.arrays[call.ins[0]], bench.arrays[call.outs[0]]
            layers.setdefault(call.path, []).append(BenchCall(*arrays))
    here = [path for path in dict.fromkeys(call.path for call in recordings[1].calls) if path in sides[1].modules]

    @cache
    def fits(other: str, path: str) -> bool:
        return _fits(sides, other, path)

    candidates = {path: fitting for path in here if (fitting := [layer for layer in layers if fits(layer, path)])}
    ordered = in_order(here, list(layers), fits)
    return port.answer(Trace(inputs, layers, candidates, _likely(aligned), ordered))


def _likely(aligned: Aligned) -> dict[str, str]:
    owners = [(pair.port_path.rpartition(".")[0], pair.bench_path.rpartition(".")[0]) for pair in aligned.pairs]
    return dict(owners)


def _fits(sides: tuple[_Owned, _Owned], bench: str, port: str) -> bool:
    return _alike((sides[0].kind(bench), sides[1].kind(port))) and sides[0].shapes(bench) == sides[1].shapes(port)


def _alike(given: tuple[str, str]) -> bool:
    """Whether layers of two kinds may be each other's; a convolution over one place is a linear layer."""
    kinds = {*given} - {""}
    return len(kinds) < 2 or all(kind.startswith(("conv", "linear", "dense")) for kind in kinds)


def _tensors(sides: tuple[_Owned, _Owned], found: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The benchmark's tensor of each of the port's, in layers that were found."""
    for here, there in found.items():
        others = {sides[0].leaf(path): path for path in sides[0].modules[there]}
        for path in sides[1].modules[here]:
            other = others.pop(sides[1].leaf(path), None)
            if other is not None:
                yield path, other
            elif len(sides[1].modules[here]) == len(sides[0].modules[there]) == 1:
                yield path, sides[0].modules[there][0]


_Near = Callable[[int, str], frozenset[str]]


def _loose(
    sides: tuple[_Owned, _Owned], found: Mapping[str, str], tensors: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Tensors that no layer's call shows: of one shape, near the same layers, in their order."""
    taken = set(tensors.values())
    free = [path for path in sides[0].tensors if path not in taken]
    layers = ({other: other for other in found.values()}, found)
    loose = [tensor for tensor in sides[1].tensors if tensor not in tensors]

    @cache
    def near(side: int, path: str) -> frozenset[str]:
        return _near(path, layers[side])

    for path in list(loose):
        fitting = [other for other in free if _is_akin(sides, other, path)]
        shares = {other: _share(near(1, path), near(0, other)) for other in fitting}
        best = max(shares.values(), default=0.0)
        if best > 0:
            fitting = [one for one in fitting if shares[one] == best]
            same = [one for one in fitting if sides[0].leaf(one) == sides[1].leaf(path)]
            if _is_contested(sides, same or fitting, path, loose, near):
                continue
            other = (same or fitting)[0]
            free.remove(other)
            loose.remove(path)
            yield path, other


def _is_akin(sides: tuple[_Owned, _Owned], bench: str, port: str) -> bool:
    """Whether a tensor may be another one: by its shape, and by what it is where both layers are known."""
    if layout(sides[0].tensors[bench].shape, sides[1].tensors[port].shape) is None:
        return False
    kinds = sides[0].kind(bench.rpartition(".")[0]), sides[1].kind(port.rpartition(".")[0])
    return not all(kinds) or (_alike(kinds) and sides[0].leaf(bench) == sides[1].leaf(port))


def _is_contested(
    sides: tuple[_Owned, _Owned], fitting: Sequence[str], path: str, loose: Sequence[str], near: _Near
) -> bool:
    """Whether more layers are like a known one than it may be, and another tensor there is like none.

    That one may be some of them in one piece: then their order says nothing.
    """
    side, layer = sides[1], path.rpartition(".")[0]
    if not side.kind(layer) or not all(sides[0].kind(other.rpartition(".")[0]) for other in fitting):
        return False

    def what(tensor: str) -> tuple[object, ...]:
        owner = tensor.rpartition(".")[0]
        return side.kind(owner), side.leaf(tensor), side.tensors[tensor].shape, near(1, tensor)

    if sum(what(tensor) == what(path) for tensor in loose) <= len(fitting):
        return False
    beside = (tensor for tensor in sides[0].tensors if _share(near(0, tensor), near(1, path)) > 0)
    return any(not any(_is_akin(sides, tensor, other) for other in side.tensors) for tensor in beside)


def _near(path: str, layers: Mapping[str, str]) -> frozenset[str]:
    """The layers, by the benchmark's paths, of the innermost module around a tensor that has any."""
    while path:
        path = path.rpartition(".")[0]
        inside = frozenset(other for one, other in layers.items() if not path or one.startswith(f"{path}."))
        if inside:
            return inside
    return frozenset()


def _share(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / len(first | second) if first | second else 0.0


def _made(
    aligned: Aligned,
    sides: tuple[_Owned, _Owned],
    tensors: Mapping[str, str],
    recordings: tuple[Recording, Recording],
) -> Aligned:
    pairs = []
    for path, other in tensors.items():
        bench, port = sides[0].tensors[other], sides[1].tensors[path]
        pairs.append(ParamPair(bench, port, other, path, layout(bench.shape, port.shape), Certainty.LIKELY))
    pairs = lain_alike(pairs, aligned.bench, aligned.port)
    modules = same_holders(aligned.bench, aligned.port, pairs, recordings, pieces=aligned.pieces)
    return Aligned(
        aligned.bench,
        aligned.port,
        pairs,
        left_over(aligned.bench, aligned.port, pairs, _left(sides[0], tensors.values())),
        left_over(aligned.port, aligned.bench, pairs, _left(sides[1], tensors)),
        {path: other for path, other in modules.items() if other is not None},
    )


def _left(side: _Owned, taken: Iterable[str]) -> list[ParamInfo]:
    known = set(taken)
    return [parameter for path, parameter in side.tensors.items() if path not in known]
