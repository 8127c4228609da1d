"""A sheet as a Report, with its pictures in it, and as an answer for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trueline.data.sheet.captions import fact_lines, label_line, place_lines
from trueline.data.sheet.cards import Card, CardGroup
from trueline.data.sheet.sampling import Drawn
from trueline.data.source import Source
from trueline.model.curve import Curve
from trueline.model.message import Message, message
from trueline.model.report import Block, Report, Table, Text, Tile, Tiles
from trueline.model.result import Result

# As large as a page shows them on a screen with twice the dots.
_SIDE: Final = 288
_PLACES: Final = 3


@dataclass(frozen=True, slots=True)
class Sheet:
    """What was drawn of a source, and how."""

    source: Source
    label: str | None
    drawn: Drawn
    groups: Sequence[CardGroup]
    seed: int

    @property
    def count(self) -> int:
        """How many samples are on it."""
        return sum(len(group.cards) for group in self.groups)


def title(sheet: Sheet) -> Message:
    """What it is a sheet of."""
    return message("sheet.title_run" if sheet.source.kind == "run" else "sheet.title", name=sheet.source.name)


def conclusion(sheet: Sheet) -> Message:
    """How many samples of how many, and what to look for."""
    params = {"count": sheet.count, "samples": sheet.drawn.samples, "name": sheet.source.name}
    if not sheet.count:
        return message("sheet.empty", name=sheet.source.name)
    if sheet.drawn.labels is None:
        return message("sheet.drawn", **params)
    return message("sheet.drawn_by_label", labels=_shown_labels(sheet), **params)


def _shown_labels(sheet: Sheet) -> int:
    return sum(group.label is not None for group in sheet.groups)


def notes(sheet: Sheet) -> list[Message]:
    """What is to be known of how it was drawn."""
    found = []
    if sheet.drawn.labels is not None and sheet.drawn.labels > _shown_labels(sheet):
        found.append(message("sheet.many_labels", labels=sheet.drawn.labels, shown=_shown_labels(sheet)))
    if sheet.drawn.continuous:
        found.append(message("sheet.continuous", field=sheet.label))
    if sheet.label is None:
        found.append(message("sheet.without_label"))
    elif sheet.source.label is None:
        found.append(message("sheet.taken_for_label", field=sheet.label))
    if (
        sheet.source.kind == "run"
        and sheet.count
        and not any(card.drawn or card.text is not None for card in _cards(sheet))
    ):
        found.append(message("sheet.only_statistics"))
    found.append(message("sheet.how", seed=sheet.seed))
    return found


def _cards(sheet: Sheet) -> Iterator[Card]:
    return (card for group in sheet.groups for card in group.cards)


def _is_row(card: Card) -> bool:
    return not card.drawn and card.text is None and card.broken is None


def report(sheet: Sheet, *, pictures: bool) -> Report:
    """For people; without ``pictures`` only what can be written."""
    return Report(title(sheet), conclusion(sheet), blocks=tuple(_blocks(sheet, pictures)))


def _blocks(sheet: Sheet, pictures: bool) -> Iterator[Block]:
    for note in notes(sheet):
        yield Text(note)
    if sheet.count and all(_is_row(card) for card in _cards(sheet)):
        yield _rows(sheet)
    for group in sheet.groups if not all(_is_row(card) for card in _cards(sheet)) else ():
        heading = message("sheet.group", label=label_line(group.label), count=len(group.cards), total=group.total)
        if sheet.drawn.labels is None:
            heading = message("sheet.samples")
        yield Tiles(heading, [_tile(card, pictures) for card in group.cards])
    skipped = sheet.source.skipped.told()
    if skipped:
        columns = [message(f"sheet.column_{name}") for name in ("why", "count", "first")]
        rows = [[reason, count, ", ".join(places[:_PLACES])] for reason, count, places in skipped]
        yield Table(message("sheet.skipped"), columns, rows)


def _rows(sheet: Sheet) -> Table:
    """Samples that are rows of a table."""
    cards = list(_cards(sheet))
    labels = [] if sheet.label is None else [message("sheet.column_label")]
    columns = [
        *labels,
        message("sheet.column_sample"),
        *(message("sheet.field", name=field) for field, _ in cards[0].facts),
    ]
    rows: list[list[object]] = []
    for card in cards:
        where = [line.text() if isinstance(line, Message) else line for line in place_lines(card)]
        label = [] if sheet.label is None else [label_line(card.label)]
        rows.append([*label, " ".join(where), *(value for _, value in card.facts)])
    return Table(message("sheet.samples"), columns, rows)


def _tile(card: Card, pictures: bool) -> Tile:
    lines = [label_line(card.label), *place_lines(card), *fact_lines(card)]
    if card.broken is not None:
        return Tile(lines, text=card.broken, marked=True)
    if card.series is not None:
        return Tile(lines, curve=Curve("", range(len(card.series)), list(card.series)))
    if card.picture is None:
        return Tile(lines, text=card.words or "")
    if not pictures:
        shape = "×".join(map(str, card.picture.shape))
        return Tile([*lines, f"{shape} {card.picture.dtype}"])
    # Pillow comes with it.
    from trueline.data.sheet.thumbnails import png, reduced

    return Tile(lines, picture=png(reduced(card.picture, _SIDE)))


def result(sheet: Sheet, written: Path | None) -> Result:
    """For programs."""
    fields: dict[str, object] = {
        "source": sheet.source.name,
        "kind": sheet.source.kind,
        "label": sheet.label,
        "seed": sheet.seed,
        "samples": sheet.drawn.samples,
        "labels": sheet.drawn.labels,
        "sampled": [_json(card) for card in _cards(sheet)],
        "skipped": sheet.source.skipped.total,
        "written": str(written) if written is not None else None,
    }
    return Result("data sheet", conclusion(sheet), fields=fields)


def _json(card: Card) -> dict[str, object]:
    return {
        "index": card.index,
        "label": card.label,
        "step": card.step,
        "position": card.position,
        "rank": card.rank,
        "sample": card.sample,
        "file": card.file,
        "broken": card.broken.text() if card.broken is not None else None,
    }
