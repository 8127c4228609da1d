"""Raw samples through both lists of transforms: where they part, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.model.message import Message, message
from trueline.pair.blame import Blame, Cause
from trueline.pair.data.blames import Lines, chance_blame, compare_field, relation_blame
from trueline.pair.data.forms import Relation, alike, apart, channel_axis, relate
from trueline.pair.data.passages import Chance, Passage, ask_from, ask_transforms
from trueline.pair.data.resizing import kinds_of
from trueline.pair.questions.parts import Step
from trueline.pair.sides.side import Side

# What a step may do to data without taking anything from them; the end decides whether it is right.
_HARMLESS: Final = (Cause.DATA_LAYOUT, Cause.FACTOR_255, Cause.MEAN_STD, Cause.CHANNEL_ORDER)
_SCALING: Final = (Cause.FACTOR_255, Cause.MEAN_STD)
Judged = tuple[Sequence[Blame], Message | None, Message | None]
# Arrays through the steps of the port from a place on; None where that cannot be done.
Onward = Callable[[int, Sequence[Array]], list[Array] | None]


def compare_steps(bench: Side, port: Side, count: int, lines: Lines) -> Judged:
    """The blames, why nothing can be said, and what to say where all is well."""
    there, here = ask_transforms(bench, count), ask_transforms(port, count)
    names = str(bench.entry), str(port.entry)
    return compare_passages(there, here, lines, names, lambda first, given: ask_from(port, first, given))


def compare_passages(there: Passage, here: Passage, lines: Lines, names: tuple[str, str], onward: Onward) -> Judged:
    """The same of samples that have passed; ``onward`` takes arrays through the port's steps from a place on."""
    for passage, name in zip((there, here), names, strict=True):
        if passage.chance is Chance.FREE:
            return [], message("pair_parts.data_free", side=name), None
    random = [one.chance is not Chance.NONE for one in (there, here)]
    if random[0] != random[1]:
        return [chance_blame(there.chance, here.chance, Cause.DATA, lines)], None, None
    walk = _Walk(there, here, lines, onward)
    blames = walk.blames(chance=all(random))
    if blames is None:
        return [], message("pair_parts.data_random_both"), None
    return blames, None, message("pair_parts.data_passed", count=len(here.states))


class _Walk:
    def __init__(self, there: Passage, here: Passage, lines: Lines, onward: Onward) -> None:
        self.there, self.here, self.lines, self.onward = there, here, lines, onward

    def blames(self, *, chance: bool) -> list[Blame] | None:
        """A step that resizes otherwise is put right first, so that what else differs shows by itself."""
        bench, port = self.there.at(-1), self.here.at(-1)
        blames: list[Blame] = []
        if not alike(port, bench) and not chance:
            resized = self._resized()
            if resized is not None:
                blame, port = resized
                blames.append(blame)
        more = compare_field(port, bench, chance=chance, lines=self.lines, is_label=False)
        if more is None:
            return None
        if len(more) > 1 and not blames and any(candidate.cause is Cause.CHANNEL_ORDER for candidate in more):
            swapped = self._swapped()
            again = (
                compare_field(swapped[1], bench, chance=chance, lines=self.lines, is_label=False) if swapped else None
            )
            if swapped is not None and again is not None and len(again) + 1 < len(more):
                blames, more = [swapped[0]], again
        return [*blames, *(self._placed(candidate) for candidate in more)]

    def _resized(self) -> tuple[Blame, list[Array]] | None:
        """The first steps that change an image's size: whether both do it in the same way, and to the same size."""
        at, other = _resizing(self.here), _resizing(self.there)
        if at is None or other is None:
            return None
        (before, after), (was, became) = (
            (passage.at(k - 1)[0], passage.at(k)[0]) for passage, k in ((self.here, at), (self.there, other))
        )
        sizes = [_size(array) for array in (became, after)]
        here, there = kinds_of(before, after), kinds_of(was, became)
        if not here or not there:
            return None
        if sizes[0] != sizes[1]:
            relation = Relation(Cause.OUTPUT_SIZE, sizes[0], sizes[1])
        elif not set(here) & set(there):
            relation = Relation(Cause.INTERPOLATION, there[0], here[0])
        else:
            return None
        forced = self._forced(at, other)
        if forced is None:
            return None
        lines = replace(self.lines, port=self.here.steps[at - 1].line or self.lines.port)
        where = message("pair_parts.data_step", place=at, step=str(self.here.steps[at - 1]))
        measured, left = apart(self.here.at(-1), self.there.at(-1)), apart(forced, self.there.at(-1))
        return relation_blame(relation, measured, left, lines, where), forced

    def _swapped(self) -> tuple[Blame, list[Array]] | None:
        """A step that turns the channels round, and what would come out if it did not: each has a mean of its own."""
        at = next((k for k in range(1, len(self.here.steps)) if Cause.CHANNEL_ORDER in _done(self.here, k)), None)
        axis = channel_axis(self.here.at(at)[0].shape) if at is not None else None
        if at is None or axis is None:
            return None
        forced = self.onward(at, [np.ascontiguousarray(np.flip(array, axis)) for array in self.here.at(at)])
        if forced is None:
            return None
        step = self.here.steps[at - 1]
        lines = replace(self.lines, port=step.line or self.lines.port)
        where = message("pair_parts.data_step", place=at, step=str(step))
        relation = Relation(Cause.CHANNEL_ORDER, "RGB", "BGR")
        measured, left = apart(self.here.at(-1), self.there.at(-1)), apart(forced, self.there.at(-1))
        return relation_blame(relation, measured, left, lines, where), forced

    def _forced(self, at: int, other: int) -> list[Array] | None:
        """The benchmark's resized images through the rest of the port's steps."""
        like = self.here.at(at)
        given: list[Array] = []
        for array, wanted in zip(self.there.at(other), like, strict=True):
            made = _as(array, wanted)
            if made is None:
                return None
            given.append(made)
        return self.onward(at, given) if at < len(self.here.steps) else given

    def _placed(self, blame: Blame) -> Blame:
        """The blame with the step of the port that it lies at."""
        at = self._place(blame.cause)
        if at is None:
            return blame
        step: Step = self.here.steps[at - 1]
        if blame.cause is Cause.MEAN_STD:
            other = _place_of(self.there, blame.cause)
            blame = replace(blame, port=str(step), bench=str(self.there.steps[other - 1]) if other else blame.bench)
        where = message("pair_parts.data_step", place=at, step=str(step))
        return replace(
            blame,
            message=message("pair_parts.data_where", what=blame.message, where=where),
            line=step.line or blame.line,
        )

    def _place(self, cause: Cause) -> int | None:
        count = len(self.here.steps)
        if cause is Cause.DATA_DTYPE:
            return count
        if cause in _HARMLESS:
            return _place_of(self.here, cause)
        return next((at for at in range(1, count + 1) if not self._known(at)), None)

    def _known(self, at: int) -> bool:
        return known_in(self.there, self.here.at(at))


def known_in(there: Passage, state: Sequence[Array]) -> bool:
    """Whether what a port has after a step is, but for harmless changes, something that the benchmark has."""
    for place in range(len(there.steps) + 1):
        other = there.at(place)
        related = relate(state, other, geometry=False) if len(other) == len(state) else None
        if related is not None and all(relation.cause in _HARMLESS for relation in related.relations):
            return True
    return False


def _place_of(passage: Passage, cause: Cause) -> int | None:
    """The last step that does a thing of this kind."""
    places = range(1, len(passage.steps) + 1)
    return next((at for at in reversed(places) if cause in _done(passage, at)), None)


def _done(passage: Passage, at: int) -> set[Cause]:
    """What a step does, of that which takes nothing from the data."""
    related = relate(passage.at(at), passage.at(at - 1), geometry=False)
    found = {relation.cause for relation in related.relations} if related is not None else set()
    return found | set(_SCALING) if found & set(_SCALING) else found


def _size(image: Array) -> str:
    axis = channel_axis(image.shape)
    return "x".join(str(side) for place, side in enumerate(image.shape) if place != axis)


def _resizing(passage: Passage) -> int | None:
    """The first step that gives an image of another size which is no part of the one before."""
    for at in range(1, len(passage.steps) + 1):
        before, after = passage.at(at - 1)[0], passage.at(at)[0]
        if channel_axis(before.shape) is None or channel_axis(after.shape) is None or _size(before) == _size(after):
            continue
        if relate([after], [before]) is None:
            return at
    return None


def _as(state: Array, like: Array) -> Array | None:
    """An image in the layout, scale and dtype of another."""
    axis, other = channel_axis(state.shape), channel_axis(like.shape)
    if axis is None or other is None:
        return None
    moved = np.moveaxis(state.astype(np.float64), axis, other)
    for factor in (1.0, 255.0, 1 / 255.0):
        scale = max(float(np.abs(like).max()), 1e-12)
        if 0.5 < factor * float(np.abs(moved).max()) / scale < 2.0:
            moved = moved * factor
            break
    if like.dtype.kind in "iu":
        moved = np.rint(moved)
    return moved.astype(like.dtype)
