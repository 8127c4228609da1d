"""Where two runs of the same script part, bit for bit, in the order in which a step computes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from trueline.formats.run_folder.reader import RankFolder
from trueline.model.events import BatchEvent, Event, LossEvent, StepEvent
from trueline.model.json_value import Json
from trueline.model.key import Key, Kind, Phase
from trueline.model.summary import Summary
from trueline.repro.trials import Trial

_ROUNDING: Final = 1e-5
_FORWARD: Final = (Kind.IN, Kind.OUT)
_BACKWARD: Final = (Kind.GIN, Kind.GOUT, Kind.GRAD)
_IN_STEP: Final = ("data", "forward", "backward", "update", "end")


@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing that is another in the second run; ``rounding`` where only the last bits are."""

    step: int
    phase: str
    key: str
    rounding: bool = False

    @property
    def module(self) -> str | None:
        """The module whose tensor it is."""
        try:
            return Key.parse(self.key).module
        except ValueError:
            return None

    @property
    def place(self) -> tuple[int, int]:
        """Earlier is smaller; initial weights come before everything."""
        return (-1, 0) if self.phase == "weights" else (self.step, _IN_STEP.index(self.phase))

    def to_json(self) -> dict[str, Json]:
        """The JSON shape."""
        return {"step": self.step, "key": self.key, "phase": self.phase}


def first_difference(a: Trial, b: Trial, *, beyond_rounding: bool = False) -> Difference | None:
    """None where both are the same as far as they were recorded."""
    if a.rank is None or b.rank is None:
        return None if a.rank is b.rank else Difference(0, "end", "end")
    for found in _differences(a, b, a.rank, b.rank):
        if not (beyond_rounding and found.rounding):
            return found
    return None


def _differences(a: Trial, b: Trial, first: RankFolder, second: RankFolder) -> Iterator[Difference]:
    yield from _initial(first, second)
    common = min(a.whole, b.whole)
    for step in range(common):
        yield from _in_step(first, second, step)
    if a.whole != b.whole or a.crashed != b.crashed:
        yield Difference(common, "end", "end")


def _initial(first: RankFolder, second: RankFolder) -> Iterator[Difference]:
    there = {param.name: param.initial for param in second.params}
    for param in first.params:
        key = str(Key.of_parameter(param.name, Kind.BUFFER if param.buffer else Kind.PARAM))
        if param.name not in there:
            yield Difference(0, "weights", key)
        elif param.initial is not None and (found := there[param.name]) is not None:
            yield from _compared(0, "weights", key, param.initial, found)


def _in_step(first: RankFolder, second: RankFolder, step: int) -> Iterator[Difference]:
    if _fetched(first, step) != _fetched(second, step):
        yield Difference(step, "data", "batch")
    here, there = _stats(first, step), _stats(second, step)
    yield from _tensors(here, there, step, "forward", _FORWARD)
    yield from _numbers(first, second, step, "forward", LossEvent, "value", "loss")
    yield from _tensors(here, there, step, "backward", _BACKWARD)
    yield from _numbers(first, second, step, "update", StepEvent, "lr", "lr")
    yield from _tensors(here, there, step, "update", (Kind.PARAM, Kind.BUFFER, Kind.OPT))


def _stats(rank: RankFolder, step: int) -> dict[Key, Summary]:
    return {key: found for key, found in rank.stats(step).items() if key.phase is Phase.TRAIN}


def _fetched(rank: RankFolder, step: int) -> list[object]:
    batches = [event.batch() for event in rank.events(BatchEvent, phase="train", step=step)]
    return [(batch.indexes, [(field.name, field.fingerprints) for field in batch.fields]) for batch in batches]


def _tensors(
    here: Mapping[Key, Summary], there: Mapping[Key, Summary], step: int, phase: str, kinds: tuple[Kind, ...]
) -> Iterator[Difference]:
    for key, found in here.items():
        if key.kind in kinds:
            if key not in there:
                yield Difference(step, phase, str(key))
            else:
                yield from _compared(step, phase, str(key), found, there[key])


def _compared(step: int, phase: str, key: str, a: Summary, b: Summary) -> Iterator[Difference]:
    if a.fingerprint != b.fingerprint or a.count != b.count:
        yield Difference(step, phase, key, a.count == b.count and _near(a, b))


def _near(a: Summary, b: Summary) -> bool:
    size = max(a.l2, b.l2)
    scale = size / math.sqrt(a.count) if a.count else 0.0
    close = abs(a.l2 - b.l2) <= _ROUNDING * size and abs(a.mean - b.mean) <= _ROUNDING * scale
    return close and a.non_finite == b.non_finite and abs(a.maximum - b.maximum) <= _ROUNDING * max(scale, a.maximum)


def _numbers(
    first: RankFolder, second: RankFolder, step: int, phase: str, kind: type[Event], field: str, name: str
) -> Iterator[Difference]:
    here, there = (
        # As they are written: a NaN is the same as another one.
        [event.to_json().get(field) for event in rank.events(kind, phase="train", step=step)]
        for rank in (first, second)
    )
    if here != there:
        near = len(here) == len(there) and all(map(_close, here, there))
        yield Difference(step, phase, name, near)


def _close(a: Json, b: Json) -> bool:
    if isinstance(a, int | float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=_ROUNDING)
    return a == b
