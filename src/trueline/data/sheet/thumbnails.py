"""Small pictures: images at a size at which they can be looked at, and series as lines."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from PIL import Image, ImageDraw

from trueline.data.sheet.pixels import Shown

_LINE: Final = (0, 114, 178)
_ODD: Final = (179, 38, 30)
_PANEL: Final = (246, 247, 249)
# Drawn larger and made small, which is what smooths a line.
_FINER: Final = 3


def thumbnail(shown: Shown, side: int) -> Image.Image:
    """The image within a square; small ones are made larger in whole steps, so that each pixel is seen."""
    image = reduced(shown, side)
    factor = side // max(image.size)
    if factor < 2:
        return image
    return image.resize((image.width * factor, image.height * factor), Image.Resampling.NEAREST)


def reduced(shown: Shown, side: int) -> Image.Image:
    """The image, no larger than a square."""
    image = Image.fromarray(np.ascontiguousarray(shown.pixels))
    largest = max(image.size)
    if largest <= side:
        return image
    width, height = (max(1, round(length * side / largest)) for length in image.size)
    return image.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=3.0)


def series_image(values: Sequence[float], side: tuple[int, int]) -> Image.Image:
    """A series as a line from its lowest to its highest value; what is not finite is a mark below."""
    width, height = side[0] * _FINER, side[1] * _FINER
    image = Image.new("RGB", (width, height), _PANEL)
    draw = ImageDraw.Draw(image)
    finite = [value for value in values if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
    span = (high - low) or 1.0
    margin = 4 * _FINER
    across = max(1, len(values) - 1)

    def place(at: int, value: float) -> tuple[float, float]:
        up = (value - low) / span if high > low else 0.5
        return margin + at / across * (width - 2 * margin), height - margin - up * (height - 2 * margin)

    part: list[tuple[float, float]] = []
    for at, value in enumerate([*values, math.nan]):
        if math.isfinite(value):
            part.append(place(at, value))
            continue
        if len(part) > 1:
            draw.line(part, _LINE, 2 * _FINER, joint="curve")
        elif part:
            x, y = part[0]
            draw.ellipse((x - _FINER, y - _FINER, x + _FINER, y + _FINER), _LINE)
        part = []
        if at < len(values):
            x, _ = place(at, low)
            draw.line([(x, height - margin), (x, height)], _ODD, _FINER)
    return image.resize(side, Image.Resampling.LANCZOS)


def png(image: Image.Image) -> bytes:
    """An image as a file."""
    held = io.BytesIO()
    image.save(held, "PNG")
    return held.getvalue()
