"""Pipelines of two frameworks on the same raw data, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import warm

from trueline.adapters.guest.entry import Entry
from trueline.data.pipeline.looking import Wish
from trueline.data.pipeline.passing import Passing
from trueline.pair.data.pipelines import Beside, put_beside
from trueline.pair.data.pipelines_report import report, result

PROJECT = Path(__file__).parent / "pipelines_project"
SAMPLES = 8


class Sides:
    """Both processes, each with one pipeline after another."""

    def __init__(self, stack: ExitStack) -> None:
        self.bench = stack.enter_context(Passing(Entry.parse("bench.py:make"), Wish(), folder=PROJECT))
        self.port = stack.enter_context(Passing(Entry.parse("port.py:right"), Wish(), folder=PROJECT))

    def beside(self, port: str, bench: str = "make") -> Beside:
        self.bench.again(Entry.parse(f"bench.py:{bench}"), folder=PROJECT)
        self.port.again(Entry.parse(f"port.py:{port}"), folder=PROJECT)
        return put_beside(self.bench, self.port, SAMPLES)


@pytest.fixture(scope="module")
def sides() -> Iterator[Sides]:
    with ExitStack() as stack:
        with warm.guests():
            found = Sides(stack)
        yield found


@pytest.mark.parametrize("port", ["right", "right_in_one"])
def test_the_same_in_other_words_is_the_same(sides: Sides, port: str) -> None:
    found = sides.beside(port)
    assert (list(found.blames), list(found.open), found.samples) == ([], [], SAMPLES)


@pytest.mark.parametrize(
    ("port", "said"),
    [
        ("interpolation", "step 1 of the port: Resize("),
        ("output_size", "different size of the resize: 24x24 in the port, 24x32 in the benchmark"),
        ("factor_255", "step 2 of the port: Normalize("),
        ("mean_std", "step 3 of the port: Normalize("),
        ("channel_order", "step 1 of the port: swap"),
        ("data_layout", "24x32x3"),
        ("data_dtype", "float16"),
        ("crop", "step 2 of the port: CenterCrop("),
        ("sample_order", "sample 0 of the port is sample 5 of the benchmark"),
        ("labels", "different labels"),
    ],
)
def test_one_difference_is_named_and_nothing_else(sides: Sides, port: str, said: str) -> None:
    found = sides.beside(port)
    assert [str(one.cause) for one in found.blames] == [port]
    assert said in found.blames[0].message.text("en")
    assert found.blames[0].line is not None


def test_two_differences_are_two(sides: Sides) -> None:
    found = sides.beside("two_faults")
    assert [str(one.cause) for one in found.blames] == ["interpolation", "mean_std"]


def test_only_one_that_shuffles_and_other_batches_are_told(sides: Sides) -> None:
    assert [one.message.id for one in sides.beside("shuffled").blames] == ["data_pair.only_port_shuffles"]
    assert [one.message.id for one in sides.beside("batches").blames] == ["data_pair.sizes"]


def test_only_one_that_is_random_is_told(sides: Sides) -> None:
    found = sides.beside("right", bench="random")
    assert [one.message.id for one in found.blames] == ["pair_parts.data_random_bench"]


def test_padding_on_the_other_side_is_named(sides: Sides) -> None:
    found = sides.beside("data_padding", bench="text")
    assert [str(one.cause) for one in found.blames] == ["data_padding"]


def test_a_sample_that_fails_is_left_out_and_said_so(sides: Sides) -> None:
    found = sides.beside("right", bench="with_a_hole")
    assert (list(found.blames), found.samples) == ([], SAMPLES - 1)
    assert [one.text("en").partition(";")[0] for one in found.open] == [
        "bench.py:with_a_hole: sample 3 fails and is left out"
    ]


def test_both_lists_of_operators_are_shown_and_told(sides: Sides) -> None:
    found = sides.beside("interpolation")
    told = result("bench.py:make", "port.py:interpolation", found).to_json("en")
    assert (told["exit"], told["findings"][0]["code"], told["findings"][0]["kind"]) == (1, "dp.02", "interpolation")
    assert [one["name"] for one in told["bench_operators"]] == ["Resize", "to_tensor", "Normalize"]
    assert [one["name"] for one in told["operators"]] == ["Resize", "Rescale", "Normalize", "HWC2CHW"]
    table = report("bench.py:make", "port.py:interpolation", found).blocks[-1]
    assert min(getattr(table, "marked", ())) == 1
