"""Both sides' losses on the same outputs and labels: what kinds they take, and what they give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from trueline.adapters.guest.trouble import SideTrouble
from trueline.compare.noise import tensor_floor
from trueline.kernel import distance
from trueline.kernel.array import Array
from trueline.pair.loss.cases import Case, Given, Labels, Layout, layouts, probes
from trueline.pair.loss.fit import Seen
from trueline.pair.questions.parts import About, Loss, LossCase, Refused
from trueline.pair.sides.side import Side

# A setting with a larger number is no number of classes.
_MAX_KNOWN_CLASSES: Final = 100_000
# Operators between outputs and loss, for the estimate of noise.
_DEPTH: Final = 4


@dataclass(frozen=True, slots=True)
class Answered:
    """What one side's loss gave for a case."""

    value: Array
    gradients: Sequence[Array | None]

    def seen(self, case: Case) -> Seen:
        """As a fit takes it."""
        first = self.gradients[0]
        outputs = case.outputs[0]
        gradient = first if first is not None else np.zeros_like(outputs)
        value = case.as_rows(self.value) if self.value.shape == outputs.shape else self.value.astype(np.float64)
        return Seen(case.rows(), value, case.as_rows(gradient))


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a side's loss gave nothing for a case."""

    trouble: SideTrouble


Answer = Answered | Failed


@dataclass(frozen=True, slots=True)
class Taken:
    """The outputs and labels that both losses take; the labels may be of another kind on each side."""

    layout: Layout
    given: Given
    bench: Labels
    port: Labels


def ask(side: Side, cases: Sequence[Case], kind: Labels) -> tuple[list[Answer], About]:
    """One side's answers, case by case."""
    found = side.answer(Loss([LossCase(case.outputs, case.labels(kind)) for case in cases]))
    answers: list[Answer] = []
    for answer in found.cases:
        if isinstance(answer, Refused):
            answers.append(Failed(SideTrouble(answer.id, **answer.params)))
        else:
            value = answer.value
            answers.append(Answered(value.reshape(()) if value.size == 1 else value, answer.gradients))
    return answers, found.about


def taken_by_both(bench: Side, port: Side, outputs: Sequence[Array] | None, labels: Array | None, seed: int) -> Taken:
    """Try kinds of outputs and labels, the likely ones first; ``labels`` are real ones where there are any."""
    known = None if outputs else _known_classes(bench, port)
    kinds = [Labels.INDEX, Labels.DENSE]
    if labels is not None and labels.dtype.kind not in "iu":
        kinds.reverse()
    tries: list[tuple[Layout, Given, Labels]] = [
        (layout, given, kind)
        for given in Given
        for layout in layouts(outputs, known)
        for kind in kinds
        if kind is Labels.DENSE or layout.classes > 1
    ]
    sides = {"bench": bench, "port": port}
    taken: dict[str, list[tuple[Layout, Given, Labels]]] = {"bench": [], "port": []}
    troubles: dict[str, SideTrouble] = {}
    for one in tries:
        for role, side in sides.items():
            answer = ask(side, [probes(one[0], one[1], seed)], one[2])[0][0]
            if isinstance(answer, Answered):
                taken[role].append(one)
            else:
                troubles.setdefault(role, answer.trouble)
        if one in taken["bench"] and one in taken["port"]:
            return Taken(one[0], one[1], one[2], one[2])
    for layout, given, kind in taken["bench"]:
        other = Labels.DENSE if kind is Labels.INDEX else Labels.INDEX
        if (layout, given, other) in taken["port"]:
            return Taken(layout, given, kind, other)
    raise troubles["bench" if not taken["bench"] else "port"]


def _known_classes(bench: Side, port: Side) -> int | None:
    """A number of classes that a loss was made for: a setting that is called so, or one weight for each."""
    for side in (port, bench):
        _, about = ask(side, [], Labels.INDEX)
        for name, value in {**about.attributes, **about.arguments}.items():
            if not isinstance(value, int) or isinstance(value, bool) or not 1 < value < _MAX_KNOWN_CLASSES:
                continue
            if "class" in name or name in ("depth", "vocab_size", "k"):
                return value
        if any(size > 1 for size in about.sizes):
            return max(about.sizes)
    return None


@dataclass(frozen=True, slots=True)
class Compared:
    """Both sides on one case: how far apart, relative to the benchmark's scale, and how far noise brings them."""

    case: Case
    bench: Answer
    port: Answer
    level: float = 0.0
    limit: float = 0.0

    @property
    def apart(self) -> bool:
        """Whether noise does not explain the difference; what the benchmark cannot do is no difference."""
        if isinstance(self.bench, Failed):
            return False
        return isinstance(self.port, Failed) or not self.level <= self.limit


def compare(case: Case, bench: Answer, port: Answer) -> Compared:
    """How far the port's value and gradients lie from the benchmark's."""
    if isinstance(bench, Failed) or isinstance(port, Failed):
        return Compared(case, bench, port)
    limit = tensor_floor(("float32", "float32"), _DEPTH)
    pairs = [(port.value, bench.value)]
    for here, there, outputs in zip(port.gradients, bench.gradients, case.outputs, strict=True):
        nothing = np.zeros_like(outputs)
        pairs.append((nothing if here is None else here, nothing if there is None else there))
    level = max(_level(here, there) for here, there in pairs)
    return Compared(case, bench, port, level, limit)


def _level(here: Array, there: Array) -> float:
    if here.shape != there.shape:
        return math.inf
    found = distance(here.astype(np.float64), there.astype(np.float64))
    return math.inf if found.other_non_finite else found.relative_max
