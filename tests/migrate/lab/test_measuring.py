"""Pairs measured with both frameworks, each in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from trueline.adapters.lab.call import Call
from trueline.apitable.pairs import Documented, Measured, Outcome, pairs_by_name
from trueline.migrate.lab.bench import CRASHED, Asked, Bench
from trueline.migrate.lab.draw import Draw, DType
from trueline.migrate.lab.measuring import measured
from trueline.migrate.lab.trials import Laboratory


@pytest.fixture(scope="module")
def laboratory() -> Iterator[Laboratory]:
    lab = Laboratory(Bench("torch"), Bench("mindspore"), Bench("mindspore"))
    lab.torch.begin()
    lab.mindspore.begin()
    yield lab
    lab.close()


def _pair(torch: str, mindspore: str) -> Documented:
    return next(pair for pair in pairs_by_name()[torch] if pair.mindspore == mindspore)


def _draws(nan: bool = False) -> list[Draw]:
    rng = np.random.default_rng(3)
    draws = []
    for count in range(36):
        array = np.round(rng.normal(size=(2 + count % 3, 3)), 2).astype(np.float32)
        if nan and count % 6 == 0:
            array[0, 0] = np.nan
        draws.append(Draw({"input": array}))
    return draws


def _row(laboratory: Laboratory, torch: str, mindspore: str, *, nan: bool = False) -> Measured:
    return measured(laboratory, _pair(torch, mindspore), _draws(nan))


def test_a_default_that_differs_is_named_with_what_to_write(laboratory: Laboratory) -> None:
    row = _row(laboratory, "torch.nn.functional.leaky_relu", "mindspore.ops.leaky_relu")
    assert row.outcome is Outcome.EQUAL_WITH
    (need,) = row.needs
    assert (need.argument, need.for_torch, need.for_mindspore) == (
        "negative_slope",
        "alpha=0.01",
        "negative_slope=0.2",
    )
    (difference,) = [d for d in row.differences if d.what == "values"]
    assert difference.when == ("default:negative_slope",)
    assert "leaky_relu" in difference.example.mindspore


def test_an_example_is_small_enough_to_read(laboratory: Laboratory) -> None:
    row = _row(laboratory, "torch.std", "mindspore.ops.std")
    assert row.outcome is Outcome.EQUAL_WITH
    assert [need.for_torch for need in row.needs] == ["ddof=1"]
    assert len(row.differences[0].example.torch) < 60


def test_equal_functions_are_equal_although_one_is_less_precise(laboratory: Laboratory) -> None:
    row = _row(laboratory, "torch.tanh", "mindspore.ops.tanh")
    assert row.outcome is Outcome.EQUAL
    assert row.agreed == row.cases == 36
    assert {difference.what for difference in row.differences} <= {"precision"}


def test_what_differs_only_for_nan_is_equal_with_that_condition(laboratory: Laboratory) -> None:
    row = _row(laboratory, "torch.nn.functional.leaky_relu", "mindspore.ops.leaky_relu", nan=True)
    assert row.outcome is Outcome.EQUAL_WITH
    assert ("nan",) in [difference.when for difference in row.differences]


def test_a_kernel_that_is_not_there_is_no_difference(laboratory: Laboratory) -> None:
    row = _row(laboratory, "torch.nn.functional.gelu", "mindspore.mint.nn.functional.gelu")
    assert row.outcome is Outcome.NO_KERNEL


def test_a_call_that_ends_the_process_is_an_answer_and_the_next_one_goes_on(laboratory: Laboratory) -> None:
    ones = np.ones(3, np.float32)
    calls = [Call("function", "torch.abs", [{"array": 0}]), Call("function", "os.abort")]
    answers = laboratory.torch.answers([Asked(call, [ones]) for call in [*calls, calls[0]]])
    assert [answer.error[0] if answer.error else None for answer in answers] == [None, CRASHED, None]
    assert laboratory.torch.crashes == 1


def test_what_is_wrong_only_after_another_call_is_said_as_that(laboratory: Laboratory) -> None:
    # MindSpore 2.10 on a CPU keeps sizes of an earlier scatter: a later one in another shape loses values.
    pair = _pair("torch.Tensor.scatter", "mindspore.Tensor.scatter")
    wide = {"input": np.ones((2, 4), np.float32), "dim": 1, "index": np.array([[1], [0]])}
    flat = {"input": np.arange(5, dtype=np.float32), "dim": 0, "index": np.array([0, 3])}
    draws = [
        Draw({**wide, "src": np.full((2, 1), 2.5, np.float32)}),
        Draw({**flat, "src": np.array([7.5, 8.5], np.float32)}),
    ]
    row = measured(laboratory, pair, [draw for draw in draws for _ in range(3)])
    assert row.outcome is Outcome.EQUAL
    assert {difference.when for difference in row.differences} == {("after_others",)}


def test_the_values_that_are_refused_are_told_from_those_that_are_not(laboratory: Laboratory) -> None:
    rng = np.random.default_rng(4)
    arrays = [np.round(rng.normal(size=(2, 3)), 2).astype(np.float32) for _ in range(12)]
    draws = [Draw({"input": array, "alpha": (0.5, 1.0, 2.0)[at % 3]}) for at, array in enumerate(arrays)]
    row = measured(laboratory, _pair("torch.nn.functional.elu", "mindspore.ops.elu"), draws)
    (difference,) = [d for d in row.differences if d.what == "raises"]
    values = difference.values["alpha"]
    assert (values.bad, values.fine, values.others) == (("0.5", "2.0"), ("1.0",), True)
    assert row.maps({"alpha": "1.0"}) and not row.maps({"alpha": "0.25"}) and row.maps({"alpha": "args.alpha"})


def test_an_argument_that_takes_a_difference_away_is_named(laboratory: Laboratory) -> None:
    draws = [
        Draw(
            {"size": (2, 1 + count % 3), "fill_value": 2.5 + count} | ({"dtype": DType("float32")} if count % 2 else {})
        )
        for count in range(30)
    ]
    row = measured(laboratory, _pair("torch.full", "mindspore.ops.full"), draws)
    (difference,) = [d for d in row.differences if d.what == "values"]
    assert (difference.when, difference.unless) == ((), ("dtype",))
    assert row.maps({"size": "(2, 3)", "dtype": "torch.float32"}) and not row.maps({"size": "(2, 3)"})
