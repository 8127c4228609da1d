"""The smallest call that still disagrees in the same way: fewer conditions, arguments, elements and digits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any, Final

import numpy as np

from trueline.apitable.pairs import Documented, Kind
from trueline.kernel.array import Array
from trueline.migrate.lab.arguments import default_of, literal, plain
from trueline.migrate.lab.conditions import conditions_of
from trueline.migrate.lab.draw import Draw, DrawnValue, Strided
from trueline.migrate.lab.judging import What
from trueline.migrate.lab.trials import Laboratory, Trial

_ROUNDS: Final = 14
_NUDGE: Final = 0.0037
# A class is built for every call, which takes far longer.
_ROUNDS_OF_CLASS: Final = 6


def shrunk(laboratory: Laboratory, pair: Documented, trial: Trial) -> Trial:
    """A trial that disagrees in the same way and that no step makes smaller."""
    if trial.draw.more.get("random") or trial.draw.more.get("statistics"):
        # Few numbers say nothing about chance.
        return trial
    if trial.calls is None:
        # Only which argument is lacking matters.
        return replace(trial, draw=_only(trial.draw, pair, trial.mindspore.error[1] if trial.mindspore.error else ""))
    function = pair.kind in (Kind.FUNCTION, Kind.METHOD)
    for _ in range(_ROUNDS if function else _ROUNDS_OF_CLASS):
        better = next(_tried(laboratory, pair, trial), None)
        if better is None:
            break
        trial = better
    return trial


def _tried(laboratory: Laboratory, pair: Documented, trial: Trial) -> Iterator[Trial]:
    """The smaller calls that disagree in the same way; those that leave the same arguments out are tried at once."""
    # What is smaller must not stand under a condition of its own.
    smaller = [(draw, left) for draw, left in _smaller(trial.draw, pair) if conditions_of(draw) <= trial.conditions]
    for name, candidates in groupby(smaller, lambda candidate: candidate[1]):
        draws = [draw for draw, _ in candidates]
        places = range(len(draws)) if trial.verdict.what is What.GRADIENT else ()
        # An argument that is left out is no new cause: MindSpore is given torch's default for it.
        known, default = literal(default_of(pair.torch_parameters, name)) if name else (False, None)
        if not known or default is None:
            yield from (tried for tried in laboratory.tried(pair, draws, trial.explicit, places) if _same(tried, trial))
            continue
        explicit = {**trial.explicit, name: default}
        with_default = laboratory.tried(pair, draws, explicit, places)
        # Nor is what MindSpore does only where that default is written.
        left_out = laboratory.tried(pair, draws, trial.explicit, places)
        for tried, plain_call in zip(with_default, left_out, strict=True):
            if _same(tried, trial) and not plain_call.verdict.agrees:
                yield tried


def nudged(draw: Draw) -> Draw:
    """The same call with every float a little beside what it was."""
    return _mapped(draw, _on_floats(lambda array: array + _NUDGE))


def _same(candidate: Trial, trial: Trial) -> bool:
    if candidate.verdict.what is not trial.verdict.what or candidate.calls is None:
        return False
    if trial.verdict.what in (What.RAISES, What.KERNEL):
        return _first_words(candidate) == _first_words(trial)
    return candidate.verdict.what in (What.DTYPE, What.WIDTH) or candidate.verdict.distance > 0


def _first_words(trial: Trial) -> tuple[str, str]:
    """What kind of error it is: numbers and names in it change while the call shrinks."""
    error = trial.mindspore.error or ("", "")
    return error[0], " ".join(word for word in error[1][:120].split() if word.isalpha())[:40]


def optional(pair: Documented) -> frozenset[str]:
    """torch's arguments that may be left out."""
    return frozenset(plain(name) for name, default in pair.torch_parameters if default is not None)


def _only(draw: Draw, pair: Documented, argument: str) -> Draw:
    """The draw with no optional argument but one."""
    free = optional(pair) - {argument}
    return replace(
        draw,
        values={name: value for name, value in draw.values.items() if name not in free},
        build={name: value for name, value in draw.build.items() if name not in free},
        conditions=frozenset(),
    )


def _smaller(draw: Draw, pair: Documented) -> Iterator[tuple[Draw, str]]:
    """Smaller draws, those that matter most first; each with the argument that it leaves out, if any."""
    for condition, change in _CHANGES.items():
        if condition in conditions_of(draw):
            changed = _mapped(draw, change)
            yield replace(changed, conditions=draw.conditions - {condition}), ""
    for name in sorted(optional(pair)):
        if name in draw.values:
            yield replace(draw, values={key: value for key, value in draw.values.items() if key != name}), name
        if name in draw.build:
            yield replace(draw, build={key: value for key, value in draw.build.items() if key != name}), name
    for shorter in _cut(draw):
        yield shorter, ""
    rounded = _mapped(draw, _rounded)
    if not _equal(draw, rounded):
        yield rounded, ""


def _mapped(draw: Draw, change: Callable[[Any], Any]) -> Draw:
    return replace(draw, values=_mapped_values(draw.values, change), build=_mapped_values(draw.build, change))


def _mapped_values(values: Mapping[str, DrawnValue], change: Callable[[Any], Any]) -> dict[str, DrawnValue]:
    # An array that stands in two places stays one.
    made: dict[int, Any] = {}

    def changed(value: DrawnValue) -> DrawnValue:
        if isinstance(value, list | tuple):
            return type(value)(changed(element) for element in value)
        if id(value) not in made:
            made[id(value)] = change(value)
        return made[id(value)]

    return {name: changed(value) for name, value in values.items()}


def _on_floats(change: Callable[[Array], Array]) -> Callable[[Any], Any]:
    def changed(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and not _are_labels(value):
            # Arithmetic makes a number of an array without axes.
            return np.asarray(change(value), value.dtype)
        return value

    return changed


def _are_labels(array: Array) -> bool:
    """Whether an array holds whole numbers only, as labels and masks do: other numbers would mean nothing there."""
    return bool(array.size and np.isfinite(array).all() and (array == np.round(array)).all())


def _plain(value: Any) -> Any:
    return value.array if isinstance(value, Strided) else value


def _float32(value: Any) -> Any:
    if isinstance(value, Strided):
        return Strided(_float32(value.array))
    is_float = isinstance(value, np.ndarray) and (value.dtype.kind == "f" or value.dtype.name == "bfloat16")
    return value.astype(np.float32) if is_float else value


def _from_integers(value: Any) -> Any:
    return value.astype(np.float32) if isinstance(value, np.ndarray) and value.dtype.kind in "iub" else value


def _distinct(array: Array) -> Array:
    shifts = np.arange(array.size, dtype=np.float64).reshape(array.shape) * 0.13
    return np.asarray(array + shifts, array.dtype)


def _moderate(array: Array) -> Array:
    largest = float(np.abs(array[np.isfinite(array)]).max(initial=0.0))
    return array / max(largest / 3.0, 1.0)


def _finite(array: Array) -> Array:
    return np.where(np.isfinite(array), array, np.asarray(1.5, array.dtype))


def _an_axis(value: Any) -> Any:
    return value.reshape(1) if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _positive(value: Any) -> Any:
    return value + 2 if isinstance(value, int) and not isinstance(value, bool) and -2 <= value < 0 else value


# What takes a condition away.
_CHANGES: Final[Mapping[str, Callable[[Any], Any]]] = {
    "strided": _plain,
    "bfloat16": _float32,
    "float16": _float32,
    "float64": _float32,
    "integer": _from_integers,
    "bool": _from_integers,
    "nan": _on_floats(_finite),
    "inf": _on_floats(_finite),
    "large": _on_floats(_moderate),
    "negative_axis": _positive,
    "ties": _on_floats(_distinct),
    "0-d": _an_axis,
}


def _cut(draw: Draw) -> Iterator[Draw]:
    """Every axis of one size shortened in all arrays at once, so that what belongs together stays so."""
    arrays = [value for value in (*draw.values.values(), *draw.build.values()) if isinstance(value, np.ndarray)]
    sizes = sorted({size for array in arrays for size in array.shape if size > 1}, reverse=True)
    for size in sizes:
        for shorter in dict.fromkeys((1, 2, size // 2)):
            if 0 < shorter < size:
                yield _mapped(draw, partial(_shortened, size=size, shorter=shorter))
    for array in arrays:
        if array.ndim > 1 and array.shape[0] == 1:
            yield _mapped(draw, _without_first_axis)
            break


def _without_first_axis(value: Any) -> Any:
    return value[0] if isinstance(value, np.ndarray) and value.ndim > 1 and value.shape[0] == 1 else value


def _shortened(value: Any, size: int, shorter: int) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    cut = tuple(slice(0, shorter) if length == size else slice(None) for length in value.shape)
    return np.ascontiguousarray(value[cut])


def _rounded(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size and not _are_labels(value):
        rounded = np.round(value.astype(np.float64), 1)
        # Whole numbers are where functions have their poles and steps.
        becomes_whole = (rounded == np.round(rounded)) & (value != rounded)
        return np.asarray(np.where(becomes_whole, rounded + 0.1, rounded), value.dtype)
    return value


def _equal(draw: Draw, other: Draw) -> bool:
    return all(
        np.array_equal(value, other.values[name], equal_nan=value.dtype.kind == "f")
        for name, value in draw.values.items()
        if isinstance(value, np.ndarray)
    )
