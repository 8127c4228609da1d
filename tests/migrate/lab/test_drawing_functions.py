"""Draws for functions and methods: torch takes them, each documented name has some, and a seed gives the same again."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from trueline.apitable.pairs import Kind, documented
from trueline.migrate.lab.conditions import arrays_in, conditions_of
from trueline.migrate.lab.draw import Draw, DType, Strided
from trueline.migrate.lab.drawing.functions import draws, reason_not_drawn
from trueline.migrate.lab.drawing.table import drawing_table

Parameters = Sequence[tuple[str, str | None]]

METHOD = "torch.Tensor."
PARAMETERS: Mapping[str, Parameters] = {
    pair.torch: pair.torch_parameters for pair in documented() if pair.kind in (Kind.FUNCTION, Kind.METHOD)
}
DRAWN = [name for name in PARAMETERS if reason_not_drawn(name) is None]


def test_every_documented_function_is_drawn_or_says_why_not() -> None:
    assert [name for name in DRAWN if not draws(name, PARAMETERS[name], 0, 1)] == []
    assert [name for name in PARAMETERS if reason_not_drawn(name) and draws(name, PARAMETERS[name], 0, 1)] == []


def test_the_table_names_no_function_that_is_not_documented() -> None:
    words = {name.rpartition(".")[2] for name in PARAMETERS}
    known = words | {word.rstrip("_") for word in words} | set(PARAMETERS)
    assert sorted(set(drawing_table().forms) - known) == []
    assert sorted(set(drawing_table().not_drawn) - set(PARAMETERS)) == []


def test_the_same_seed_draws_the_same_and_another_does_not() -> None:
    for name in DRAWN[::9]:
        first, again, other = (_printed(draws(name, PARAMETERS[name], seed, 12)) for seed in (3, 3, 4))
        assert first == again
        assert first[:5] == _printed(draws(name, PARAMETERS[name], 3, 5))
        if any("array" in text for text in first):
            assert first != other


def test_torch_takes_ordinary_draws_of_every_function() -> None:
    refused = {}
    for name in DRAWN:
        ordinary = [draw for draw in draws(name, PARAMETERS[name], 1, 15) if not conditions_of(draw)]
        errors = [error for draw in ordinary if (error := _error_of(name, draw))]
        if len(errors) > 0.15 * len(ordinary):
            refused[name] = errors
    assert refused == {}


@pytest.mark.parametrize("name", ["torch.add", "torch.Tensor.sum", "torch.nn.functional.smooth_l1_loss"])
def test_three_of_five_draws_are_ordinary_and_the_others_stand_on_edges(name: str) -> None:
    drawn = draws(name, PARAMETERS[name], 0, 100)
    met = Counter(condition for draw in drawn for condition in conditions_of(draw))
    # A type that is asked for is a condition as well.
    assert 40 <= sum(not conditions_of(draw) for draw in drawn) <= 65
    assert {"nan", "inf", "empty", "0-d", "one_element", "ties", "strided", "float16", "float64"} <= set(met)
    assert {"integer", "bool", "large", "negative_zero"} <= set(met)


def test_optional_arguments_are_left_out_and_given_alone_together_and_at_their_default() -> None:
    name = "torch.nn.functional.smooth_l1_loss"
    drawn = draws(name, PARAMETERS[name], 0, 100)
    given = {frozenset(draw.values) - {"input", "target"} for draw in drawn}
    assert given == {frozenset(), frozenset({"beta"}), frozenset({"reduction"}), frozenset({"beta", "reduction"})}
    assert {draw.values["beta"] for draw in drawn if "beta" in draw.values} >= {1.0, 0.5, 2.0}


def test_ordinary_numbers_are_distinct_and_short_and_off_the_halves() -> None:
    for draw in draws("torch.Tensor.abs", PARAMETERS["torch.Tensor.abs"], 0, 40):
        if not conditions_of(draw):
            array = np.asarray(draw.values["input"])
            assert len(np.unique(array)) == array.size <= 64
            assert np.allclose(array * 100, np.round(array * 100), atol=1e-3)
            assert (array * 2 != np.round(array * 2)).all()


def test_random_functions_are_drawn_large_enough_for_statistics_or_with_a_certain_outcome() -> None:
    drawn = draws("torch.nn.functional.dropout", PARAMETERS["torch.nn.functional.dropout"], 0, 30)
    for draw in drawn:
        if draw.more.get("random"):
            assert all(array.size >= 2000 for value in draw.values.values() for array, _ in arrays_in(value))
        else:
            assert draw.values.get("p") in (0.0, 1.0) or draw.values["training"] is False


def _error_of(name: str, draw: Draw) -> str:
    """What torch says against a draw; "" where it takes it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _call(name, draw)
        except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError) as error:
            return f"{dict(draw.values)}: {error}"
    return ""


def _call(name: str, draw: Draw) -> None:
    """Required arguments by position and the others by name, as torch's documentation writes a call."""
    values = {argument: _of_torch(value) for argument, value in draw.values.items()}
    parameters = [(argument, default) for argument, default in PARAMETERS[name] if argument != "**kwargs"]
    if name.startswith(METHOD):
        called = getattr(values.pop("input"), name.removeprefix(METHOD))
        if not callable(called):
            return
    else:
        called = torch
        for word in name.split(".")[1:]:
            called = getattr(called, word)
    required = max((place for place, (_, default) in enumerate(parameters) if default is None), default=-1)
    arguments: list[Any] = []
    for argument, _ in parameters[: required + 1]:
        word = argument.removeprefix("*").replace("args", "input")
        if word in values:
            value = values.pop(word)
            arguments.extend(value if argument.startswith("*") and isinstance(value, list) else [value])
    if "other" in values and not parameters:
        arguments.append(values.pop("other"))
    called(*arguments, **values)


def _of_torch(value: Any) -> Any:
    match value:
        case np.ndarray():
            return torch.from_numpy(value.copy())
        case Strided(array=array):
            return torch.from_numpy(array.copy()).repeat_interleave(2, -1)[..., ::2]
        case DType(name=name):
            return getattr(torch, name)
        case list() | tuple():
            return type(value)(_of_torch(element) for element in value)
    return value


def _printed(drawn: list[Draw]) -> list[str]:
    return [repr((_plain(list(draw.values.items())), sorted(draw.conditions), draw.more)) for draw in drawn]


def _plain(value: Any) -> Any:
    match value:
        case Strided(array=array):
            return ("strided", _plain(array))
        case np.ndarray():
            return ("array", str(value.dtype), value.tolist())
        case list() | tuple():
            return [_plain(element) for element in value]
    return value
