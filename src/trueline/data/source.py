"""What every source of data offers: its samples in chunks, a few of them by index, and what could not be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from trueline.kernel.array import Array
from trueline.model.message import Message

# What one field of one sample holds: a number, text, bytes, an array, a list, a Picture, or nothing. Which of them only
# the dataset knows, and whoever asks tests for what it can use.
Cell: TypeAlias = Any
# One value per sample: an array whose first axis is the samples, or a list where samples differ in kind or length.
Column: TypeAlias = Array | Sequence[Cell]
# One sample, field by field.
Sample: TypeAlias = Mapping[str, Cell]


@dataclass(frozen=True, slots=True)
class Picture:
    """One image as it lies on disk: decoded where it could be, else ``broken`` says why not.

    ``mode`` is Pillow's name of how it is stored; ``pixels`` are rows of numbers or of channels, palettes looked up.
    ``broken`` is a reason as those of Skipped, which counts it too; the sample keeps its place and its label.
    """

    place: str
    width: int = 0
    height: int = 0
    mode: str = ""
    pixels: Array | None = None
    broken: str | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """Samples ``start`` to ``start + size`` of a source, column by column."""

    start: int
    size: int
    columns: Mapping[str, Column]


@dataclass(slots=True)
class Skipped:
    """What could not be read and was stepped over: how often for which reason, and the first places of each."""

    counts: dict[str, int] = field(default_factory=dict)
    places: dict[str, list[str]] = field(default_factory=dict)
    most: int = 5

    def add(self, reason: str, place: str) -> None:
        """One more; ``reason`` is a message id, without its section where that is ``sources``."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        known = self.places.setdefault(reason, [])
        if len(known) < self.most:
            known.append(place)

    @property
    def total(self) -> int:
        """How many in all."""
        return sum(self.counts.values())

    def told(self) -> list[tuple[Message, int, list[str]]]:
        """What is to be said of them: the reason, how many, and the first places; the most frequent first."""
        most = sorted(self.counts.items(), key=lambda reason: -reason[1])
        return [(reason_message(reason), count, self.places[reason]) for reason, count in most]

    def join(self, other: Skipped) -> None:
        """All of another one, too."""
        for reason, count in other.counts.items():
            self.counts[reason] = self.counts.get(reason, 0) + count
            self.places[reason] = [*self.places.get(reason, []), *other.places[reason]][: self.most]


def reason_message(reason: str) -> Message:
    """Why something was stepped over."""
    return Message(reason if "." in reason else f"sources.{reason}")


class Source(Protocol):
    """A dataset, opened. Bad data never raise: they are stepped over and told in ``skipped``."""

    @property
    def name(self) -> str:
        """What the user called it by."""
        ...

    @property
    def kind(self) -> str:
        """images, csv, parquet, jsonl, npy, npz, mindrecord, idx, cifar, huggingface, factory, run."""
        ...

    @property
    def fields(self) -> Sequence[str]: ...

    @property
    def label(self) -> str | None:
        """The field that holds the label, where that is certain or was given."""
        ...

    @property
    def length(self) -> int | None:
        """How many samples, where that is known before they are read."""
        ...

    @property
    def skipped(self) -> Skipped:
        """What was stepped over until now, in opening and in reading; each once, however often it is read."""
        ...

    def chunks(self, fields: Sequence[str] | None = None) -> Iterator[Chunk]:
        """All samples in order, never more in memory than a chunk; with ``fields`` only these columns."""
        ...

    def take(self, indexes: Sequence[int]) -> list[Mapping[str, object]]:
        """These samples, in the order asked for, field by field; pixels of pictures included."""
        ...


class NamesClasses(Protocol):
    """A Source that knows its classes: labels are these names, and one that is a number is none of them."""

    @property
    def class_names(self) -> Sequence[str]:
        """The names in the order of their numbers; empty where the dataset does not say."""
        ...


def class_names(source: Source) -> Sequence[str]:
    """The classes of a dataset, where it names them."""
    found: Sequence[str] = getattr(source, "class_names", ())
    return found
