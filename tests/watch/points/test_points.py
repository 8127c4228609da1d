"""Every watchpoint is met where it should be, and not met just before that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from trueline.model.finding import Conclusion
from trueline.watch.points import IDS, Need, PointHit, Points, finding, needs, parse, recommended
from trueline.watch.points.point import SPECS, Unit

Show = Callable[[Points], list[PointHit]]


def _full(value: float, count: int = 1000) -> Any:
    return np.full((count // 10, 10), value, np.float32)


def _with(base: Any, *values: float) -> Any:
    base = base.copy()
    base.reshape(-1)[: len(values)] = values
    return base


def _weights(*arrays: Any) -> Show:
    """Initial weights and then those after each update."""

    def show(points: Points) -> list[PointHit]:
        hits = points.initial([("fc.weight", arrays[0])])
        for step, array in enumerate(arrays[1:]):
            hits += points.weights(step, [("fc.weight", array)])
        return hits

    return show


def _gradient(array: Any) -> Show:
    return lambda points: points.gradient(0, "fc.weight", array)


def _output(array: Any) -> Show:
    return lambda points: points.output(0, "fc", "Linear", array)


def _before(kind: str, array: Any) -> Show:
    return lambda points: points.before_activation(0, "act", kind, array)


def _norms(*values: float) -> Show:
    return lambda points: [hit for step, one in enumerate(values) for hit in points.norm(step, "norm", one)]


NAN, INF = float("nan"), float("inf")
ONE = _full(1.0)
ZERO = _full(0.0)
# Of 1000 elements so many within what a tanh can tell apart, so many positive.
NINE_WIDE = _full(9.0)
CASES: list[tuple[str, Show, Show]] = [
    ("WI", _weights(ZERO), _weights(_with(ZERO, 1e-3))),
    ("WI:zeros=90%", _weights(_with(ZERO, *[1.0] * 100)), _weights(_with(ZERO, *[1.0] * 101))),
    ("WI:max=2", _weights(_full(2.1)), _weights(_full(2.0))),
    ("WI:min=-2", _weights(_full(-2.1)), _weights(_full(-2.0))),
    ("WI:dims=1", _weights(np.zeros(8, np.float32)), _weights(np.ones(8, np.float32))),
    ("WO", _weights(ONE, _with(ONE, NAN)), _weights(ONE, _with(ONE, 3e38))),
    ("WO", _weights(_with(ONE, -INF)), _weights(ONE)),
    ("WL:5", _weights(ONE, _full(-5.1)), _weights(ONE, _full(-5.0))),
    ("WL:max=5", _weights(ONE, _with(ONE, 5.1)), _weights(ONE, _with(ONE, 5.0))),
    ("WL:min=1", _weights(ONE, _full(1.5)), _weights(ONE, _with(_full(1.5), 1.0))),
    ("WL:mean=2", _weights(ONE, _full(2.1)), _weights(ONE, _full(2.0))),
    ("WS:0.5", _weights(ONE, _full(-0.4)), _weights(ONE, _full(-0.5))),
    ("WNC", _weights(ONE, ONE, ONE, ONE), _weights(ONE, ONE, ONE, _full(1.0001))),
    ("WNC:steps=1", _weights(ONE, _full(1 + 9e-6)), _weights(ONE, _full(1 + 2e-5))),
    ("WNC:rtol=0.1,steps=1", _weights(ONE, _full(1.09)), _weights(ONE, _full(1.11))),
    ("WCL", _weights(ONE, _full(1.11)), _weights(ONE, _full(1.09))),
    ("WCL:1", _weights(ONE, _full(2.01)), _weights(ONE, _full(1.99))),
    ("WCL:settle=0", _weights(ZERO, ONE), _weights(ONE, _full(1.05))),
    ("WCS", _weights(ONE, _full(1.00009)), _weights(ONE, _full(1.00011))),
    ("GV", _gradient(_full(9e-10)), _gradient(_full(1.1e-9))),
    ("GL:max=5", _gradient(_with(ONE, 5.1)), _gradient(_with(ONE, 5.0))),
    ("GL:10", _gradient(_full(-10.1)), _gradient(_full(-9.9))),
    ("GE", _gradient(_with(ONE, INF)), _gradient(_with(ONE, -3e38))),
    ("TO", _output(_with(ONE, NAN)), _output(ONE)),
    ("TZ", _output(ZERO), _output(_with(ZERO, 1e-30))),
    ("TL:max=5", _output(_with(ONE, 5.1)), _output(_with(ONE, 5.0))),
    ("TS:0.5", _output(_full(0.4)), _output(_full(0.5))),
    ("TR:-1..1:0.9", _output(_with(ONE, *[2.0] * 101)), _output(_with(ONE, *[2.0] * 100))),
    ("TR:range=5..,above=10%", _output(_with(ONE, *[5.0] * 101)), _output(_with(ONE, *[5.0] * 100))),
    ("AR", _before("Tanh", NINE_WIDE), _before("Tanh", _with(NINE_WIDE, -8.7))),
    ("AR", _before("nn.Sigmoid", _full(-17.0)), _before("Sigmoid", _with(_full(-17.0), 16.0))),
    ("AR", _before("ReLU", _full(-1.0)), _before("ReLU", _with(_full(-1.0), 0.1))),
    ("AR:inside=1%", _before("tanh", _with(NINE_WIDE, *[1.0] * 9)), _before("tanh", _with(NINE_WIDE, *[1.0] * 10))),
    ("TU", _norms(1, 1, 1, 1, 1, 1.51), _norms(1, 1, 1, 1, 1.51, 1.5)),
    ("TU:over=9", _norms(1, 1, 1, 1, 1, INF), _norms(1, 1, 1, 1, 1, 9.9)),
]


@pytest.mark.parametrize(("text", "meets", "misses"), CASES, ids=[f"{at}-{one[0]}" for at, one in enumerate(CASES)])
def test_a_watchpoint_is_met_and_just_not_met(text: str, meets: Show, misses: Show) -> None:
    (hit,) = meets(Points([parse(text)]))
    assert hit.id == text[: len(hit.id)]
    assert hit.name == SPECS[hit.id].name and hit.limit
    assert misses(Points([parse(text)])) == []
    told = finding(hit)
    assert (told.code, told.conclusion) == (f"wp.{hit.id.lower()}", Conclusion.FOUND)
    for lang in ("en", "zh"):
        shape = told.to_json(lang)
        for said in (shape["message"], shape["advice"]):
            assert said and "{" not in said and "points." not in said
        assert hit.where in shape["message"]


def test_every_id_has_a_case() -> None:
    assert {text.partition(":")[0] for text, _, _ in CASES} == set(IDS)
    assert " ".join(IDS) == "WI WO WL WS WNC WCL WCS GV GL GE TO TZ TL TS TR AR TU"


@given(
    hnp.arrays(
        st.sampled_from([np.float16, np.float32, np.float64, ml_dtypes.bfloat16]),
        hnp.array_shapes(max_side=5),
        elements=st.floats(-100, 100, width=16),
    )
)
def test_ordinary_numbers_never_meet_the_points_on_non_finite_ones(array: Any) -> None:
    points = Points([parse(one) for one in ("WO", "GE", "TO")])
    hits = points.initial([("w", array)]) + points.weights(0, [("w", array)])
    hits += points.gradient(0, "w", array) + points.output(0, "m", "Linear", array)
    assert hits == []


def test_a_point_at_a_place_is_told_once_and_then_counted() -> None:
    points = Points([parse("GE"), parse("GV")])
    bad = _with(ONE, NAN)
    told = [points.gradient(step, name, bad) for step in range(4) for name in ("a", "b")]
    assert [[(hit.id, hit.where, hit.step) for hit in one] for one in told] == [
        [("GE", "a", 0)],
        [("GE", "b", 0)],
        *[[]] * 6,
    ]
    assert [(one.hit.where, one.count, one.last) for one in points.told] == [("a", 4, 3), ("b", 4, 3)]


def test_hits_come_in_the_order_of_execution_and_of_the_points() -> None:
    points = Points([parse("TL:max=1"), parse("TO"), parse("WO")])
    bad = _with(_full(2.0), NAN)
    hits = points.output(0, "b", "Linear", bad) + points.output(0, "a", "Linear", bad)
    hits += points.weights(0, [("z", bad), ("y", bad)])
    assert [(hit.id, hit.where) for hit in hits] == [
        *[("TL", "b"), ("TO", "b"), ("TL", "a"), ("TO", "a")],
        *[("WO", "z"), ("WO", "y")],
    ]


def test_one_step_without_a_change_is_rounding_and_starts_the_count_again() -> None:
    points = Points([parse("WNC")])
    show = [ONE, ONE, ONE, _full(2.0), _full(2.0), _full(2.0), _full(2.0)]
    hits = [points.weights(step, [("w", one)]) for step, one in enumerate(show)]
    assert [len(one) for one in hits] == [0, 0, 0, 0, 0, 0, 1]
    assert hits[-1][0].measured == {"change": 0.0, "steps": 3}


def test_a_bias_that_moves_by_rounding_only_is_told_by_the_debugger_s_tolerances_and_not_by_the_recommended() -> None:
    biases = [np.full(8, 1e-10 * step, np.float32) for step in range(9)]
    for points, told in (([parse("WNC")], ["WNC"]), (recommended([]), [])):
        watched = Points(points)
        hits = watched.initial([("conv.bias", biases[0])])
        for step, bias in enumerate(biases[1:]):
            hits += watched.weights(step, [("conv.bias", bias)])
        assert [hit.id for hit in hits] == told


def test_a_weight_that_begins_at_zero_may_grow_before_its_change_is_judged() -> None:
    points = Points(recommended([]))
    bias = np.zeros(8, np.float32)
    assert points.initial([("bias", bias)]) == []
    for step in range(30):
        # As Adam moves it: by its learning rate, each step.
        bias += np.float32(0.01)
        assert points.weights(step, [("bias", bias)]) == []
    bias *= 3
    assert [hit.id for hit in points.weights(30, [("bias", bias)])] == ["WCL"]


def test_weights_are_copied_only_where_their_change_is_asked_for() -> None:
    big = np.ones((100, 100), np.float32)
    without, kept = Points([parse("WO"), parse("GE")]), Points([parse("WCL"), parse("WNC")])
    for points in (without, kept):
        for step in range(5):
            points.weights(step, [("w", big + step)])
    assert without.bytes() == 0
    assert big.nbytes <= kept.bytes() < 2 * big.nbytes


def test_an_array_that_is_written_over_in_place_is_compared_with_what_it_was() -> None:
    weight = np.ones((4, 4), np.float32)
    points = Points([parse("WCL")])
    points.initial([("w", weight)])
    weight *= 2
    (hit,) = points.weights(0, [("w", weight)])
    assert hit.measured["ratio"] == pytest.approx(1.0)


def test_layouts_shapes_and_dtypes_may_change() -> None:
    points = Points([parse("WCL"), parse("WNC:steps=1"), parse("TR:0..1:0.5"), parse("TO")])
    tall = np.arange(12, dtype=np.float64).reshape(3, 4)
    points.weights(0, [("w", tall)])
    assert [hit.id for hit in points.weights(1, [("w", np.asfortranarray(tall))])] == ["WNC"]
    assert points.weights(2, [("w", tall.T)]) == []
    assert [hit.id for hit in points.output(0, "m", "", tall.T[::2] + 5)] == ["TR"]
    assert points.output(0, "n", "", np.array([], np.float32)) == []
    assert points.output(0, "n", "", np.zeros(3, np.int64)) == []
    assert points.output(0, "n", "", np.zeros(3, ml_dtypes.float8_e5m2)) == []
    half = np.full(100, 3.0, ml_dtypes.bfloat16)
    assert [hit.id for hit in points.output(0, "o", "", half)] == ["TR"]


def test_needs_name_what_has_to_be_shown_and_nothing_else() -> None:
    assert needs([parse("GE"), parse("AR")]) == {Need.GRADIENTS, Need.ACTIVATIONS}
    points = Points([parse("GE")])
    bad = _with(ONE, NAN)
    assert points.output(0, "m", "", bad) == points.weights(0, [("w", bad)]) == points.initial([("w", bad)]) == []
    assert points.before_activation(0, "m", "Tanh", NINE_WIDE) == points.norm(0, "n", INF) == []
    assert Points([]).needs == set()


def test_the_recommended_ones_ask_activations_only_where_there_are_some() -> None:
    assert [str(one) for one in recommended(["GELU", "ReLU6"])] == [
        *("WI:zeros=1,dims=2", "WO", "WNC:rtol=0,atol=0,steps=3", "WCL:ratio=1,settle=10"),
        *("GV:absmean=1e-09,steps=3", "GE", "TO"),
    ]
    assert [one.id for one in recommended(["Linear", "ReLU"])][-1] == "AR"


def test_the_page_s_table_is_that_of_the_code() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "watchpoints.md").read_text("utf-8")
    rows = [[part.strip() for part in line.strip("|").split(" | ")] for line in page.splitlines() if line[:4] != "|---"]
    table = {row[0]: row for row in rows if row[0] in SPECS}
    assert list(table) == list(IDS)
    for id, spec in SPECS.items():
        limits = [
            f"`{one.name}`" if one.default is None or one.unit is Unit.RANGE else f"`{one.name}={one.default:g}`"
            for one in spec.limits
        ]
        assert table[id][1] == spec.name
        assert table[id][4] == (", ".join(limits) or "–")
