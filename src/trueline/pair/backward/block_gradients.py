"""The gradients of a block's own code, what its layers do left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import numpy as np

from trueline.kernel import distance
from trueline.kernel.array import Array
from trueline.pair.ops.channels import laid_as
from trueline.pair.ops.op_level import BlockCall
from trueline.pair.questions.blocks import Between, GradientsBetween, Undo
from trueline.pair.sides.side import Side

# A gradient this much smaller than the block's largest is rounding.
_ROUNDING_SHARE: Final = 1e-3
_PARAMETER: Final = "param/"
_INPUT: Final = "in/"
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


def gradients_between(
    side: Side,
    blocks: Sequence[BlockCall],
    *,
    of_port: bool,
    undo: Undo = (),
    only: Sequence[str] | None = None,
    watched: bool = False,
    parameters: Mapping[str, str] = _NOTHING,
) -> list[Between]:
    """Ask a side for the gradients of blocks that are run in the same mode.

    ``undo`` are places among the stops that are to stop nothing; ``only`` are some of the sinks; with ``watched`` the
    lines where gradients ended are given too. ``parameters`` are the benchmark's paths by the port's.
    """
    specs = [block.spec(of_port=of_port) for block in blocks]
    answers = side.answer(GradientsBetween(specs, blocks[0].train, undo, only, watched))
    return [
        replace(
            between,
            gradients=_by_tensor(
                block,
                _as_the_benchmarks(block, between, parameters) if of_port else between.gradients.items(),
            ),
        )
        for between, block in zip(answers, blocks, strict=True)
    ]


def _by_tensor(block: BlockCall, gradients: Iterable[tuple[str, Array | None]]) -> dict[str, Array | None]:
    """Gradients by name; of an input that is given more than once their sum, where it is given first."""
    again = {f"{_INPUT}{place}": f"{_INPUT}{first}" for place, first in enumerate(block.first)}
    found: dict[str, Array | None] = {}
    for name, gradient in gradients:
        first = again.get(name, name)
        before = found.get(first)
        found[first] = gradient if before is None else before if gradient is None else before + gradient
    return found


def _as_the_benchmarks(
    block: BlockCall, between: Between, parameters: Mapping[str, str]
) -> Iterator[tuple[str, Array | None]]:
    """The port's gradients by the benchmark's names, and with channels where it has them.

    A mask that is written otherwise gets none that could be compared.
    """
    shapes = {f"{_INPUT}{place}": array.shape for place, array in enumerate(block.inputs)}
    for name, arrays in block.outs.items():
        shapes |= {f"{name}/out/{place}": array.shape for place, array in enumerate(arrays)}
    masks = {f"{_INPUT}{block.places[place] if block.places is not None else place}" for place in block.masks}
    for name, array in between.gradients.items():
        if name not in masks:
            there = _bench_name(name, block, parameters)
            shape = shapes.get(there)
            yield there, laid_as(array, shape) if array is not None and shape is not None else array


def _bench_name(name: str, block: BlockCall, parameters: Mapping[str, str]) -> str:
    """An input by its place among all that the benchmark's block takes, a parameter by its name there."""
    if name.startswith(_INPUT):
        return f"{_INPUT}{_place(int(name.removeprefix(_INPUT)), block)}"
    if name.startswith(_PARAMETER):
        start = f"{block.other_path}." if block.other_path else ""
        path = ".".join(filter(None, (block.path, name.removeprefix(_PARAMETER))))
        other = parameters.get(path, "")
        if other and other.startswith(start):
            return f"{_PARAMETER}{other.removeprefix(start)}"
    return name


def _place(place: int, block: BlockCall) -> int:
    if block.taken is not None:
        return block.taken[place]
    if block.places is None:
        return place
    return list(block.places).index(place) if place in block.places else len(block.places) + place


def size_of(array: Array | None) -> float:
    """The largest magnitude; 0 where there is no gradient."""
    return float(np.abs(array).max()) if array is not None and array.size else 0.0


def level_of(port: Array | None, bench: Array | None, least: float) -> float:
    """How far apart two gradients are, relative to the benchmark's largest, which counts as ``least`` at least."""
    if port is None or bench is None:
        size = max(size_of(port), size_of(bench))
        return 1.0 if size > least else 0.0
    found = distance(np.ascontiguousarray(port), np.ascontiguousarray(bench))
    if not found.comparable:
        return 1.0
    scale = max(float(found.max_ref), least)
    return float(found.max_abs) / scale if scale else float(found.max_abs > 0)


def multiple_of(port: Array | None, bench: Array | None, limit: float) -> float | None:
    """How many times the benchmark's the port's is; None where it is no multiple."""
    if port is None or bench is None or port.shape != bench.shape:
        return None
    here, there = (array.astype(np.float64).reshape(-1) for array in (port, bench))
    squares = float(there @ there)
    factor = float(here @ there) / squares if squares else 0.0
    return factor if factor and level_of(here, factor * there, 0.0) <= limit else None


def parted(bench: Between, port: Between, limit: float) -> dict[str, float]:
    """How far apart the gradients are, where that is beyond the limit."""
    return {name: level for name, level in _levels(bench, port).items() if level > limit}


def furthest(bench: Between, port: Between) -> float:
    """How far apart they are at most."""
    return max(_levels(bench, port).values(), default=0.0)


def _levels(bench: Between, port: Between) -> dict[str, float]:
    shared = [name for name in bench.gradients if name in port.gradients]
    least = _ROUNDING_SHARE * max((size_of(bench.gradients[name]) for name in shared), default=0.0)
    return {name: _apart(name, port.gradients[name], bench.gradients[name], least) for name in shared}


def _apart(name: str, port: Array | None, bench: Array | None, least: float) -> float:
    if not name.startswith(_PARAMETER):
        return level_of(port, bench, least)
    # Both sides may hold a parameter in another layout: its norm is the same in each.
    norms = [float(np.linalg.norm(array.astype(np.float64))) if array is not None else 0.0 for array in (port, bench)]
    return abs(norms[0] - norms[1]) / max(norms[1], least) if max(norms) > least else 0.0
