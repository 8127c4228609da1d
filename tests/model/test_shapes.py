"""The JSON shapes of what a run keeps."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from trueline.model.curve import Curve
from trueline.model.distance import Distance
from trueline.model.events import EventName
from trueline.model.location import Location
from trueline.model.run import CallInfo, ModuleInfo, ParamInfo, RunInfo
from trueline.model.summary import Summary


def _summary(**changes: Any) -> Summary:
    values = {
        "count": 4,
        "nan": 1,
        "pos_inf": 1,
        "neg_inf": 0,
        "zeros": 1,
        "minimum": 0.0,
        "maximum": 2.0,
        "mean": 1.0,
        "abs_mean": 1.0,
        "std": 1.0,
        "l2": 2.0,
        "fingerprint": 255,
    }
    return Summary(**{**values, **changes})


def _distance(**changes: Any) -> Distance:
    numbers = ("max_abs", "mean_abs", "max_ref", "relative_max", "relative_l2", "cosine", "within")
    values: dict[str, Any] = {
        **dict.fromkeys(numbers, 0.0),
        "count": 4,
        "equal": 3,
        "worst_index": (0, 1),
        "non_finite_a": 1,
        "non_finite_b": 1,
        "same_non_finite": 1,
        "other_non_finite": 0,
        "shape_a": (2, 2),
        "shape_b": (2, 2),
        "dtype_a": "float32",
        "dtype_b": "float16",
    }
    return Distance(**{**values, **changes})


def _json(value: Any) -> Any:
    return json.loads(json.dumps(value, allow_nan=False))


def test_a_summary_is_valid_json_with_its_fingerprint_as_text() -> None:
    found = _json(_summary(l2=math.inf).to_json())
    assert found["fingerprint"] == "00000000000000ff"
    assert found["l2"] == "inf"
    assert list(found) == [
        *("count", "nan", "pos_inf", "neg_inf", "zeros", "min", "max", "mean", "abs_mean", "std", "l2", "fingerprint")
    ]


def test_a_summary_counts_what_is_not_finite_and_shares_of_nothing_are_zero() -> None:
    assert _summary().non_finite == 2
    assert _summary().zero_share == 0.25
    assert _summary(count=0, zeros=0).zero_share == 0


@pytest.mark.parametrize(
    ("changes", "identical"),
    [
        ({}, True),
        ({"equal": 2}, False),
        ({"same_non_finite": 0, "other_non_finite": 1}, False),
        ({"comparable": False}, False),
        ({"count": 0, "equal": 0, "same_non_finite": 0}, True),
    ],
)
def test_identical_means_every_element_and_never_other_shapes(changes: dict[str, Any], identical: bool) -> None:
    assert _distance(**changes).identical is identical


def test_a_distance_is_valid_json_with_both_sides() -> None:
    found = _json(_distance(relative_max=math.inf, cosine=math.nan).to_json())
    assert found["relative_max"] == "inf"
    assert found["cosine"] == "nan"
    assert found["shape"] == [[2, 2], [2, 2]]
    assert found["dtype"] == ["float32", "float16"]
    assert found["worst_index"] == [0, 1]


def test_what_a_run_keeps_is_valid_json() -> None:
    line = Location("train.py", 3)
    assert _json(ParamInfo("w", (2, 3), "float32", True, initial=_summary(mean=math.nan)).to_json())["shape"] == [2, 3]
    module = ModuleInfo("a", "Linear", {"bias": True}, {"x": 1}, line)
    assert _json(module.to_json())["built_at"] == {"file": "train.py", "line": 3}
    assert _json(CallInfo("a", 1, "train", line, [0]).to_json())["feeds_from"] == [0]


def test_a_run_s_circumstances_are_valid_json_whatever_was_seen() -> None:
    run = RunInfo("r1", hyper={"clip": math.inf}, flags={"dtype": object}, seeds={"torch": 2**63})
    found = _json(run.to_json())
    assert found["format"] == 1
    assert found["hyper"]["clip"] == "inf"
    assert found["seeds"]["torch"] == 2**63
    assert set(found) == set(RunInfo.__slots__)


def test_a_module_with_odd_attributes_is_valid_json() -> None:
    found = _json(ModuleInfo("a", "Pad", {"value": math.inf}, {"dtype": object, "size": (1, math.nan)}).to_json())
    assert found["attributes"] == {"value": "inf"}
    assert found["arguments"]["size"] == [1, "nan"]


def test_event_names_are_their_own_text() -> None:
    assert all(one.value == one.name.lower() for one in EventName)


def test_a_curve_is_as_long_as_its_steps() -> None:
    assert len(Curve("loss", [0, 2], [1.0, math.nan])) == 2
