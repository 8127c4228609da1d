"""Backwards that someone wrote, held against finite differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.pair.ops.op_level import BlockCall
from trueline.pair.sides.side import Side

# How far a slope may be from the measured one, relative to the largest, by the dtype it was measured in.
_TOLERANCE: Final = {"float64": 0.01, "float32": 0.05}
_FEWEST: Final = 2

Slopes = Mapping[str, Sequence[tuple[float, float]]]


@dataclass(frozen=True, slots=True)
class CheckedBackward:
    """One call of a module: for each input and parameter the slopes (by its gradient, measured) along directions.

    ``name`` and ``line`` are those of a backward that a user wrote, where there is one; ``inputs`` are what it was
    checked on.
    """

    path: str
    call: int
    slopes: Slopes
    dtype: str
    name: str = ""
    line: Location | None = None
    inputs: Sequence[Array] = ()

    @property
    def wrong(self) -> dict[str, float | None]:
        """What has another gradient than the differences say: how many times as large, None where it is no multiple."""
        limit = _TOLERANCE[self.dtype]
        found: dict[str, float | None] = {}
        for of, pairs in self.slopes.items():
            scale = max((abs(one) for pair in pairs for one in pair), default=0.0)
            if len(pairs) >= _FEWEST and max(abs(here - there) for here, there in pairs) > limit * scale:
                found[of] = _factor(pairs, limit)
        return found


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
    told, arrays = side.ask({"do": "watch_ops", "want": "custom", "train": train}, inputs)
    left = iter(arrays)
    return [
        _checked(
            one["path"],
            one["call"],
            one["checked"],
            name=one["name"],
            line=Location.from_line_json(one["line"]) if one["line"] is not None else None,
            inputs=[next(left) for _ in range(one["inputs"])],
        )
        for one in told["custom"]
    ]


def check_differences(side: Side, block: BlockCall, *, of_port: bool) -> CheckedBackward:
    """One call of a module checked on a block's inputs, its layers as they are."""
    content, arrays = block.asked("differences", of_port=of_port)
    told, _ = side.ask({**content, "opaque": []}, arrays[: len(block.inputs)])
    return _checked(content["path"], content["call"], told["checked"])


def _checked(path: str, call: int, rows: Sequence[Any], **more: Any) -> CheckedBackward:
    slopes = {one["of"]: [(float(here), float(there)) for here, there in one["slopes"]] for one in rows}
    return CheckedBackward(path, call, slopes, rows[0]["dtype"] if rows else "float64", **more)
