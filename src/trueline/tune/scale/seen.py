"""What a run has told of its gradients and of its loss scale."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

from trueline.model.location import Location
from trueline.model.numbers import decode
from trueline.tune.told import Word, updates

LARGEST: Final = 65504.0
SMALLEST: Final = 2.0**-24
# Scales are read from ratios of rounded losses: so close they are the same, relative.
_SAME_SCALE_TOLERANCE: Final = 0.02


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many gradient elements there are of each binary exponent, and how many zeros."""

    counts: Mapping[int, int]
    zeros: int = 0

    @property
    def nonzero(self) -> int:
        """How many are not zero."""
        return sum(self.counts.values())

    @property
    def zero_share(self) -> float:
        """How many of all are exactly zero."""
        total = self.nonzero + self.zeros
        return self.zeros / total if total else 0.0

    def share_below(self, exponent: int) -> float:
        """How many of those that are not zero are smaller than 2^exponent."""
        total = self.nonzero
        return sum(count for one, count in self.counts.items() if one < exponent) / total if total else 0.0

    def shifted(self, places: int) -> Sizes:
        """Times 2^places."""
        return Sizes({one + places: count for one, count in self.counts.items()}, self.zeros) if places else self


@dataclass(frozen=True, slots=True)
class SeenUpdate:
    """One update: the scale in force, and the largest gradient without it (None: one is not finite)."""

    step: int
    scale: float
    largest: float | None
    lost: bool
    loss: float | None

    @property
    def own_fault(self) -> bool:
        """Whether the loss was no number to begin with, which no scale can help."""
        return self.loss is not None and not math.isfinite(self.loss)


@dataclass(frozen=True, slots=True)
class BuiltScaler:
    """The scaler of a script: where it is built, and with what; one by hand has no class."""

    kind: str | None
    scale: float
    factor: float | None = None
    window: int | None = None
    line: Location | None = None

    @property
    def dynamic(self) -> bool:
        """Whether it adapts."""
        return self.window is not None


@dataclass(frozen=True, slots=True)
class Seen:
    """One run: its updates, the sizes of its gradients, and its scaler.

    ``half`` and ``brain``: something in it is float16, or bfloat16. ``looked``: gradients were to be seen at all.
    """

    updates: Sequence[SeenUpdate]
    sizes: Sizes
    half: bool
    brain: bool
    looked: bool
    scaler: BuiltScaler | None

    @property
    def warm_up(self) -> int:
        """How many updates a scaler that adapts has lost until it first fitted."""
        if self.scaler is None or not self.scaler.dynamic:
            return 0
        return next((place for place, update in enumerate(self.updates) if not update.lost), len(self.updates))

    @property
    def after(self) -> Sequence[SeenUpdate]:
        """The updates that count: those after that, whose loss is a number."""
        return [update for update in self.updates[self.warm_up :] if not update.own_fault]

    @property
    def lost_share(self) -> float:
        """How many of them were lost to gradients that are not finite."""
        found = self.after
        return sum(update.lost for update in found) / len(found) if found else float(bool(self.updates))

    @property
    def scale(self) -> float:
        """The scale that was mostly in force."""
        found = self.after or self.updates
        return float(median(update.scale for update in found)) if found else 1.0


def scaled_by_hand(seen: Seen, scaler: BuiltScaler) -> Seen:
    """The same run, now that its scale is known."""
    known = [replace(update, scale=update.scale * scaler.scale) for update in seen.updates]
    return replace(seen, updates=known, scaler=scaler)


def seen_in(words: Sequence[Word], *, assume_half: bool = False) -> Seen:
    """Put together from what was told."""
    scaled = [update for update in updates(words) if "scale" in update.fields]
    half = any(update.fields["half"] for update in scaled)
    brain = any(update.fields["brain"] for update in scaled)
    looked = any("gradients" in update.fields for update in scaled)
    everything = assume_half and not half
    scaler = _scaler(words, scaled[0].fields if scaled else {}, [_hand(update.fields) for update in scaled])
    # A scale by hand is in the numbers, and nobody has told of it.
    hidden = scaler.scale if scaler is not None and scaler.kind is None else 1.0
    counts: Counter[int] = Counter()
    zeros = 0
    found = []
    for update in scaled:
        groups = _groups(update.fields, everything)
        for group in groups:
            counts.update({int(exponent): count for exponent, count in group.get("counts", {}).items()})
            zeros += group.get("zeros", 0)
        activations = update.fields.get("gradients", {}).get("activations", {})
        largest = max(decode(group["largest"]) for group in (*groups, *([activations] if activations else [])))
        nonfinite = bool(update.fields["nonfinite"])
        scale = decode(update.fields["scale"]) * hidden
        known = None if nonfinite else largest / hidden
        found.append(SeenUpdate(update.step, scale, known, nonfinite or update.skipped, update.loss))
    places = round(math.log2(hidden)) if hidden > 0 else 0
    return Seen(found, Sizes(dict(counts), zeros).shifted(-places), half, brain, looked, scaler)


def _groups(fields: Word, everything: bool) -> Sequence[Word]:
    """The parameters' gradients that are, or are taken to be, half precision."""
    gradients = fields.get("gradients")
    if gradients is None:
        both = [{"largest": fields["largest"]}, {"largest": fields["largest_other"]}]
        return both if everything else both[:1]
    return [gradients["half"], gradients["other"]] if everything else [gradients["half"]]


def _hand(fields: Word) -> float | None:
    found = fields.get("hand")
    return decode(found) if found is not None else None


def _scaler(words: Sequence[Word], first: Word, ratios: Sequence[float | None]) -> BuiltScaler | None:
    built = [word for word in words if word["told"] == "scaler"]
    # The manager of a training wrapper builds cells of its own: the user's is the first.
    if built:
        one = built[0]
        line = Location(one["file"], one["line"]) if one["file"] is not None else None
        return BuiltScaler(one["kind"], one["scale"], one["factor"], one["window"], line)
    if first and decode(first["scale"]) > 1.0:
        return BuiltScaler("sens", decode(first["scale"]))
    known = [ratio for ratio in ratios if ratio is not None and math.isfinite(ratio)]
    if not known:
        return None
    middle = median(known)
    steady = sum(abs(one / middle - 1) < _SAME_SCALE_TOLERANCE for one in known) > len(known) / 2
    return BuiltScaler(None, _rounded(middle)) if steady and middle > 2 * (1 - _SAME_SCALE_TOLERANCE) else None


def _rounded(scale: float) -> float:
    """The number that was meant: a power of two, or a whole one, if it is near."""
    power = 2.0 ** round(math.log2(scale))
    if abs(scale / power - 1) < _SAME_SCALE_TOLERANCE:
        return power
    return float(round(scale))
