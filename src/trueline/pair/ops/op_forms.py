"""What an operator does, read off its inputs and its output, so that it can be done again with other inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.pair.ops.forms import Form, cast, elementwise
from trueline.pair.ops.layout_forms import moved
from trueline.pair.ops.same_values import equal, floats, spread_size
from trueline.pair.ops.whole_forms import masked, over_axes

Again = Callable[[Sequence[Array]], Array]

_MOST_INPUTS: Final = 16
# Values that take more than 64 MB are not kept.
_MOST_ELEMENTS: Final = 1 << 25
_ORDER_FREE: Final = frozenset({"add", "mul", "maximum", "minimum"})


@dataclass(frozen=True, slots=True)
class Done:
    """An operator that was recognised: ``again`` does the same with other inputs, ``form`` names it if of one value."""

    name: str
    again: Again
    form: Form | None = None

    @classmethod
    def of(cls, form: Form) -> Done:
        """A function of one value."""
        return cls(form.name, lambda inputs: form.apply(inputs[0]), form)

    @property
    def order_free(self) -> bool:
        """Whether its inputs may change places."""
        return self.name in _ORDER_FREE


def recognised(kind: str, inputs: Sequence[Array], output: Array, floor: float) -> Done | None:
    """What makes the output from the inputs; what ``kind`` says is tried first."""
    if not inputs or not output.size or len(inputs) > _MOST_INPUTS:
        return None
    if len(inputs) == 1:
        return _of_one(kind, inputs[0], output, floor)
    with np.errstate(all="ignore"):
        for name, again in sorted(_of_several(kind, inputs), key=lambda one: one[0] != kind):
            if _fits(again, inputs, output, floor):
                return Done(name, again)
        if kind in ("where", "masked_fill"):
            return _masking(inputs, output, floor)
    return None


def form_of(given: Array, made: Array, floor: float, kind: str = "") -> Form | None:
    """The function of one value that makes another."""
    form = elementwise(given, made, floor, kind)
    if form is not None and (form.name == kind or form.family in ("activation", "identity", "scale")):
        return form
    form = over_axes(given, made, floor, kind) or form
    return form or moved(given, made, floor, kind) or masked(given, made, floor) or cast(given, made, floor)


def _of_one(kind: str, given: Array, output: Array, floor: float) -> Done | None:
    form = form_of(given, output, floor, kind)
    return Done.of(form) if form is not None else None


def _fits(again: Again, inputs: Sequence[Array], output: Array, floor: float) -> bool:
    try:
        return equal(again(inputs), output, floor)
    except ValueError:
        # Shapes that this operator does not take.
        return False


def _kept(again: Again) -> Again:
    """The same, but not for inputs that spread over each other make more than any value that is kept."""

    def done(given: Sequence[Array]) -> Array:
        if spread_size(given) > _MOST_ELEMENTS:
            raise ValueError("larger than what is kept")
        return again(given)

    return done


def _of_several(kind: str, inputs: Sequence[Array]) -> Iterator[tuple[str, Again]]:
    if len(inputs) == 2:
        yield "add", _kept(lambda given: floats(given[0]) + floats(given[1]))
        yield "mul", _kept(lambda given: floats(given[0]) * floats(given[1]))
        yield "sub", _kept(lambda given: floats(given[0]) - floats(given[1]))
        yield "sub", _kept(lambda given: floats(given[1]) - floats(given[0]))
        yield "div", _kept(lambda given: floats(given[0]) / floats(given[1]))
        yield "matmul", lambda given: np.matmul(floats(given[0]), floats(given[1]))
        yield "matmul", lambda given: np.matmul(floats(given[0]), np.swapaxes(floats(given[1]), -1, -2))
        yield "maximum", _kept(lambda given: np.maximum(floats(given[0]), floats(given[1])))
        yield "minimum", _kept(lambda given: np.minimum(floats(given[0]), floats(given[1])))
        if kind == "pow":
            yield "pow", _kept(lambda given: np.power(floats(given[0]), floats(given[1])))
    if kind == "where" and len(inputs) == 3:
        yield "where", _kept(lambda given: np.where(given[0], floats(given[1]), floats(given[2])))
    yield from _joined(inputs)


def _joined(inputs: Sequence[Array]) -> Iterator[tuple[str, Again]]:
    axes = inputs[0].ndim
    if any(array.ndim != axes for array in inputs):
        return
    for axis in range(axes):
        yield "cat", _joining(np.concatenate, axis)
    if len({array.shape for array in inputs}) == 1:
        for axis in range(axes + 1):
            yield "stack", _joining(np.stack, axis)


def _joining(join: Callable[..., Array], axis: int) -> Again:
    return lambda given: join([floats(array) for array in given], axis=axis)


def _masking(inputs: Sequence[Array], output: Array, floor: float) -> Done | None:
    """A value with one constant at some places: where the mask says, if one is given."""
    for place, given in enumerate(inputs):
        form = masked(given, output, floor) if given.size == output.size and given.dtype != np.bool_ else None
        if form is not None:
            by_mask = (_where(inputs, output, floor, form, place, at) for at in range(len(inputs)) if at != place)
            return next(filter(None, by_mask), None) or Done("mask", _masked_at(form, place), form)
    return None


def _where(inputs: Sequence[Array], output: Array, floor: float, form: Form, place: int, at: int) -> Done | None:
    """The constant where one input says so."""
    if inputs[at].dtype != np.bool_:
        return None
    constant = form.settings["value"]
    assert isinstance(constant, float)

    def again(given: Sequence[Array]) -> Array:
        return np.where(given[at], constant, floats(given[place]))

    try:
        fits = equal(again(inputs), output, floor)
    except ValueError:
        return None
    return Done("mask", again, form) if fits else None


def _masked_at(form: Form, place: int) -> Again:
    return lambda given: form.apply(given[place])
