"""What a window's padding is for an input's size: two ways of writing it may mean the same, always or sometimes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trueline.model.json_value import Json

_OTHER_SIZES = (7, 8, 9, 12, 32, 33)


@dataclass(frozen=True, slots=True)
class Window:
    """A window along one axis: how large it is, how far it steps, and how its padding is written."""

    kernel: int
    stride: int
    dilation: int
    padding: str | tuple[int, int]
    more: int = 0
    ceil: bool = False
    transposed: bool = False

    def used(self, size: int) -> tuple[int, int] | None:
        """What is added before the first element (taken away, where transposed), and how many elements come out."""
        return self._widened(size) if self.transposed else self._narrowed(size)

    def _narrowed(self, size: int) -> tuple[int, int] | None:
        reach = self.dilation * (self.kernel - 1) + 1
        if isinstance(self.padding, str):
            count = -(-size // self.stride)
            return max(0, (count - 1) * self.stride + reach - size) // 2, count
        before, after = self.padding
        steps = (size + before + after - reach) / self.stride
        if steps < 0:
            return None
        count = (math.ceil(steps) if self.ceil else math.floor(steps)) + 1
        # A window must not begin behind the input.
        if self.ceil and (count - 1) * self.stride >= size + before:
            count -= 1
        return before, count

    def _widened(self, size: int) -> tuple[int, int] | None:
        whole = (size - 1) * self.stride + self.dilation * (self.kernel - 1) + 1
        if isinstance(self.padding, str):
            return max(0, whole - size * self.stride) // 2, size * self.stride
        before, after = self.padding
        count = whole - before - after + self.more
        return (before, count) if count > 0 else None


def padded_alike(
    bench: Mapping[str, Json], port: Mapping[str, Json], rank: int, sizes: Sequence[int] | None, *, transposed: bool
) -> bool:
    """Whether two paddings of one window do the same for every size of input, as far as a few sizes tell."""
    return not differing_sizes(bench, port, rank, sizes, transposed=transposed)


def differing_sizes(
    bench: Mapping[str, Json], port: Mapping[str, Json], rank: int, sizes: Sequence[int] | None, *, transposed: bool
) -> list[int]:
    """The sizes of an axis for which they do not; all else of the window is the benchmark's on both sides."""
    found: list[int] = []
    for axis in range(rank):
        pair = [_window(bench, padded, axis, transposed) for padded in (bench, port)]
        near = [] if sizes is None else [sizes[axis] + more for more in (0, 1, 2, 3)]
        found += [size for size in (*near, *_OTHER_SIZES) if pair[0].used(size) != pair[1].used(size)]
    return found


def explicit(values: Mapping[str, Json], rank: int, sizes: Sequence[int]) -> list[tuple[int, int]]:
    """What "same" adds before and after each axis of these sizes."""
    found = []
    for axis, size in enumerate(sizes):
        window = _window(values, values, axis, transposed=False)
        reach = window.dilation * (window.kernel - 1) + 1
        count = -(-size // window.stride)
        total = max(0, (count - 1) * window.stride + reach - size)
        found.append((total // 2, total - total // 2))
    return found[:rank]


def _window(values: Mapping[str, Json], padded: Mapping[str, Json], axis: int, transposed: bool) -> Window:
    return Window(
        _at(values["kernel_size"], axis),
        _at(values["stride"], axis),
        _at(values.get("dilation", 1), axis),
        _pads(padded["padding"], axis),
        _at(padded.get("output_padding", 0), axis),
        bool(values.get("ceil_mode")),
        transposed,
    )


def _pads(padding: Json, axis: int) -> str | tuple[int, int]:
    """ "same", or what is added before and after an axis."""
    if not isinstance(padding, list | tuple):
        return "same"
    # A layer of fewer axes, as a convolution over a sequence for one over pictures, has one of length 1 more there.
    before, after = padding[axis] if axis < len(padding) else (0, 0)
    return before, after


def _at(value: Json, axis: int) -> int:
    number = value[min(axis, len(value) - 1)] if isinstance(value, list | tuple) else value
    assert isinstance(number, int | float)
    return int(number)
