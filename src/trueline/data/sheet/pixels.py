"""An array as an image for people: colours last, numbers of any range brought to 0..255, and what was done to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from trueline.kernel.array import Array

Pixels = npt.NDArray[np.uint8]
_COLOURS: Final = (1, 3, 4)
# What is not finite has a colour that no image is full of.
_ODD: Final = (255, 0, 255)
_BACKGROUND: Final = 238
# A thumbnail needs no more: of larger ones every n-th row and column is taken.
_MAX_SIDE_PIXELS: Final = 1024


@dataclass(frozen=True, slots=True)
class Shown:
    """Pixels as rows of red, green and blue, and what is to be known of them.

    ``low`` and ``high`` are the array's own range where numbers were stretched, ``odd`` counts what is not finite,
    ``part`` is the place of the slice that is shown of an array with more.
    """

    pixels: Pixels
    shape: tuple[int, ...]
    dtype: str
    low: float | None = None
    high: float | None = None
    odd: int = 0
    part: int | None = None


def looks_like_image(array: Array) -> bool:
    """Whether an array is worth being drawn as one: two sides that are more than a few numbers."""
    if array.dtype.kind not in "biufc" and array.dtype.name != "bfloat16":
        return False
    sides = _sides(array.shape)
    return array.ndim in (2, 3, 4) and array.size > 0 and min(sides, default=0) >= (4 if array.ndim == 2 else 1)


def _sides(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(side for place, side in enumerate(shape) if place != _colour_axis(shape))


def _colour_axis(shape: tuple[int, ...]) -> int | None:
    if len(shape) != 3:
        return None
    if shape[2] in _COLOURS:
        return 2
    return 0 if shape[0] in _COLOURS else None


def show_array(array: Array, *, colours_last: bool = False) -> Shown:
    """An array of two sides, with colours first or last, or with slices of which the middle one is shown."""
    whole, part = array, None
    while array.ndim > 3 or (array.ndim == 3 and _colour_axis(array.shape) is None and not colours_last):
        # A stack of images: its middle is most likely to show something.
        part = len(array) // 2
        array = array[part]
    if array.ndim == 3 and not colours_last and _colour_axis(array.shape) == 0:
        array = np.moveaxis(array, 0, -1)
    if array.ndim == 2:
        array = array[..., None]
    if array.shape[2] not in _COLOURS:
        array, part = array[..., :1], 0
    step = [max(1, side // _MAX_SIDE_PIXELS) for side in array.shape[:2]]
    array = array[:: step[0], :: step[1]]
    pixels, low, high, odd = _scaled(array)
    return Shown(_three_colours(pixels), whole.shape, str(whole.dtype), low, high, odd, part)


def _scaled(array: Array) -> tuple[Pixels, float | None, float | None, int]:
    """0..255, and the range where it was another one."""
    if array.dtype == np.uint8:
        return array, None, None, 0
    if array.dtype.kind == "b":
        return array.astype(np.uint8) * np.uint8(255), None, None, 0
    numbers = np.abs(array) if array.dtype.kind == "c" else array
    numbers = numbers.astype(np.float64)
    finite = np.isfinite(numbers)
    odd = int(numbers.size - np.count_nonzero(finite))
    if odd == numbers.size:
        return np.full(array.shape, 128, np.uint8), None, None, odd
    low, high = float(numbers[finite].min()), float(numbers[finite].max())
    bottom, top = (0.0, 1.0) if array.dtype.kind == "f" and low >= 0 and high <= 1 else (low, high)
    span = top - bottom
    scaled = np.where(finite, numbers, bottom) - bottom
    scaled = np.full_like(scaled, 128) if span == 0 else scaled / span * 255
    pixels = np.rint(np.clip(scaled, 0, 255)).astype(np.uint8)
    if odd:
        coloured = np.array(_three_colours(pixels))
        coloured[~finite.all(axis=2)] = _ODD
        pixels = coloured
    return pixels, low, high, odd


def _three_colours(pixels: Pixels) -> Pixels:
    if pixels.shape[2] == 3:
        return pixels
    if pixels.shape[2] == 1:
        return np.repeat(pixels, 3, axis=2)
    cover = pixels[..., 3:].astype(np.float64) / 255
    mixed = pixels[..., :3] * cover + _BACKGROUND * (1 - cover)
    found: Pixels = np.rint(mixed).astype(np.uint8)
    return found
