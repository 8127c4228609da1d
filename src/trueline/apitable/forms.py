"""How the value of one argument is written in each framework, and the form that both share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

_FUNCTION: Final = re.compile(r"<(?:built-in |bound )?(?:function|method) (?:\w+\.)*(\w+)")
_DIGITS: Final = 12

Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Spot:
    """One argument of one layer: its name there, whether torch's rules hold, and all that is known of the layer.

    ``rank`` is how many axes its window has; ``given`` is False where only the layer's attributes are known; ``shape``
    is that of its input, where that is known.
    """

    name: str
    torch: bool
    rank: int
    seen: Mapping[str, Any] = field(default_factory=dict)
    given: bool = True
    shape: Sequence[int] | None = None

    @property
    def value(self) -> Any:
        """What stands there."""
        return self.seen[self.name]

    @property
    def pad_mode(self) -> str:
        """How the layer pads: same, valid or pad."""
        if self.torch:
            found = self.seen.get("padding")
            return found if isinstance(found, str) else "pad"
        return str(self.seen.get("pad_mode", "pad")).lower()


@dataclass(frozen=True, slots=True)
class Form:
    """``read`` gives the shared form; ``write`` the arguments that bring it, None where the layer cannot have it."""

    read: Callable[[Spot], Any]
    write: Callable[[Any, Spot], Arguments | None]


def one_for_all(value: object) -> object:
    """A number where all of a list are that number, else the list."""
    if not isinstance(value, list | tuple):
        return value
    found = list(value)
    return found[0] if found and all(one == found[0] for one in found) else found


def _as_it_is(value: object, spot: Spot) -> Arguments:
    return {spot.name: tuple(value) if isinstance(value, list) else value}


def _number(spot: Spot) -> object:
    found = spot.value
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else found


def _rate(spot: Spot) -> object:
    """MindSpore takes no whole factors."""
    found = one_for_all(spot.value)
    return float(found) if isinstance(found, int) else found


def _window_stride(spot: Spot) -> object:
    """torch's None is the size of the window."""
    return one_for_all(spot.seen["kernel_size"] if spot.value is None else spot.value)


def _momentum(spot: Spot) -> Any:
    """The share of the new value, as torch has it; MindSpore's argument is the share of the old one."""
    if spot.value is None:
        return None
    found = float(spot.value)
    return round(found if spot.torch or not spot.given else 1.0 - found, _DIGITS)


def _write_momentum(value: Any, spot: Spot) -> Arguments | None:
    if spot.torch:
        return {spot.name: value}
    return None if value is None else {spot.name: round(1.0 - value, _DIGITS)}


def _dropped(spot: Spot) -> Any:
    """The share that is dropped; MindSpore's older argument is the share that is kept."""
    if spot.value is None and "keep_prob" in spot.seen:
        return round(1.0 - float(spot.seen["keep_prob"]), _DIGITS)
    return _number(spot)


def _by_tanh(spot: Spot) -> bool:
    return spot.value in ("tanh", True)


def _write_by_tanh(value: object, spot: Spot) -> Arguments:
    return {spot.name: ("tanh" if value else "none") if spot.torch else value}


def _counted(spot: Spot) -> bool:
    """Whether padding counts in a mean; MindSpore leaves it out where it pads by itself."""
    more = ("ceil_mode", "padding", "divisor_override")
    by_itself = not spot.torch and spot.pad_mode == "same" and not any(spot.seen.get(name) for name in more)
    return bool(spot.value) and not by_itself


def _batch_statistics(spot: Spot) -> bool | None:
    """None where the mode decides, True where it is always the batch's own statistics, False where never."""
    found: bool | None = spot.value
    return found if not spot.torch else None if found else True


def _write_batch_statistics(value: object, spot: Spot) -> Arguments | None:
    if not spot.torch:
        return {spot.name: value}
    return None if value is False else {spot.name: value is None}


def _function(spot: Spot) -> str:
    found = _FUNCTION.match(str(spot.value))
    return found[1] if found else str(spot.value).strip("<>").lower()


def _norm_axes(spot: Spot) -> list[Any]:
    """The sizes that are normalised over; MindSpore has an axis to begin at as well."""
    sizes = _listed(spot.value)
    begin = spot.seen.get("begin_norm_axis", -1)
    if spot.torch:
        return sizes
    if spot.shape is not None:
        return list(spot.shape[begin:])
    return sizes[begin:] if begin < 0 else sizes


def _write_norm_axes(value: Any, spot: Spot) -> Arguments | None:
    """MindSpore counts the axis from the front, unless it is the last."""
    found: Arguments = {spot.name: tuple(value)}
    if spot.torch:
        return found
    if len(value) > 1 and spot.shape is None:
        return None
    begin = -1 if len(value) == 1 or spot.shape is None else len(spot.shape) - len(value)
    return {**found, "begin_norm_axis": begin, "begin_params_axis": begin}


def _padding(spot: Spot) -> object:
    """What is added before and after each axis, as pairs; "same" where the input's size decides."""
    mode = spot.pad_mode
    if mode == "same":
        return "same"
    if mode == "valid":
        return [[0, 0]] * spot.rank
    sizes = _listed(spot.value)
    if len(sizes) == 1:
        sizes = sizes * spot.rank
    if len(sizes) == spot.rank:
        return [[size, size] for size in sizes]
    return [list(sizes[place : place + 2]) for place in range(0, len(sizes), 2)]


def _write_padding(value: Any, spot: Spot) -> Arguments | None:
    found = _simple_padding(value, spot)
    if found is None and not spot.torch:
        found = {"pad_mode": "pad", spot.name: tuple(side for pair in value for side in pair)}
    return found


def _write_pool_padding(value: object, spot: Spot) -> Arguments | None:
    """MindSpore lets a pooling pad both sides of an axis alike only."""
    sides = None if value == "same" else _per_axis(value)
    if isinstance(sides, tuple) and not spot.torch:
        return {"pad_mode": "pad", spot.name: sides}
    return _simple_padding(value, spot)


def _simple_padding(value: object, spot: Spot) -> Arguments | None:
    """The argument where it is one number, or torch's tuple of one for each axis."""
    if value == "same":
        return {spot.name: "same"} if spot.torch else {"pad_mode": "same", spot.name: 0}
    sides = _per_axis(value)
    if spot.torch:
        return None if sides is None else {spot.name: sides}
    if not isinstance(sides, int):
        return None
    return {"pad_mode": "pad" if sides else "valid", spot.name: sides}


def _per_axis(pairs: Any) -> Any:
    """One size for each axis, or one for all; None where an axis is padded by another size before than after."""
    if any(before != after for before, after in pairs):
        return None
    found = one_for_all([before for before, _ in pairs])
    return tuple(found) if isinstance(found, list) else found


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else [value]


FORMS: Final[Mapping[str, Form]] = {
    "plain": Form(lambda spot: spot.value, _as_it_is),
    "flag": Form(lambda spot: bool(spot.value), _as_it_is),
    "number": Form(_number, _as_it_is),
    "sizes": Form(lambda spot: one_for_all(spot.value), _as_it_is),
    "rates": Form(_rate, _as_it_is),
    "window_stride": Form(_window_stride, _as_it_is),
    "shape": Form(lambda spot: _listed(spot.value), _as_it_is),
    "axis": Form(lambda spot: spot.value, _as_it_is),
    "momentum": Form(_momentum, _write_momentum),
    "dropped": Form(_dropped, _as_it_is),
    "tanh": Form(_by_tanh, _write_by_tanh),
    "counted": Form(_counted, _as_it_is),
    "batch_statistics": Form(_batch_statistics, _write_batch_statistics),
    "function": Form(_function, _as_it_is),
    "norm_axes": Form(_norm_axes, _write_norm_axes),
    "padding": Form(_padding, _write_padding),
    "pool_padding": Form(_padding, _write_pool_padding),
}
