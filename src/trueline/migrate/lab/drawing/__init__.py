"""What an API is called with: arguments and inputs by chance, from its parameters and from what each kind wants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from trueline.apitable.pairs import Documented, Kind
from trueline.migrate.lab.draw import Draw, DrawnValue
from trueline.migrate.lab.drawing import classes, functions

_OF_TORCH_ALONE: Final = frozenset(("inplace", "device", "requires_grad", "pin_memory", "layout", "memory_format"))


def drawn(pair: Documented, seed: int, count: int) -> list[Draw]:
    """So many draws for a pair, the same for the same seed; none where the table says that it cannot be drawn."""
    function = pair.kind in (Kind.FUNCTION, Kind.METHOD)
    drawing = functions.draws if function else classes.draws
    return [_usual(draw) for draw in drawing(pair.torch, pair.torch_parameters, seed, count)]


def _usual(draw: Draw) -> Draw:
    """A draw without what says where torch computes, and without a None that nobody writes."""
    return replace(draw, values=_told(draw.values), build=_told(draw.build))


def _told(values: Mapping[str, DrawnValue]) -> dict[str, DrawnValue]:
    return {name: value for name, value in values.items() if value is not None and name not in _OF_TORCH_ALONE}
