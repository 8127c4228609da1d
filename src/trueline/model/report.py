"""What every renderer takes: findings in order and typed blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trueline.model.curve import Curve
from trueline.model.finding import Finding
from trueline.model.message import Message


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    message: Message


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings; a cell is a plain value, a Message or a Curve (drawn small); ``marked`` rows stand out."""

    title: Message
    columns: Sequence[Message]
    rows: Sequence[Sequence[Any]]
    marked: frozenset[int] = frozenset()
    # Whether a terminal may cut a long cell, and what it may show instead, since all of it is elsewhere.
    brief: bool = False
    instead: Table | None = None


@dataclass(frozen=True, slots=True)
class Bars:
    """Amounts side by side, each a bar as long as its share of the largest; ``marked`` ones stand out."""

    title: Message
    names: Sequence[Any]
    values: Sequence[float]
    marked: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Band:
    """How far from a curve's values noise may lie, step by step."""

    steps: Sequence[int]
    low: Sequence[float]
    high: Sequence[float]


@dataclass(frozen=True, slots=True)
class Axis:
    """What stands along the bottom in place of steps: the number at each step, and how a place is called.

    ``name`` is a message that takes the number, shown short, as ``value``.
    """

    name: str
    at: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Mark:
    """A step to point at, and what is there."""

    step: int
    said: Message


@dataclass(frozen=True, slots=True)
class Curves:
    """Curves over each other; ``mark`` is the step where they part, ``band`` what noise explains around the first."""

    title: Message
    curves: Sequence[Curve]
    mark: int | None = None
    band: Band | None = None
    axis: Axis | None = None
    marks: Sequence[Mark] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """Lines of a source file around one line."""

    file: str
    line: int
    lines: Sequence[str]
    first: int
    side: str | None = None


@dataclass(frozen=True, slots=True)
class Strip:
    """Layers in execution order, each with a level from 0 (equal) to 1 (as far apart as can be).

    ``details`` says more of each layer, to be shown where a reader asks for it: tables, texts and sources.
    """

    title: Message
    names: Sequence[str]
    levels: Sequence[float]
    mark: int | None = None
    details: Sequence[Sequence[Text | Table | Source]] = ()


@dataclass(frozen=True, slots=True)
class Tile:
    """One sample to look at: a picture (PNG), a curve or a text, and lines under it; ``marked`` ones stand out."""

    lines: Sequence[Message | str]
    picture: bytes | None = None
    curve: Curve | None = None
    text: Message | str | None = None
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Tiles:
    """Samples side by side."""

    title: Message
    tiles: Sequence[Tile]


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks that a reader may open: a page folds them away, the terminal leaves them out and says how many rows."""

    title: Message
    blocks: Sequence[Text | Table | Bars | Curves | Strip | Source]


@dataclass(frozen=True, slots=True)
class Place:
    """Lines as they are shown: short files with their line numbers; the side is None for the one that is judged."""

    side: Message | None
    files: Mapping[str, Sequence[int]]


@dataclass(frozen=True, slots=True)
class Answer:
    """One cause or suspicion in a few lines: what, where on both sides, the edit, and numbers before and after.

    ``facts`` are short: the effect, how many modules, what follows. ``details`` are for those who ask for more.
    ``number`` counts causes; a suspicion has none, and is one line.
    """

    code: str
    said: Message
    number: int | None = None
    # What is to be known beside the code: not confirmed, latent.
    marks: Sequence[Message] = ()
    places: Sequence[Place] = ()
    edit: Message | None = None
    facts: Sequence[Message] = ()
    details: Sequence[Text | Table | Source] = ()


Block = Text | Table | Bars | Curves | Strip | Source | Tiles | Folded


@dataclass(frozen=True, slots=True)
class Report:
    """A title, a conclusion in one sentence, findings and blocks; and what a file for programs says beside them.

    ``answers``, where there are any, are shown to people in place of the findings, which they put together.
    """

    title: Message
    conclusion: Message
    findings: Sequence[Finding] = ()
    blocks: Sequence[Block] = field(default_factory=tuple)
    answers: Sequence[Answer] = ()
    # What the terminal left out, and how to see it.
    more: Message | None = None
    # The codes that were asked; findings that a comment in the source asks to leave out; what went wrong on the way.
    asked: Sequence[str] = ()
    ignored: Sequence[Finding] = ()
    errors: Sequence[Message] = ()
    warnings: Sequence[Message] = ()
