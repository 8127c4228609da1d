"""Where the numbers lie on one line of a text log."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from trueline.formats.log.names import EVALUATION, Role, evaluated, meaning

Span = tuple[int, int]

# Taken whole or not at all: no part of a number is one.
# (?>(?:…)?) is (?:…)?+, which Python before 3.11.5 gets wrong for groups.
NUMBER: Final = r"[-+]?+(?>\d++\.?+\d*+|\.\d++)(?>(?:[eE][-+]?+\d++)?)"
VALUE: Final = rf"(?:{NUMBER}|[-+]?(?i:nan|infinity|inf)(?!\w))"

_WORD: Final = r"[^\W\d][\w@]*+"
_PAIR: Final = re.compile(
    rf"(?<![\w@])(?P<name>{_WORD}(?>(?:[ ./-](?!(?i:nan|inf|infinity)\b){_WORD}){{0,3}})(?>(?:\([a-z]+\))?))"
    r"[\"']?\s*+(?:[:=：]|-+>)?\s*+(?:tensor\(|Tensor\([^()]{0,120}value=)?[\s\"'\[(]*+"
    rf"(?P<value>{VALUE})"
)
_LOSS_AT: Final = re.compile(
    rf"(?i)loss (?:at|after|for|of) (?:global )?(?:step|iteration|iter|batch|epoch) ?#?\d++\s*+(?:[:=]|is)\s*+"
    rf"(?P<value>{VALUE})"
)
_OF: Final = re.compile(r"\s*+/\s*+(\d{1,15})(?!\d)")
# Epoch [1/90][10/500], Epoch: 1 [640/60000 (1%)], epoch 001:   100 / 500
_INNER: Final = re.compile(
    r"\s*+\]?\s*+[,:-]?\s*+(?:\[\s*+(\d{1,15})\s*+(?:/\s*+(\d{1,15})|\])|(\d{1,15}) ?/ ?(\d{1,15})\b)"
)
_BARE: Final = re.compile(r"(?:^|[|\s])(\d{1,15})\s*+/\s*+(\d{1,15})\s*+(?=\[|-\s|\||━)")
_TUTORIAL: Final = re.compile(r"\[\s*+(\d{1,9}),\s*+(\d{1,15})\]\s")
_CHINESE_STEP: Final = re.compile(r"第\s*(\d{1,15})\s*(?:步|个?批次?|次迭代|个?迭代)")
_CHINESE_EPOCH: Final = re.compile(r"第\s*(\d{1,15})\s*(?:轮|个?[Ee]poch)")
_RANK: Final = re.compile(r"(?i)(?:(?<![a-z])(?:rank|default)[ _:=]{0,3}\[?(\d{1,6})(?!\d)|^\[\d+,(\d{1,6})\]<std)")
_STAGE: Final = re.compile(
    r"(?i)(?:^|[\s\[(|:>*-])(val|valid|validation|validating|eval|evaluation|evaluating|dev|test|testing)(?=[\s\])|:,-]|$)"
    r"|(验证|评估)|(测试)"
)
_WHOLE: Final = re.compile(r"\d{1,15}")
_PROGRESS: Final = re.compile(r"\s*+\d{1,3}%\|")


@dataclass(slots=True)
class Shape:
    """The numbers of a line by what they are."""

    scalars: dict[str, Span] = field(default_factory=dict)
    step: Span | None = None
    total: Span | None = None
    epoch: Span | None = None
    rank: Span | None = None

    @property
    def empty(self) -> bool:
        """Whether the line says nothing."""
        return not self.scalars and self.step is None and self.epoch is None

    @property
    def apart(self) -> bool:
        """Whether no two of the numbers overlap."""
        counters = (self.step, self.total, self.epoch, self.rank)
        spans = sorted([*self.scalars.values(), *(span for span in counters if span is not None)])
        return all(first[1] <= second[0] for first, second in pairwise(spans))


def shape_of(text: str) -> Shape:
    """What a line says, and where."""
    shape = Shape()
    doubt = 9
    stage = _STAGE.search(text)
    for found in _PAIR.finditer(text):
        name, span = found["name"], found.span("value")
        one = meaning(name)
        if one.role is Role.SCALAR:
            curve = one.curve
            if stage is not None and stage.start() < found.start():
                curve = evaluated(curve, _stage(stage))
            shape.scalars.setdefault(curve, span)
        elif _WHOLE.fullmatch(text, *span) is None:
            continue
        elif one.role is Role.STEP and one.doubt < doubt:
            doubt = one.doubt
            shape.step, shape.total = span, _total(text, span)
        elif one.role is Role.EPOCH or name in ("Train", "Test", "Val"):
            doubt = _epoch(text, span, shape, doubt, named=one.role is Role.EPOCH)
    _loss_at(text, shape)
    _unnamed(text, shape)
    rank = _RANK.search(text)
    if rank is not None and not shape.empty:
        shape.rank = rank.span(rank.lastindex or 0)
    return shape


def _stage(found: re.Match[str]) -> str:
    if found.lastindex == 1:
        return EVALUATION[found[1].lower()]
    return "val" if found.lastindex == 2 else "test"


def _total(text: str, span: Span) -> Span | None:
    found = _OF.match(text, span[1])
    return found.span(1) if found is not None else None


def _epoch(text: str, span: Span, shape: Shape, doubt: int, *, named: bool) -> int:
    """An epoch, and the batch's number in brackets behind it."""
    outer = _OF.match(text, span[1])
    inner = _INNER.match(text, outer.end() if outer is not None else span[1])
    if inner is None and not named:
        # Test: [10/100] counts batches.
        if outer is None or doubt < 9:
            return doubt
        shape.step, shape.total = span, outer.span(1)
        return 3
    if shape.epoch is None:
        shape.epoch = span
    if inner is None or doubt < 9:
        return doubt
    first = 1 if inner[1] is not None else 3
    shape.step = inner.span(first)
    shape.total = inner.span(first + 1) if inner[first + 1] is not None else None
    return 3


def _loss_at(text: str, shape: Shape) -> None:
    found = _LOSS_AT.search(text)
    if found is not None:
        shape.scalars.setdefault("loss", found.span("value"))


def _unnamed(text: str, shape: Shape) -> None:
    """Counters without a name: 10/20 of a progress bar, [1, 2000], 第 10 步."""
    if shape.epoch is None:
        found = _CHINESE_EPOCH.search(text)
        shape.epoch = found.span(1) if found is not None else None
    if shape.step is not None:
        return
    found = _CHINESE_STEP.search(text)
    if found is not None:
        shape.step = found.span(1)
        return
    found = _BARE.search(text)
    if found is not None:
        if shape.scalars or _PROGRESS.match(text):
            shape.step, shape.total = found.span(1), found.span(2)
        return
    if shape.scalars and shape.epoch is None:
        found = _TUTORIAL.match(text)
        if found is not None:
            shape.epoch, shape.step = found.span(1), found.span(2)
