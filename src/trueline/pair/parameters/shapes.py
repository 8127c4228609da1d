"""Tensors of both sides that have other shapes: the same change of one size is one cause, wherever it shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.model.message import Message, message
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.param_pair import ParamPair
from trueline.pair.blame import Blame, Cause, Setting, Stage
from trueline.pair.parameters.unmatched import shape_text

# The port's size and the benchmark's along an axis.
Change = tuple[int, int]
# In fewer modules a size may be another for two reasons.
_MIN_MODULES: Final = 3


def shape_blames(aligned: Aligned) -> Iterator[Blame]:
    """One for each change of a size that many modules share; else one for each tensor."""
    unlike = [pair for pair in aligned.pairs if pair.layout is None]
    groups: dict[Change, list[ParamPair]] = {}
    for pair in unlike:
        changes = _changes(pair)
        if len(changes) == 1:
            groups.setdefault(next(iter(changes)), []).append(pair)
    shared = {
        change: pairs for change, pairs in groups.items() if len({_module(pair) for pair in pairs}) >= _MIN_MODULES
    }
    for change, pairs in shared.items():
        words = {"port": change[0], "bench": change[1], "first": pairs[0].port.name, "count": len(pairs)}
        text = message("pair_stage.size", modules=len({_module(pair) for pair in pairs}), **words)
        yield _blame(aligned, pairs, text, (change[1], change[0]))
    for pair in unlike:
        if not any(pair in pairs for pairs in shared.values()):
            bench, port = shape_text(pair.bench.shape), shape_text(pair.port.shape)
            text = message("pair_stage.shape", name=pair.port.name, bench=bench, port=port)
            yield _blame(aligned, [pair], text, (bench, port))


def _changes(pair: ParamPair) -> set[Change]:
    """Which sizes are others; none where the axes are not as many."""
    if len(pair.port.shape) != len(pair.bench.shape):
        return set()
    return {(here, there) for here, there in zip(pair.port.shape, pair.bench.shape, strict=True) if here != there}


def _module(pair: ParamPair) -> str:
    return pair.port_path.rpartition(".")[0]


def _blame(aligned: Aligned, pairs: list[ParamPair], text: Message, values: tuple[Setting, Setting]) -> Blame:
    first = pairs[0]
    module, other = _module(first), first.bench_path.rpartition(".")[0]
    also = [path for path in dict.fromkeys(map(_module, pairs)) if path != module]
    lines = [
        next((each.built_at for each in described.modules if each.path == path), None)
        for described, path in ((aligned.port, module), (aligned.bench, other))
    ]
    return Blame(
        Stage.PARAMETERS,
        Cause.SHAPE,
        text,
        module,
        other,
        *values,
        confirmed=True,
        line=lines[0],
        other_line=lines[1],
        evidence=[{"name": pair.port.name, "other": pair.bench.name} for pair in pairs]
        + ([{"modules": also}] if also else []),
    )
