"""One field, gathered chunk by chunk, whatever its values are: numbers, texts, sequences, arrays, pictures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from trueline.data.described import Drift, Lengths, Missing, Padding, Told
from trueline.data.describing import markers
from trueline.data.describing.numbers import Indexes, NumberGatherer, Places
from trueline.data.describing.padding import PaddingGatherer
from trueline.data.describing.pictures import PictureGatherer
from trueline.data.describing.sampling import Distinct, hash_texts
from trueline.data.describing.wanted import Wanted
from trueline.data.source import Cell, Column, Picture
from trueline.kernel.array import Array

_SHAPES: Final = 200
# From this share on a shape or type is the usual one, and others are told.
_USUAL: Final = 0.5


class _Kind(NamedTuple):
    """Values that can be put together: of one kind, and arrays of one shape and type."""

    word: str
    shape: tuple[int, ...] = ()
    dtype: str = ""


class FieldGatherer:
    """What is told of a field after all its chunks went by."""

    def __init__(self, name: str, wanted: Wanted, *, is_label: bool) -> None:
        self._name = name
        self._is_label = is_label
        self._given = {text: Places() for text in wanted.missing}
        self._texts_given = frozenset(text for text in wanted.missing)
        self._count = 0
        self._null, self._empty = Places(), Places()
        self._marked: dict[str, Places] = {}
        self._types: dict[str, Places] = {}
        self._dtypes: dict[str, Places] = {}
        self._shapes: dict[str, Places] = {}
        self._numbers = NumberGatherer(wanted)
        self._padding = PaddingGatherer()
        self._pictures = PictureGatherer()
        self._text_distinct = Distinct()
        self._lengths: list[float] = [0, np.inf, -np.inf, 0]

    def add(self, start: int, column: Column) -> None:
        """The values of one chunk."""
        size = len(column)
        index = np.arange(start, start + size)
        self._count += size
        numbers = numbers_of(column) if isinstance(column, np.ndarray) else None
        if numbers is not None:
            self._add_array(numbers, index)
        elif isinstance(column, np.ndarray) and column.dtype.kind == "U" and column.ndim == 1:
            self._note(self._types, "text", size, index)
            self._add_texts(column.tolist(), index)
        elif isinstance(column, np.ndarray) and column.ndim > 1 and not column.size:
            # Rows without elements are alike, however many there are.
            self._add_arrays(column, index)
        else:
            self._add_list(column.tolist() if isinstance(column, np.ndarray) else column, index)

    def _note(self, where: dict[str, Places], word: str, count: int, index: Indexes) -> None:
        if count and (word in where or len(where) < _SHAPES):
            where.setdefault(word, Places()).add(count, index)

    def _add_array(self, values: Array, index: Indexes) -> None:
        if values.ndim == 1:
            self._note(self._types, "boolean" if values.dtype.kind == "b" else "number", len(values), index)
            self._note(self._dtypes, str(values.dtype), len(values), index)
            self._numbers.add(values, index)
            return
        self._add_arrays(values, index)

    def _add_arrays(self, values: Array, index: Indexes) -> None:
        """Arrays of one shape and type."""
        self._note(self._types, "sequence" if values.ndim == 2 else "array", len(values), index)
        self._note(self._dtypes, str(values.dtype), len(values), index)
        self._note(self._shapes, "x".join(map(str, values.shape[1:])), len(values), index)
        if values.ndim == 2:
            self._add_lengths(np.full(len(values), values.shape[1]))
            self._padding.add(values, index)
        if values.size:
            self._numbers.add(values, index)
        else:
            self._empty.add(len(values), index)

    def _add_list(self, values: Sequence[Cell], index: Indexes) -> None:
        """Values one by one, put together with those of their kind."""
        groups: dict[_Kind, list[int]] = {}
        arrays: dict[int, Array] = {}
        for place, value in enumerate(values):
            word = _kind_of(value)
            key = _Kind(word)
            if word in ("sequence", "array"):
                array = _as_array(value)
                if array is None:
                    key = _Kind("other")
                else:
                    arrays[place] = array
                    key = _Kind(word, array.shape, array.dtype.str)
            groups.setdefault(key, []).append(place)
        for kind, places in groups.items():
            word, chosen = kind.word, index[places]
            if word == "null":
                self._null.add(len(places), chosen)
            elif word in ("sequence", "array"):
                self._add_arrays(np.stack([arrays[place] for place in places]), chosen)
            else:
                self._note(self._types, word, len(places), chosen)
                self._add_kind(word, [values[place] for place in places], chosen)

    def _add_kind(self, word: str, values: list[Cell], index: Indexes) -> None:
        if word in ("number", "boolean"):
            self._numbers.add(_number_array(values), index)
        elif word == "text":
            self._add_texts(values, index)
        elif word == "picture":
            self._pictures.add(values, index, self._numbers)

    def _add_texts(self, values: Sequence[str], index: Indexes) -> None:
        plain = [value.strip() for value in values]
        for place, text in enumerate(plain):
            at = index[place : place + 1]
            if not text:
                self._empty.add(1, at)
            elif text in self._texts_given:
                self._given[text].add(1, at)
            elif len(text) <= markers.LONGEST_TEXT and text.lower() in markers.TEXTS:
                self._marked.setdefault(text, Places()).add(1, at)
        filled = [value for value in values if value]
        self._text_distinct.add(hash_texts(filled))
        self._add_lengths(np.fromiter(map(len, filled), np.int64, len(filled)))

    def _add_lengths(self, lengths: Array) -> None:
        if len(lengths):
            count, least, most, total = self._lengths
            self._lengths = [
                count + len(lengths),
                min(least, float(lengths.min())),
                max(most, float(lengths.max())),
                total + float(lengths.sum()),
            ]

    def told(self) -> Told:
        """All of it."""
        usual = max(self._types, key=lambda word: self._types[word].count) if self._types else "other"
        numeric = usual in ("number", "boolean", "sequence", "array", "picture")
        numbers = self._numbers
        kind = usual
        if usual == "number" and not numbers.fractions:
            kind = "integer"
        texts = usual == "text"
        distinct = self._text_distinct if texts else numbers.distinct
        sampled = numbers.reservoir.sampled if numeric else None
        has_numbers = numeric and bool(numbers.moments.count)
        padding = None
        if usual == "sequence" and not self._is_label and not numbers.is_mask:
            padding = self._padding.told()
        count, least, most, total = self._lengths
        lengths = Lengths(int(least), int(most), total / count) if count and (texts or usual == "sequence") else None
        return Told(
            name=self._name,
            kind=kind,
            type=self._type(usual),
            count=self._count,
            missing=self._missing(usual, padding),
            # Labels of another type are told as wrong labels.
            drift=[] if self._is_label else [*self._drift(usual), *_unlike(self._dtypes), *_unlike(self._shapes)],
            distinct=distinct.count if texts or usual in ("number", "boolean") else None,
            sampled=sampled if sampled is not None or not distinct.estimated else self._count,
            low=_end(numbers.low, kind) if has_numbers else None,
            high=_end(numbers.high, kind) if has_numbers else None,
            mean=numbers.moments.mean if has_numbers else None,
            std=numbers.moments.std if has_numbers else None,
            quantiles=numbers.quantiles() if has_numbers else {},
            shapes=dict(Counter({shape: places.count for shape, places in self._shapes.items()}).most_common()),
            lengths=lengths,
            padding=padding,
            pictures=self._pictures.told(),
        )

    def _type(self, usual: str) -> str:
        if usual in ("number", "boolean", "sequence", "array") and self._dtypes:
            return max(self._dtypes, key=lambda word: self._dtypes[word].count)
        return usual

    def _missing(self, usual: str, padding: Padding | None) -> list[Missing]:
        found = [
            Missing(kind, places.count, places.first)
            for kind, places in (("null", self._null), ("empty", self._empty))
            if places.count
        ]
        guess = not self._is_label and usual in ("number", "sequence", "array")
        found += self._numbers.missing(guess=guess, but=padding.value if padding is not None else None)
        found += [
            Missing("marker", places.count, places.first, text) for text, places in self._given.items() if places.count
        ]
        marked = [] if self._is_label and usual == "text" else list(self._marked.items())
        return found + [Missing("marker", places.count, places.first, text, guessed=True) for text, places in marked]

    def _drift(self, usual: str) -> list[Drift]:
        """Other types than the usual one; texts that stand for nothing are none."""
        counts = {word: places.count for word, places in self._types.items()}
        marked = [*self._marked.values(), *self._given.values(), self._empty]
        if "text" in counts and usual != "text":
            counts["text"] -= sum(places.count for places in marked)
        whole = sum(counts.values())
        return [
            Drift(usual, word, count, self._first_of(word), counts[usual] / whole)
            for word, count in counts.items()
            if word != usual and count > 0
        ]

    def _first_of(self, word: str) -> list[int]:
        if word != "text":
            return self._types[word].first
        nothing = {
            place for places in (*self._marked.values(), *self._given.values(), self._empty) for place in places.first
        }
        return [place for place in self._types[word].first if place not in nothing]


def _unlike(where: dict[str, Places]) -> list[Drift]:
    """Types or shapes that are not the one that most have, where one is that usual."""
    if len(where) < 2:
        return []
    usual = max(where, key=lambda word: where[word].count)
    share = where[usual].count / sum(places.count for places in where.values())
    if share <= _USUAL:
        return []
    return [Drift(usual, word, places.count, places.first, share) for word, places in where.items() if word != usual]


def numbers_of(array: Array) -> Array | None:
    """An array of numbers that can be computed with; None where it holds no plain ones."""
    if array.dtype.kind != "V":
        return array if array.dtype.kind in "biuf" else None
    # Short floats are numbers; records and raw bytes are none.
    return None if array.dtype.type is np.void else array.astype(np.float32)


def _end(value: float, kind: str) -> int | float:
    return int(value) if kind in ("integer", "boolean") and math.isfinite(value) else value


def _kind_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool() | np.bool_():
            return "boolean"
        case int() | float() | np.number():
            return "number"
        case str():
            return "text"
        case Picture():
            return "picture"
        case np.ndarray():
            return "sequence" if value.ndim == 1 else "array" if value.ndim else "number"
        case list() | tuple():
            return "sequence"
        case bytes():
            return "bytes"
    return "other"


def _as_array(value: object) -> Array | None:
    try:
        found = np.asarray(value)
    except ValueError:
        return None
    numbers = numbers_of(found)
    return found if numbers is None and not found.size else numbers


def _number_array(values: list[Cell]) -> Array:
    found = np.asarray([value.item() if isinstance(value, np.generic | np.ndarray) else value for value in values])
    return found if found.dtype.kind in "biuf" else found.astype(np.float64)
