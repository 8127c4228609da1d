"""One image, from a file or from its bytes, decoded; whatever is wrong with it becomes a reason."""

from __future__ import annotations

import importlib.util
import io
import os
import struct
import warnings
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

import numpy as np

from trueline.data.source import Picture
from trueline.formats.files import opened
from trueline.kernel.array import Array
from trueline.model.budget import Budget
from trueline.model.trouble import BadFile, Missing

if TYPE_CHECKING:
    from PIL import Image

# More pixels than any dataset's image has: a file of a few bytes can ask for them.
_MOST_PIXELS: Final = 1 << 27
# Decoding takes turns with whoever uses the pixels.
THREADS: Final = min(4, os.cpu_count() or 1)
# What is no row of numbers as it is stored, and what it becomes: palettes, other colours.
_SHOWN: Final = {"P": "RGB", "PA": "RGBA", "CMYK": "RGB", "YCbCr": "RGB", "LAB": "RGB", "HSV": "RGB", "1": "L"}


def has_pillow() -> bool:
    """Whether images can be decoded."""
    return importlib.util.find_spec("PIL") is not None


def check_pillow() -> None:
    """A Missing where Pillow is not installed."""
    if not has_pillow():
        raise Missing("sources.no_pillow")


class TooLarge(Exception):  # noqa: N818
    """A picture that takes more memory than it may take here."""


def decode(root: Path, path: str, most: int | None = None) -> Picture:
    """The image of a file below a folder; an empty path is a file that is gone. A TooLarge beyond ``most`` bytes."""
    if not path:
        return Picture(path, broken="unreadable_file")
    try:
        with opened(root / path) as file:
            return _decoded(file, path, os.fstat(file.fileno()).st_size, most)
    # A name out of a file may hold what no system takes.
    except (OSError, BadFile, ValueError):
        return Picture(path, broken="unreadable_file")


def decode_bytes(data: bytes, place: str) -> Picture:
    """The image that these bytes are."""
    return _decoded(io.BytesIO(data), place, len(data))


def decoded_size(data: bytes) -> int:
    """How much memory the image takes that these bytes are, as far as their beginning says."""
    from PIL import Image

    _quieten()
    try:
        image = Image.open(io.BytesIO(data))
        return int(image.width * image.height * _pixel_bytes(image.mode))
    except (*_ERRORS, Image.DecompressionBombError):
        return 0


def _pixel_bytes(mode: str) -> int:
    """How many bytes a pixel takes, when it is decoded and shown."""
    shown = _SHOWN.get(mode, mode)
    return {"L": 1, "I;16": 2, "RGB": 3}.get(shown, 4)


def _held_bytes(mode: str) -> int:
    """How many bytes a pixel takes while it is decoded: as Pillow holds it, turned, written out and as an array."""
    held = {"1": 1, "L": 1, "P": 1, "I;16": 2}.get(mode, 4)
    turned = {"1": 1}.get(mode, 4) if mode in _SHOWN else 0
    return held + turned + 2 * _pixel_bytes(mode)


def _decoded(file: BinaryIO, place: str, size: int, most: int | None = None) -> Picture:
    from PIL import Image, UnidentifiedImageError

    if not size:
        return Picture(place, broken="picture_empty")
    _quieten()
    try:
        image = Image.open(file)
    except UnidentifiedImageError:
        return Picture(place, broken="picture_unknown")
    except Image.DecompressionBombError:
        return Picture(place, broken="picture_too_large")
    except _ERRORS:
        return Picture(place, broken="picture_broken")
    (width, height), mode = image.size, image.mode
    wanted = width * height * _pixel_bytes(mode)
    if width * height > _MOST_PIXELS or width * height * _held_bytes(mode) > Budget(place, size).memory:
        return Picture(place, width, height, mode, broken="picture_too_large")
    if most is not None and wanted > most:
        raise TooLarge
    try:
        return Picture(place, width, height, mode, _pixels(image))
    except _ERRORS as error:
        reason = "picture_truncated" if "truncated" in str(error) else "picture_broken"
        return Picture(place, width, height, mode, broken=reason)


@cache
def _quieten() -> None:
    """Pillow warns of what is told anyway; for all threads at once, since they share one list of filters."""
    warnings.filterwarnings("ignore", module=r"PIL\.")


def _pixels(image: Image.Image) -> Array:
    image.load()
    shown = _SHOWN.get(image.mode)
    if image.mode == "P" and "transparency" in image.info:
        shown = "RGBA"
    return np.array(image.convert(shown) if shown is not None else image)


# What Pillow's decoders raise at damaged files, each its own.
_ERRORS: Final = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    ArithmeticError,
    struct.error,
    MemoryError,
    EOFError,
    RuntimeError,
)
