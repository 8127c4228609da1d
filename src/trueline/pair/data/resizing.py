"""Images resized in all the common ways, to tell which one a step uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.pair.data.forms import Wide, channel_axis

# How far a resized image may lie from ours, in 255ths of its range: libraries compute in whole numbers.
_MAX_OFF: Final = 2.6
_MEAN: Final = 0.75


def _triangle(x: Wide) -> Wide:
    return np.maximum(0.0, 1.0 - np.abs(x))


def _cubic(a: float) -> Callable[[Wide], Wide]:
    def kernel(x: Wide) -> Wide:
        x = np.abs(x)
        near = (a + 2) * x**3 - (a + 3) * x**2 + 1
        far = a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a
        return np.where(x < 1, near, np.where(x < 2, far, 0.0))

    return kernel


def _lanczos(x: Wide) -> Wide:
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0.0)


def _box(x: Wide) -> Wide:
    return ((x > -0.5) & (x <= 0.5)).astype(np.float64)


# (kernel, half of its width, whether it is widened where an image is made smaller).
_KERNELS: Final[dict[str, tuple[Callable[[Wide], Wide], float, bool]]] = {
    "bilinear, antialias": (_triangle, 1.0, True),
    "bilinear": (_triangle, 1.0, False),
    "bicubic, antialias": (_cubic(-0.5), 2.0, True),
    "bicubic": (_cubic(-0.75), 2.0, False),
    "bicubic (-0.5)": (_cubic(-0.5), 2.0, False),
    "lanczos, antialias": (_lanczos, 3.0, True),
    "box, antialias": (_box, 0.5, True),
}


def kinds_of(before: Array, after: Array) -> list[str]:
    """The ways of resizing that make ``after`` of ``before``, the nearest first."""
    axis, other = channel_axis(before.shape), channel_axis(after.shape)
    if axis is None or other is None:
        return []
    image = np.moveaxis(before.astype(np.float64), axis, -1)
    wanted = np.moveaxis(after.astype(np.float64), other, -1)
    if image.shape[-1] != wanted.shape[-1]:
        return []
    off = {name: _off(found, wanted) for name, found in _resized(image, wanted.shape[:2])}
    fine = [name for name, (most, mean) in off.items() if most <= _MAX_OFF and mean <= _MEAN]
    return sorted(fine, key=lambda name: off[name][1])


def _off(found: Wide, wanted: Wide) -> tuple[float, float]:
    step = max(float(wanted.max() - wanted.min()), 1e-12) / 255.0
    # A step may scale as it resizes.
    factor, offset = np.polyfit(found.reshape(-1), wanted.reshape(-1), 1)
    if not 0.98 < factor < 1.02:
        found = factor * found + offset
    apart = np.abs(np.clip(found, wanted.min(), wanted.max()) - wanted) / step
    return float(apart.max()), float(apart.mean())


def _resized(image: Wide, size: tuple[int, ...]) -> list[tuple[str, Wide]]:
    found: list[tuple[str, Wide]] = []
    for name, (kernel, support, widened) in _KERNELS.items():
        rows = _weights(image.shape[0], size[0], kernel, support, widened)
        columns = _weights(image.shape[1], size[1], kernel, support, widened)
        found.append((name, np.einsum("ih,hwc,jw->ijc", rows, image, columns, optimize=True)))
    for name, centre in (("nearest", 0.5), ("nearest", 0.0)):
        places = [
            np.minimum((np.arange(new) + centre) * old / new, old - 1).astype(np.int64)
            for old, new in zip(image.shape, size, strict=False)
        ]
        found.append((name, image[places[0]][:, places[1]]))
    return found


def _weights(old: int, new: int, kernel: Callable[[Wide], Wide], support: float, widened: bool) -> Wide:
    """The share of each old row in each new one."""
    scale = old / new
    wide = max(scale, 1.0) if widened else 1.0
    centres = (np.arange(new) + 0.5) * scale - 0.5
    if not widened:
        return _clamped(centres, old, kernel, support)
    found = kernel((np.arange(old)[None, :] - centres[:, None]) / wide)
    return _normal(found)


def _clamped(centres: Wide, old: int, kernel: Callable[[Wide], Wide], support: float) -> Wide:
    """Beyond the edge the edge goes on."""
    found = np.zeros((len(centres), old))
    reach = int(np.ceil(support))
    for step in range(-reach, reach + 1):
        places = np.floor(centres) + step
        np.add.at(
            found, (np.arange(len(centres)), np.clip(places, 0, old - 1).astype(np.int64)), kernel(places - centres)
        )
    return _normal(found)


def _normal(weights: Wide) -> Wide:
    found: Wide = weights / weights.sum(1, keepdims=True)
    return found
