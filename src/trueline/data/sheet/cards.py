"""Drawn samples as cards: what of a sample is shown large, and what is written under it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from trueline.data.sheet.labels import Label, told_label
from trueline.data.sheet.pixels import Shown, looks_like_image, show_array
from trueline.data.sheet.sampling import Drawn, Group
from trueline.data.source import Cell, Picture, Sample, Source
from trueline.data.sources.images import looks_like_image as begins_like_image
from trueline.data.sources.pictures import decode_bytes
from trueline.model.message import Message, message

# Fields that say where a sample comes from.
_PLACES: Final = ("step", "index", "rank", "split")
# Of a run: what entered the network itself, behind whatever the script does to a batch.
_NETWORK: Final = "network."
_PICTURE, _SERIES, _TEXT, _TOKENS, _PLAIN = 4, 3, 2, 1, 0
# Fewer numbers than this are read more easily than drawn.
_LEAST_SERIES: Final = 9
_LONG_WORD: Final = 40
_LONGEST: Final = 2000
_VALUES: Final = 64
_FACTS: Final = 3


@dataclass(frozen=True, slots=True)
class Card:
    """One sample: a picture, a series or a text, or why there is none; ``facts`` are its other fields.

    One that is a row of a table has facts only.
    """

    index: int
    label: Label
    picture: Shown | None = None
    series: Sequence[float] | None = None
    text: str | None = None
    broken: Message | None = None
    facts: Sequence[tuple[str, str]] = ()
    step: int | None = None
    position: int | None = None
    sample: int | None = None
    rank: int | None = None
    file: str | None = None

    @property
    def drawn(self) -> bool:
        """Whether there is something to draw."""
        return self.picture is not None or self.series is not None

    @property
    def words(self) -> str | None:
        """What can be written of it: its text, or the cells of its row; None where it is drawn or broken."""
        if self.drawn or self.broken is not None:
            return None
        return self.text if self.text is not None else " · ".join(f"{name} {value}" for name, value in self.facts)


@dataclass(frozen=True, slots=True)
class CardGroup:
    """The cards of a label; ``total`` is how many samples have it."""

    label: Label
    total: int
    cards: Sequence[Card]


def make_cards(source: Source, label: str | None, drawn: Drawn) -> list[CardGroup]:
    """The drawn samples of a source; ``label`` is the field that holds their labels."""
    indexes = drawn.indexes
    samples = dict(zip(indexes, source.take(indexes), strict=True)) if indexes else {}
    others = [name for name in source.fields if name != label and name not in _PLACES]
    main = _main_fields(others, list(samples.values()))
    shown = _Showing(source.kind == "run", label, main, [name for name in others if name not in main])
    positions = _positions(source, set(indexes)) if source.kind == "run" else {}
    return [
        CardGroup(
            group.label,
            group.total,
            [_card(shown, index, samples[index], group, positions.get(index)) for index in group.indexes],
        )
        for group in drawn.groups
    ]


@dataclass(frozen=True, slots=True)
class _Showing:
    """Which fields of all samples are shown as what."""

    run: bool
    label: str | None
    main: Sequence[str]
    others: Sequence[str]

    def value(self, sample: Mapping[str, object]) -> Cell:
        """What is shown large: of a run what entered the network, which is the batch itself where nothing else is."""
        return next((sample[name] for name in self.main if sample.get(name) is not None), None)


def _main_fields(fields: Sequence[str], samples: Sequence[Mapping[str, object]]) -> list[str]:
    """The fields that show most, the first that a sample has being shown: an image before a series before a text.

    None where samples are rows of a table.
    """
    kinds = {
        name: _usual_kind(name, samples) for name in sorted(fields, key=lambda field: not field.startswith(_NETWORK))
    }
    best = max(kinds.values(), default=_PLAIN)
    found = [name for name, kind in kinds.items() if kind == best]
    if best == _PLAIN:
        return found if len(fields) == 1 else []
    networks = [name for name in found if name.startswith(_NETWORK)]
    return [*networks, *found[len(networks) :][:1]]


def _usual_kind(name: str, samples: Sequence[Mapping[str, object]]) -> int:
    found = [_kind(sample[name]) for sample in samples if sample.get(name) is not None]
    return max(found, key=found.count) if found else _PLAIN


def _kind(value: object) -> int:
    if isinstance(value, Picture):
        return _PICTURE
    if isinstance(value, bytes | bytearray | memoryview):
        return _PICTURE if begins_like_image(bytes(value[:16])) else _PLAIN
    if isinstance(value, np.ndarray):
        if looks_like_image(value):
            return _PICTURE
        if value.ndim == 1 and value.dtype.kind == "f" and len(value) >= _LEAST_SERIES:
            return _SERIES
        return _TOKENS if value.size > 1 else _PLAIN
    if isinstance(value, str):
        # A word or a name is a cell of a table.
        return _TEXT if len(value) > _LONG_WORD else _PLAIN
    if isinstance(value, list | tuple) and len(value) > 1:
        return (
            _SERIES if len(value) >= _LEAST_SERIES and all(isinstance(number, float) for number in value) else _TOKENS
        )
    return _PLAIN


def _positions(source: Source, wanted: set[int]) -> dict[int, int]:
    """Where in their step samples of a run were."""
    found: dict[int, int] = {}
    step, began = None, 0
    for chunk in source.chunks(["step"]):
        for at, one in enumerate(chunk.columns["step"]):
            if one != step:
                step, began = one, chunk.start + at
            if chunk.start + at in wanted:
                found[chunk.start + at] = chunk.start + at - began
    return found


def _card(showing: _Showing, index: int, sample: Sample, group: Group, position: int | None) -> Card:
    label = group.label
    if label is None and showing.label is not None:
        label = told_label(sample.get(showing.label))
    card = Card(index, label, position=position)
    if showing.run:
        step, rank, number = (_whole(sample.get(field)) for field in ("step", "rank", "index"))
        card = replace(card, step=step, rank=rank, sample=number)
    facts = [(name, _short(sample.get(name))) for name in showing.others]
    if not showing.main:
        return replace(card, facts=facts)
    known = [fact for fact in facts if _says_something(sample.get(fact[0]))][:_FACTS]
    value = showing.value(sample)
    file = value.place if isinstance(value, Picture) and value.place else None
    return _showing(replace(card, facts=known, file=file), value)


def _says_something(value: object) -> bool:
    """Whether a value beside the one that is shown is worth its line."""
    return value is not None and not isinstance(value, Picture) and getattr(value, "ndim", 0) < 2


def _whole(value: object) -> int | None:
    return int(value) if isinstance(value, int | np.integer) else None


def _showing(card: Card, value: Cell) -> Card:
    """The card with its value, as it is shown."""
    kind = _kind(value)
    if value is None:
        return replace(card, broken=message("sheet.no_value"))
    if isinstance(value, bytes | bytearray | memoryview) and kind == _PICTURE:
        value = decode_bytes(bytes(value), "")
    if isinstance(value, Picture):
        if value.pixels is None:
            why = Message(f"sources.{value.broken}") if value.broken else message("sheet.no_value")
            return replace(card, broken=why)
        return replace(card, picture=show_array(value.pixels, colours_last=True))
    if isinstance(value, np.ndarray) and kind == _PICTURE:
        return replace(card, picture=show_array(value))
    if kind == _SERIES:
        return replace(card, series=[float(number) for number in value])
    if isinstance(value, str):
        return replace(card, text=value[:_LONGEST] + (" …" if len(value) > _LONGEST else ""))
    return replace(card, text=_short(value, _VALUES))


def _short(value: object, most: int = 8) -> str:
    """A value in a few words."""
    if value is None:
        return "—"
    if isinstance(value, Picture):
        return f"{value.width}×{value.height} {value.mode}" if value.pixels is not None else "—"
    if isinstance(value, bytes | bytearray | memoryview):
        return f"{len(value)} bytes"
    if isinstance(value, np.ndarray):
        if value.ndim == 0:
            return _short(value.item())
        if value.ndim > 1:
            return f"{'×'.join(map(str, value.shape))} {value.dtype}"
    if isinstance(value, np.ndarray | list | tuple):
        shown = " ".join(_short(item) for item in value[:most])
        return shown + (f" … ({len(value)})" if len(value) > most else "")
    if isinstance(value, np.generic):
        value = value.item()
    return f"{value:.5g}" if isinstance(value, float) else str(value)[:_LONGEST]
