"""Backwards that someone wrote, held against finite differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.pair.ops.op_level import BlockCall
from trueline.pair.questions.blocks import CustomBackwards, MeasureSlopes, Slopes
from trueline.pair.sides.side import Side

# How far a slope may be from the measured one, relative to the largest, by the dtype it was measured in.
_TOLERANCE: Final = {"float64": 0.01, "float32": 0.05}
# Along fewer a slope says nothing.
_MIN_DIRECTIONS: Final = 2


@dataclass(frozen=True, slots=True)
class CheckedBackward:
    """One call of a module: for each input and parameter the slopes (by its gradient, measured) along directions.

    ``name`` and ``line`` are those of a backward that a user wrote, where there is one; ``inputs`` are what it was
    checked on.
    """

    path: str
    call: int
    slopes: Sequence[Slopes]
    name: str = ""
    line: Location | None = None
    inputs: Sequence[Array] = ()

    @property
    def wrong(self) -> dict[str, float | None]:
        """What has another gradient than the differences say: how many times as large, None where it is no multiple."""
        wrong: dict[str, float | None] = {}
        for slopes in self.slopes:
            limit, pairs = _TOLERANCE[slopes.dtype], slopes.pairs
            scale = max((abs(slope) for pair in pairs for slope in pair), default=0.0)
            if len(pairs) >= _MIN_DIRECTIONS and max(abs(here - there) for here, there in pairs) > limit * scale:
                wrong[slopes.of] = _factor(pairs, limit)
        return wrong


def _factor(pairs: Sequence[tuple[float, float]], limit: float) -> float | None:
    squares = sum(there * there for _, there in pairs)
    if not squares:
        return None
    factor = sum(here * there for here, there in pairs) / squares
    largest = max(max(abs(here), abs(factor * there)) for here, there in pairs)
    fits = all(abs(here - factor * there) <= limit * largest for here, there in pairs)
    return factor if fits else None


def check_custom_backward(side: Side, inputs: Sequence[Array], *, train: bool = True) -> list[CheckedBackward]:
    """Every call of the model that has a backward of the user's own, whether anything differs there or not."""
    return [
        CheckedBackward(call.path, call.call, call.slopes, call.name, call.line, call.inputs)
        for call in side.answer(CustomBackwards(inputs, train))
    ]


def check_differences(side: Side, block: BlockCall, *, of_port: bool) -> CheckedBackward:
    """One call of a module checked on a block's inputs, its layers as they are."""
    spec = replace(block.spec(of_port=of_port), inner=())
    return CheckedBackward(spec.path, spec.call, side.answer(MeasureSlopes(spec, block.train)))
