"""Text on a picture: in fonts that are there, cut to its room; a character that no font has is written as a code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from PIL import ImageDraw, ImageFont

# Where systems keep fonts, and those that have the characters that most fonts lack.
_FOLDERS: Final = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "~/.local/share/fonts",
    "~/.fonts",
    "/System/Library/Fonts",
)
_WIDE_FONTS: Final = (
    "NotoSansCJK",
    "NotoSansSC",
    "SourceHanSans",
    "wqy-microhei",
    "wqy-zenhei",
    "DroidSansFallback",
    "PingFang",
    "uming",
    "ukai",
    "unifont",
)
_ENDINGS: Final = (".ttf", ".ttc", ".otf")
# No font has a shape for this one: what is drawn for it is what is drawn for all that are missing.
_NOWHERE: Final = "\U0010fffe"
_CUT: Final = "…"


class Lettering:
    """A size of letters."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._fonts: list[ImageFont.FreeTypeFont] = [ImageFont.load_default(size)]
        self._fonts += [ImageFont.truetype(str(path), size) for path in _more_fonts()]
        self._nothing = [bytes(font.getmask(_NOWHERE)) for font in self._fonts]
        self._known: dict[str, ImageFont.FreeTypeFont | None] = {" ": self._fonts[0]}
        self.missing: set[str] = set()

    @property
    def height(self) -> int:
        """From one line to the next."""
        return round(self.size * 1.35)

    def width(self, text: str) -> float:
        """How wide a text is."""
        return float(sum(font.getlength(part) for font, part in self._runs(text)))

    def cut(self, text: str, room: float) -> str:
        """As much of a text as fits."""
        if self.width(text) <= room:
            return text
        low, high = 0, len(text)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.width(text[:middle] + _CUT) <= room else (low, middle - 1)
        return text[:low].rstrip() + _CUT

    def lines(self, text: str, room: float, most: int) -> list[str]:
        """A text in lines that fit, broken between words where there are any."""
        found: list[str] = []
        rest = " ".join(text.split())
        while rest and len(found) < most:
            if self.width(rest) <= room or len(found) == most - 1:
                found.append(self.cut(rest, room))
                break
            line = self.cut(rest, room).removesuffix(_CUT)
            blank = line.rfind(" ")
            # One long word, or writing without blanks, is broken where it must be.
            end = blank if blank > len(line) // 2 and rest[len(line)] != " " else max(1, len(line))
            found.append(rest[:end])
            rest = rest[end:].lstrip()
        return found

    def write(self, draw: ImageDraw.ImageDraw, at: tuple[float, float], text: str, fill: tuple[int, int, int]) -> None:
        """Draws a line of text; ``at`` is its upper left."""
        x, y = at
        for font, part in self._runs(text):
            draw.text((x, y + self.size), part, fill, font=font, anchor="ls")
            x += font.getlength(part)

    def _runs(self, text: str) -> Iterator[tuple[ImageFont.FreeTypeFont, str]]:
        """The text in pieces that one font can write."""
        held, font = "", self._fonts[0]
        for character in text:
            found = self._font_of(character)
            shown = character
            if found is None:
                shown, found = _code(character), self._fonts[0]
            if found is not font:
                if held:
                    yield font, held
                held, font = "", found
            held += shown
        if held:
            yield font, held

    def _font_of(self, character: str) -> ImageFont.FreeTypeFont | None:
        if character not in self._known:
            fonts = zip(self._fonts, self._nothing, strict=True)
            self._known[character] = next(
                (one for one, nothing in fonts if character.isprintable() and bytes(one.getmask(character)) != nothing),
                None,
            )
            if self._known[character] is None:
                self.missing.add(character)
        return self._known[character]


def _code(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


@cache
def _more_fonts() -> tuple[Path, ...]:
    """The first font for letters of all kinds, and the first for Chinese, Japanese and Korean."""
    found: dict[str, Path] = {}
    for folder in _FOLDERS:
        for where, _, names in os.walk(Path(folder).expanduser()):
            for name in names:
                if name.endswith(_ENDINGS):
                    found.setdefault(name, Path(where) / name)
    general = [path for name, path in sorted(found.items()) if name in ("DejaVuSans.ttf", "NotoSans-Regular.ttf")]
    wide = [
        path
        for wanted in _WIDE_FONTS
        for name, path in sorted(found.items())
        if name.lower().startswith(wanted.lower())
    ]
    return tuple(path for path in (*general[:1], *wide[:1]) if _readable(path))


def _readable(path: Path) -> bool:
    try:
        ImageFont.truetype(str(path), 12)
    except OSError:
        return False
    return True
