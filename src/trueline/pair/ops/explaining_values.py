"""Why two values differ, from the values alone: each guess is computed, and holds only when it comes out right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.pair.blame import Cause
from trueline.pair.ops.form_words import cause_of_form, cause_of_two
from trueline.pair.ops.forms import ACTIVATIONS, Form, affine, cast, elementwise
from trueline.pair.ops.layout_forms import moved
from trueline.pair.ops.op_forms import form_of
from trueline.pair.ops.same_values import Floats, equal, floats, hidden, level, sampled, spread_size

_MOST_KNOWN: Final = 24
# In larger values it is not looked for moves of elements, which takes long.
_MAX_MOVED_SIZE: Final = 1_000_000
_ROOM: Final = 4.0


@dataclass(frozen=True, slots=True)
class Guess:
    """What explains a difference: the form or the value that each side has, and how far off it comes out."""

    kind: str
    cause: Cause
    left: float
    bench: Form | None = None
    port: Form | None = None
    bench_name: str = ""
    port_name: str = ""
    sizes: tuple[int, ...] = ()


def guess(bench: Array, port: Array, known: Mapping[str, Array], floor: float) -> Guess | None:
    """The first explanation that reproduces the benchmark's value from what the port has."""
    masked = hidden(port, bench)
    if masked is not None:
        # Both mask the same places: what they have at the others tells.
        bench, port = bench[~masked], port.reshape(bench.shape)[~masked]
    few = dict(list(known.items())[:_MOST_KNOWN])
    # What goes element by element shows in some of them, the same ones of all.
    x, y = sampled(bench), sampled(port)
    thin = {name: sampled(array) for name, array in few.items() if array.size == bench.size == port.size}
    tries: tuple[Callable[[], Guess | None], ...] = (
        lambda: _joined(bench, port, few, floor),
        lambda: _two_activations(x, y, thin, floor),
        lambda: _one_form(bench, port, floor),
        lambda: _added(x, y, thin, floor),
        lambda: _two_forms(bench, port, few, floor),
        lambda: _before_sum(x, y, thin, floor),
        lambda: _around_sum(x, y, thin, floor),
        lambda: _multiplied(bench, port, few, floor),
        lambda: _one_form(bench, port, floor, shifted=True),
    )
    with np.errstate(all="ignore"):
        found = (guess for attempt in tries if (guess := attempt()) is not None)
        # What does not come out right is no explanation.
        return next((guess for guess in found if guess.left <= _ROOM * floor), None)


def _one_form(bench: Array, port: Array, floor: float, *, shifted: bool = False) -> Guess | None:
    """One side's value is a function of the other's: the port lacks it, or has it on top.

    Padding on another side looks like a shift, so a shift counts only when asked for.
    """
    sizes = port.shape
    rounded = cast(bench, port, floor) or cast(port, bench, floor)
    if rounded is not None:
        kind = "extra_op" if equal(rounded.apply(bench), port, floor) else "missing_op"
        mine, its = (rounded, None) if kind == "missing_op" else (None, rounded)
        return Guess(kind, Cause.DTYPE, 0.0, mine, its, sizes=sizes)
    for order, given, made in ((0, port, bench), (1, bench, port)):
        form = _simple(given, made, floor)
        if form is None or form.family == "identity" or (form.family == "roll" and not shifted):
            continue
        left = level(form.apply(given), made)
        if order == 0:
            return Guess("missing_op", cause_of_form(form, Cause.MISSING_OP), left, bench=form, sizes=sizes)
        return Guess("extra_op", cause_of_form(form, Cause.EXTRA_OP), left, port=form, sizes=sizes)
    return None


def _simple(given: Array, made: Array, floor: float) -> Form | None:
    """Moves and factors before all else: many functions can be bent to fit a few values."""
    form = moved(given, made, floor) if given.size <= _MAX_MOVED_SIZE else None
    if form is None or form.family == "identity":
        form = affine(given, made, floor) or form_of(given, made, floor)
    return form


def _added(bench: Array, port: Array, known: Mapping[str, Array], floor: float) -> Guess | None:
    """The difference is a value of the block: a sum that one side lacks, or takes of another value."""
    if bench.size != port.size:
        return None
    gap = bench - port
    near = floor * float(np.max(np.abs(bench))) * 4

    def is_gap(value: Array) -> bool:
        return float(np.max(np.abs(gap - value))) <= near

    for name, value in known.items():
        if is_gap(value):
            return Guess("missing_sum", Cause.RESIDUAL, level(port + value, bench), bench_name=name)
        if is_gap(-value):
            return Guess("extra_sum", Cause.RESIDUAL, level(port - value, bench), port_name=name)
    for name, value in known.items():
        for other, taken in known.items():
            if other != name and is_gap(value - taken):
                left = level(port + value - taken, bench)
                return Guess("other_input", Cause.RESIDUAL, left, bench_name=name, port_name=other)
    return None


def _two_forms(bench: Array, port: Array, known: Mapping[str, Array], floor: float) -> Guess | None:
    """Both are functions of one value of the block, but not the same one."""
    for given in known.values():
        mine = form_of(given, bench, floor)
        its = form_of(given, port, floor) if mine is not None else None
        if mine is not None and its is not None:
            if its.family == "identity":
                cause = cause_of_form(mine, Cause.MISSING_OP)
                return Guess("missing_op", cause, 0.0, bench=mine, sizes=given.shape)
            if mine.family == "identity":
                return Guess("extra_op", cause_of_form(its, Cause.EXTRA_OP), 0.0, port=its, sizes=given.shape)
            left = level(mine.apply(given), bench)
            return Guess("other_op", cause_of_two(mine, its), left, mine, its, sizes=given.shape)
    return None


def _two_activations(bench: Array, port: Array, known: Mapping[str, Array], floor: float) -> Guess | None:
    """Both are activations of one value of the block: one of the other would fit as well, and say less."""
    for given in known.values():
        mine = elementwise(given, bench, floor)
        its = elementwise(given, port, floor) if mine is not None and mine.family == "activation" else None
        if mine is not None and its is not None and its.family == "activation":
            return Guess("other_op", cause_of_two(mine, its), level(mine.apply(given), bench), mine, its)
    return None


def _joined(bench: Array, port: Array, known: Mapping[str, Array], floor: float) -> Guess | None:
    """Two values of the block joined in another order."""
    for first, second in _pairs(known):
        if first.ndim != second.ndim or first.size + second.size != bench.size:
            continue
        for axis in range(first.ndim):
            try:
                here, there = np.concatenate([first, second], axis), np.concatenate([second, first], axis)
            except ValueError:
                continue
            if equal(here, bench, floor) and equal(there, port, floor):
                form = Form("parts", "concat", lambda value: value, {"axis": axis - first.ndim, "order": (1, 0)})
                return Guess("missing_op", Cause.CONCAT_ORDER, level(here, bench), bench=form)
    return None


def _pairs(known: Mapping[str, Array]) -> Iterator[tuple[Array, Array]]:
    for name, first in known.items():
        for other, second in known.items():
            if name != other:
                yield first, second


def _before_sum(bench: Array, port: Array, known: Mapping[str, Array], floor: float) -> Guess | None:
    """Under a sum with one value of the block, another function of a second one."""
    for given, added in _pairs(known):
        rest, other = bench - added, port - added
        mine = elementwise(given, rest, floor)
        its = elementwise(given, other, floor) if mine is not None else None
        if mine is None or its is None or mine.family == "offset" or its.family == "offset":
            continue
        if its.family == "identity":
            return Guess("missing_op", cause_of_form(mine, Cause.MISSING_OP), 0.0, bench=mine)
        if mine.family == "identity":
            return Guess("extra_op", cause_of_form(its, Cause.EXTRA_OP), 0.0, port=its)
        return Guess("other_op", cause_of_two(mine, its), 0.0, mine, its)
    return None


def _around_sum(bench: Array, port: Array, known: Mapping[str, Array], floor: float) -> Guess | None:
    """An activation before a sum on one side and after it on the other, or a sum that only one has under it."""
    for first, second in _pairs(known):
        for name, function in ACTIVATIONS.items():
            form = Form(name, "activation", lambda value: value)
            alone: Floats = function(first)
            results = {"after": function(floats(first + second)), "before": alone + second, "alone": alone}
            mine = next((one for one, value in results.items() if level(value, bench) <= floor), None)
            its = next((one for one, value in results.items() if level(value, port) <= floor), None)
            if mine is None or its is None or mine == its:
                continue
            if "alone" not in (mine, its):
                return Guess("moved_op", Cause.ORDER, level(results[mine], bench), form, form)
            added = next(label for label, array in known.items() if array is second)
            kind = "missing_sum" if its == "alone" else "extra_sum"
            return Guess(kind, Cause.RESIDUAL, level(results[mine], bench), bench_name=added, port_name=added)
    return None


def _multiplied(bench: Array, port: Array, known: Mapping[str, Array], floor: float) -> Guess | None:
    """A product with a value of the block that one side lacks."""
    for name, value in known.items():
        if max(spread_size((port, value)), spread_size((bench, value))) > max(bench.size, port.size):
            continue
        try:
            if equal(floats(port) * floats(value), bench, floor):
                return Guess("missing_product", Cause.MISSING_OP, 0.0, bench_name=name)
            if equal(floats(bench) * floats(value), port, floor):
                return Guess("extra_product", Cause.EXTRA_OP, 0.0, port_name=name)
        except ValueError:
            continue
    return None
