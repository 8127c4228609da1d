"""The tensors most worth a look, from recorded statistics: non-finite first, then all zero, then unlike themselves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from trueline.formats.run_folder.reader import RankFolder
from trueline.model.json_value import JsonObject
from trueline.model.key import Key, Kind
from trueline.model.message import Message, message
from trueline.model.report import Block, Table, Text

MAX_SHOWN_TENSORS: Final = 10  # rows of the table
# Below this many records a tensor has no history to differ from; below this ratio it does not differ much.
MIN_RECORDS: Final = 5
MIN_RATIO: Final = 10.0
# Reading more records than this takes too long for a look; steps are then sampled.
MAX_RECORDS: Final = 5_000_000
SAMPLED_STEPS: Final = 64  # spread over the run


class Why(IntEnum):
    """What is strange, the worst first."""

    NON_FINITE = 0
    ZERO = 1
    LARGE = 2
    SMALL = 3


@dataclass(frozen=True, slots=True)
class Strange:
    """A tensor, what is strange about it, where it began, and by how much (a share of elements, or a ratio)."""

    key: Key
    why: Why
    step: int
    value: float

    @property
    def word(self) -> Message:
        """What is strange, in a few words."""
        return {
            Why.NON_FINITE: message("show.strange_non_finite", share=f"{self.value:.3g}"),
            Why.ZERO: message("show.strange_zero"),
            Why.LARGE: message("show.strange_large", ratio=f"{self.value:.3g}"),
            Why.SMALL: message("show.strange_small", ratio=f"{1 / self.value if self.value else math.inf:.3g}"),
        }[self.why]

    def to_json(self) -> JsonObject:
        """The JSON shape."""
        return {"key": str(self.key), "why": self.why.name.lower(), "step": self.step, "value": self.value}


def strangest(folder: RankFolder, keys: Sequence[Key] | None = None) -> tuple[list[Strange], bool]:
    """The strangest tensors, and whether only some steps were looked at because there are so many."""
    chosen = folder.keys if keys is None else keys
    sampled = len(chosen) * max(1, folder.finished) > MAX_RECORDS
    histories = _sampled(folder, chosen) if sampled else ((key, folder.history(key)) for key in chosen)
    found = [tensor for key, history in histories if (tensor := _judge(key, history)) is not None]
    return sorted(found, key=_order)[:MAX_SHOWN_TENSORS], sampled


def strange_blocks(found: Sequence[Strange], sampled: bool) -> list[Block]:
    """A table of the strangest tensors."""
    blocks: list[Block] = []
    if found:
        columns = [message("show.tensor"), message("show.what"), message("show.step")]
        marked = frozenset(place for place, tensor in enumerate(found) if tensor.why is Why.NON_FINITE)
        blocks.append(
            Table(
                message("show.strangest"), columns, [[tensor.key, tensor.word, tensor.step] for tensor in found], marked
            )
        )
    if sampled:
        blocks.append(Text(message("show.sampled", count=SAMPLED_STEPS)))
    return blocks


def _order(tensor: Strange) -> tuple[int, float]:
    """The earliest non-finite first; large and small are equally strange: the farther off, the stranger."""
    if tensor.why in (Why.NON_FINITE, Why.ZERO):
        return tensor.why, tensor.step
    return Why.LARGE, -abs(math.log(tensor.value)) if tensor.value > 0 else -math.inf


def _judge(key: Key, history: npt.NDArray[np.void]) -> Strange | None:
    history = history[history["count"] > 0]
    if not len(history):
        return None
    broken = history["nan"] + history["pos_inf"] + history["neg_inf"]
    if broken.any():
        at = int(np.argmax(broken > 0))
        return Strange(key, Why.NON_FINITE, int(history["step"][at]), float(broken[at] / history["count"][at]))
    zero = history["zeros"] == history["count"]
    if zero[-1]:
        # The beginning of the last stretch of zeros.
        at = len(zero) - int(np.argmin(zero[::-1])) if not zero.all() else 0
        return Strange(key, Why.ZERO, int(history["step"][at]), 1.0)
    # A bias that began at zero is not small compared with what it became.
    history = history[history["abs_mean"] > 0]
    # Buffers such as step counters and running statistics are meant to move away from where they began.
    if len(history) < MIN_RECORDS or key.kind is Kind.BUFFER:
        return None
    size = history["abs_mean"]
    ratios = size / float(np.median(size))
    low, high = int(np.argmin(ratios)), int(np.argmax(ratios))
    if ratios[high] >= MIN_RATIO and ratios[high] * ratios[low] >= 1:
        return Strange(key, Why.LARGE, int(history["step"][high]), float(ratios[high]))
    if ratios[low] <= 1 / MIN_RATIO:
        return Strange(key, Why.SMALL, int(history["step"][low]), float(ratios[low]))
    return None


def _sampled(folder: RankFolder, keys: Sequence[Key]) -> Iterator[tuple[Key, npt.NDArray[np.void]]]:
    """Histories of a few steps spread over the run: the kind that one look can afford."""
    steps = folder.curve("seconds").steps
    chosen = (
        sorted({steps[place * (len(steps) - 1) // (SAMPLED_STEPS - 1)] for place in range(SAMPLED_STEPS)})
        if steps
        else []
    )
    fields = ("count", "nan", "pos_inf", "neg_inf", "zeros", "abs_mean")
    kind = np.dtype([("step", "<i8"), *((name, "<f8" if name == "abs_mean" else "<u8") for name in fields)])
    rows: dict[Key, list[tuple[float, ...]]] = {key: [] for key in keys}
    for step in chosen:
        for key, summary in folder.stats(step).items():
            if key in rows:
                rows[key].append((step, *(getattr(summary, name) for name in fields)))
    for key, found in rows.items():
        yield key, np.array(found, kind)
