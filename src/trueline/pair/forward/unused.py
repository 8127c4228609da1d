"""Layers that the port has built and never uses, where the benchmark uses its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.model.message import message
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.blame import Blame, Cause, Stage
from trueline.pair.questions.described import Described
from trueline.pair.questions.model import GetWeights, PutWeights
from trueline.pair.questions.recording import Recording
from trueline.pair.sides.side import Side

_MOST: Final = 8


def unused_blames(
    sides: tuple[Side, Side], aligned: Aligned, recordings: tuple[Recording, Recording], inputs: Sequence[Array]
) -> Iterator[Blame]:
    """Modules that only the benchmark calls, and whose weights change what only the benchmark gives out.

    A layer that is not called may still lend its weights to the code around it.
    """
    found = list(_uncalled(aligned, recordings))[:_MOST]
    if not found:
        return
    outputs = [side.forward(inputs) for side in sides]
    for here, others in found:
        there = others[0]
        bench, port = _Own(sides[0], aligned.bench, others), _Own(sides[1], aligned.port, [here])
        if bench.names and port.names and not port.matters(inputs, outputs[1]) and bench.matters(inputs, outputs[0]):
            text = message("pair_stage.unused", module=here, kind=aligned.port.types.get(here, ""), other=there)
            yield Blame(
                Stage.FORWARD,
                Cause.MISSING_OP,
                text,
                here,
                there,
                confirmed=True,
                line=aligned.port.built_at(here),
                other_line=aligned.bench.built_at(there),
            )


def _uncalled(aligned: Aligned, recordings: tuple[Recording, Recording]) -> Iterator[tuple[str, list[str]]]:
    """The outermost modules of the port in which nothing is called, and the benchmark's, in which something is.

    These are what is around all the counterparts, if anything is but the whole network.
    """
    called = [{above for path in recording.counts for above in _with_above(path)} for recording in recordings]
    counterparts: dict[str, list[str]] = {}
    for pair in aligned.pairs:
        owner, other = (path.rpartition(".")[0] for path in (pair.port_path, pair.bench_path))
        outermost = next((path for path in reversed([*_with_above(owner)]) if path not in called[1]), None)
        if outermost is not None and other in called[0]:
            counterparts.setdefault(outermost, []).append(other)
    for here, others in counterparts.items():
        there = aligned.modules.get(here) or ".".join(_shared([path.split(".") for path in others]))
        yield here, [there] if there else list(dict.fromkeys(others))


def _shared(paths: Sequence[Sequence[str]]) -> Iterator[str]:
    for parts in zip(*paths, strict=False):
        if len(set(parts)) > 1:
            return
        yield parts[0]


def _with_above(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition(".")[0]


@dataclass(frozen=True)
class _Own:
    """What modules of a side hold."""

    side: Side
    described: Described
    modules: Sequence[str]

    @property
    def names(self) -> list[str]:
        """Their own parameters, which no other module has."""
        return [
            parameter.name
            for parameter in self.described.parameters
            if {*_with_above(self.described.paths.get(parameter.name, parameter.name))} & {*self.modules}
            and "float" in parameter.dtype
            and not parameter.buffer
            and parameter.shared_with is None
        ]

    def matters(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> bool:
        """Whether other values of these parameters give other outputs."""
        kept: Mapping[str, Array] = self.side.answer(GetWeights(self.names))
        other = {name: (1.5 * array + 0.5).astype(array.dtype) for name, array in kept.items()}
        self.side.answer(PutWeights(other))
        try:
            after = self.side.forward(inputs)
        finally:
            self.side.answer(PutWeights(kept))
        return not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(after, outputs, strict=True))
