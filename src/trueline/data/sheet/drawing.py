"""A contact sheet as one picture: thumbnails label by label, with what is known of each under it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from PIL import Image, ImageDraw

from trueline.data.sheet.captions import Line, fact_lines, label_line, place_lines
from trueline.data.sheet.cards import Card, CardGroup
from trueline.data.sheet.lettering import Lettering
from trueline.data.sheet.thumbnails import series_image, thumbnail
from trueline.model.message import Message

_WIDTH: Final = 1260
_MARGIN: Final = 20
_SIDE: Final = 112
_GAP: Final = 8
_FACTS: Final = 3
_TEXT_LINES: Final = 4
_PAPER: Final = (255, 255, 255)
_PANEL: Final = (240, 242, 245)
_INK: Final = (27, 34, 48)
_QUIET: Final = (98, 108, 124)
_RULE: Final = (214, 219, 227)
_RED: Final = (179, 38, 30)
_RED_TINT: Final = (253, 236, 233)
_BETWEEN: Final = 24
_UNDER: Final = 18


@dataclass(frozen=True, slots=True)
class _Shelf:
    """Groups side by side, as wide as the sheet."""

    groups: Sequence[tuple[CardGroup, Sequence[Card]]]


def _wide(count: int) -> int:
    """The width of so many cards side by side."""
    return count * (_SIDE + _GAP) - _GAP


class ContactSheet:
    """A sheet in the making: first everything is measured, then drawn."""

    def __init__(self, title: Message, lines: Sequence[Message], groups: Sequence[CardGroup]) -> None:
        self._big, self._normal, self._small = Lettering(19), Lettering(13), Lettering(11)
        self._groups = groups
        # Where no font has the letters of the chosen language, the sheet's own words are English.
        self._lang = None if self._can_write(title.text()) else "en"
        self._title = title.text(self._lang)
        self._lines = [line.text(self._lang) for line in lines]
        cards = [card for group in groups for card in group.cards]
        self._as_rows = not any(card.drawn for card in cards)
        self._facts = max((min(_FACTS, len(fact_lines(card))) for card in cards), default=0)
        self._places = max((len(place_lines(card)) for card in cards), default=1)

    def _can_write(self, text: str) -> bool:
        self._big.width(text)
        can = not self._big.missing
        self._big.missing.clear()
        return can

    @property
    def missing(self) -> list[str]:
        """Characters that no font here has: they are written as codes."""
        return sorted(self._big.missing | self._normal.missing | self._small.missing)

    def picture(self) -> object:
        """The sheet."""
        room = _WIDTH - 2 * _MARGIN
        head = [*self._big.lines(self._title, room, 3)]
        under = [part for line in self._lines for part in self._normal.lines(line, room, 4)]
        top = _MARGIN + len(head) * self._big.height + len(under) * self._normal.height + _GAP
        body = sum(self._row_heights()) if self._as_rows else len(self._shelves()) * self._shelf_height
        image = Image.new("RGB", (_WIDTH, top + body + _MARGIN), _PAPER)
        draw = ImageDraw.Draw(image)
        y = _MARGIN
        for line in head:
            self._big.write(draw, (_MARGIN, y), line, _INK)
            y += self._big.height
        for line in under:
            self._normal.write(draw, (_MARGIN, y), line, _QUIET)
            y += self._normal.height
        if self._as_rows:
            self._draw_rows(draw, top)
        else:
            for place, shelf in enumerate(self._shelves()):
                self._draw_shelf(image, draw, shelf, top + place * self._shelf_height)
        return image

    def _text(self, line: Line) -> str:
        return line.text(self._lang) if isinstance(line, Message) else line

    # ---- cards side by side

    @property
    def _shelf_height(self) -> int:
        head = self._normal.height + 10
        captions = self._normal.height + (self._places + self._facts) * self._small.height
        return head + _SIDE + 4 + captions + _UNDER

    def _shelves(self) -> list[_Shelf]:
        """Groups in order, as many on a shelf as have room; a long one goes on on the next."""
        room = _WIDTH - 2 * _MARGIN
        columns = (room + _GAP) // (_SIDE + _GAP)
        shelves: list[list[tuple[CardGroup, Sequence[Card]]]] = [[]]
        left = room
        for group in self._groups:
            cards = list(group.cards)
            while cards:
                if left < _wide(min(len(cards), columns)):
                    shelves.append([])
                    left = room
                shelves[-1].append((group, cards[:columns]))
                left -= _wide(len(cards[:columns])) + _BETWEEN
                cards = cards[columns:]
        return [_Shelf(shelve) for shelve in shelves if shelve]

    def _draw_shelf(self, image: Image.Image, draw: ImageDraw.ImageDraw, shelf: _Shelf, top: int) -> None:
        x = _MARGIN
        for group, cards in shelf.groups:
            width = _wide(len(cards))
            draw.line([(x, top), (x + width, top)], _RULE, 2)
            count = f"{group.total}"
            name = self._text(label_line(group.label)) if len(self._groups) > 1 else ""
            room = width - self._small.width(count) - _GAP
            self._normal.write(draw, (x, top + 4), self._normal.cut(name, room), _INK)
            if len(self._groups) > 1 and room > 0:
                self._small.write(draw, (x + width - self._small.width(count), top + 6), count, _QUIET)
            for place, card in enumerate(cards):
                at = (x + place * (_SIDE + _GAP), top + self._normal.height + 10)
                self._draw_card(image, draw, card, at)
            x += width + _BETWEEN

    def _draw_card(self, image: Image.Image, draw: ImageDraw.ImageDraw, card: Card, at: tuple[int, int]) -> None:
        x, y = at
        box = (x, y, x + _SIDE - 1, y + _SIDE - 1)
        if card.picture is not None:
            draw.rectangle(box, _PANEL)
            small = thumbnail(card.picture, _SIDE)
            image.paste(small, (x + (_SIDE - small.width) // 2, y + (_SIDE - small.height) // 2))
        elif card.series is not None:
            image.paste(series_image(card.series, (_SIDE, _SIDE)), (x, y))
        else:
            self._draw_words(draw, card, box)
        y += _SIDE + 4
        self._normal.write(draw, (x, y), self._normal.cut(self._text(label_line(card.label)), _SIDE), _INK)
        y += self._normal.height
        for line in place_lines(card):
            self._small.write(draw, (x, y), self._small.cut(self._text(line), _SIDE), _QUIET)
            y += self._small.height
        for line in fact_lines(card)[:_FACTS]:
            self._small.write(draw, (x, y), self._small.cut(self._text(line), _SIDE), _QUIET)
            y += self._small.height

    def _draw_words(self, draw: ImageDraw.ImageDraw, card: Card, box: tuple[int, int, int, int]) -> None:
        """A card that has no picture among cards that have: why, or its text."""
        if card.broken is not None:
            draw.rectangle(box, _RED_TINT, _RED, 2)
            draw.line([box[:2], box[2:]], _RED, 1)
            draw.line([(box[0], box[3]), (box[2], box[1])], _RED, 1)
        else:
            draw.rectangle(box, _PANEL)
        text = self._text(card.broken) if card.broken is not None else card.words or ""
        lines = self._small.lines(text, _SIDE - 12, 6)
        height = len(lines) * self._small.height
        y = (box[1] + box[3] - height) // 2
        if card.broken is not None:
            draw.rectangle((box[0] + 3, y - 3, box[2] - 3, y + height + 3), _RED_TINT)
        for line in lines:
            self._small.write(draw, (box[0] + 6, y), line, _RED if card.broken is not None else _INK)
            y += self._small.height

    # ---- texts and rows, one under the other

    def _rows(self) -> Iterator[tuple[CardGroup | None, Card, list[str]]]:
        room = _WIDTH - 2 * _MARGIN - self._aside
        for group in self._groups:
            for place, card in enumerate(group.cards):
                text = self._text(card.broken) if card.broken is not None else card.words or ""
                lines = self._normal.lines(text, room, _TEXT_LINES) or [""]
                yield group if place == 0 and len(self._groups) > 1 else None, card, lines

    @property
    def _aside(self) -> int:
        """The room for where a text comes from."""
        places = [" ".join(map(self._text, place_lines(card))) for group in self._groups for card in group.cards]
        return round(max((self._small.width(place) for place in places), default=0)) + 16

    def _row_heights(self) -> list[int]:
        return [
            (self._normal.height + 14 if group is not None else 0) + len(lines) * self._normal.height + 6
            for group, _, lines in self._rows()
        ]

    def _draw_rows(self, draw: ImageDraw.ImageDraw, top: int) -> None:
        aside, y = self._aside, top
        for group, card, lines in self._rows():
            if group is not None:
                draw.line([(_MARGIN, y + 4), (_WIDTH - _MARGIN, y + 4)], _RULE, 2)
                name = self._normal.cut(self._text(label_line(group.label)), _WIDTH - 2 * _MARGIN - 80)
                self._normal.write(draw, (_MARGIN, y + 8), name, _INK)
                count = f"{group.total}"
                at = _WIDTH - _MARGIN - self._small.width(count)
                self._small.write(draw, (at, y + 10), count, _QUIET)
                y += self._normal.height + 14
            place = " ".join(map(self._text, place_lines(card)))
            self._small.write(draw, (_MARGIN, y + 2), place, _QUIET)
            for line in lines:
                fill = _RED if card.broken is not None else _INK
                self._normal.write(draw, (_MARGIN + aside, y), line, fill)
                y += self._normal.height
            y += 6
