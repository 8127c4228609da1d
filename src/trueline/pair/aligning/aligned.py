"""Which parameter and which module of the port is which of the benchmark's, and weights carried over by that."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from trueline.apitable.layers import layer_of_class
from trueline.compare.align import Item, Rules, Structure, align
from trueline.compare.align.shapes import layout
from trueline.model.key import Key, Kind
from trueline.model.run import CallInfo, ParamInfo
from trueline.pair.aligning.param_pair import ParamPair
from trueline.pair.aligning.uncrossing import uncrossed
from trueline.pair.questions.described import Described
from trueline.pair.questions.model import GetWeights, PutWeights
from trueline.pair.questions.recording import Recording
from trueline.pair.sides.side import Side

_COUNTER = "num_batches_tracked"


@dataclass(frozen=True)
class Aligned:
    """Pairs, what is left over, and modules of the port with the benchmark's path."""

    bench: Described
    port: Described
    pairs: Sequence[ParamPair]
    only_bench: Sequence[ParamInfo]
    only_port: Sequence[ParamInfo]
    modules: Mapping[str, str]

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
    taken = set(matched.values())
    only_bench = [here[leftover.key] for leftover in alignment.only_a]
    only_port = [there[leftover.key] for leftover in alignment.only_b]
    return Aligned(
        bench,
        port,
        pairs,
        [parameter for parameter in only_bench if says_something(bench, parameter, taken)],
        [parameter for parameter in only_port if says_something(port, parameter, matched)],
        matched,
    )


def carry_over(bench: Side, port: Side, aligned: Aligned) -> int:
    """Give the port the benchmark's values; returns how many."""
    fitting = [pair for pair in aligned.pairs if pair.layout is not None]
    if fitting:
        weights = bench.answer(GetWeights([pair.bench.name for pair in fitting]))
        port.answer(PutWeights({pair.port.name: pair.laid(weights[pair.bench.name]) for pair in fitting}))
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


def says_something(described: Described, parameter: ParamInfo, matched: Container[str]) -> bool:
    """Whether a tensor without a counterpart says anything: not another's second name, a buffer, or what a framework
    always has in a layer that has one itself, being among the ``matched`` modules."""
    if parameter.shared_with is not None or parameter.buffer:
        # What a buffer is for shows in the forward pass; the other framework may hold it as a plain tensor.
        return False
    path, _, leaf = described.paths.get(parameter.name, parameter.name).rpartition(".")
    layer = layer_of_class(described.classes.get(path, ""))
    if layer is None:
        return True
    extra = (*layer.only_torch, *layer.only_mindspore, *layer.statistics, *(layer.neutral if path in matched else ()))
    return leaf not in extra and layer.torch_leaf(leaf) not in extra


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
