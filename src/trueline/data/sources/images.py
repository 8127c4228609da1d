"""A folder of images: the sub-folders are the classes, where there are any."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from trueline.data.source import Source
from trueline.data.sources.pictures import check_pillow, decode
from trueline.data.sources.sample_files import Read, SampleFiles, Sort
from trueline.formats.files import opened
from trueline.model.trouble import BadFile

ENDINGS: Final = (
    *(".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".bmp", ".dib", ".gif", ".webp", ".tif", ".tiff", ".avif"),
    *(".ppm", ".pgm", ".pbm", ".pnm", ".jp2", ".tga"),
)
_STARTS: Final = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8", b"BM", b"II*\0", b"MM\0*")


def is_picture(where: str, name: str) -> str | None:
    """None for what is named like an image, or has no ending and begins like one; else the reason against it."""
    ending = os.path.splitext(name)[1].lower()  # noqa: PTH122 (a million times)
    if ending in ENDINGS:
        return None
    if not ending and not name.startswith("."):
        try:
            with opened(Path(where) / name) as file:
                start = file.read(12)
        except (OSError, BadFile):
            return "unreadable_file"
        if looks_like_image(start):
            return None
    return "not_an_image"


def looks_like_image(start: bytes) -> bool:
    """Whether bytes begin as a file of an image does."""
    return start.startswith(_STARTS) or (start[:4] == b"RIFF" and start[8:12] == b"WEBP")


def open_images(path: Path, name: str, label: str | None = None) -> Source:
    """The images below a folder."""
    check_pillow()
    return SampleFiles(path, name, _IMAGES, label)


def _read(root: Path, path: str, most: int | None) -> Read:
    picture = decode(root, path, most)
    return Read(picture, picture.pixels.nbytes if picture.pixels is not None else 0, picture.broken)


_IMAGES: Final = Sort("images", "image", is_picture, _read, "sources.no_images")
