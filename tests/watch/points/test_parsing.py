"""Watchpoints as users write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueline.locale import use_language
from trueline.model.trouble import BadUsage
from trueline.watch.points import IDS, parse


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("WCL", {"ratio": 0.1, "settle": 10}),
        ("wcl:1", {"ratio": 1, "settle": 10}),
        (" WCL : ratio = 1e-1 ", {"ratio": 0.1, "settle": 10}),
        ("WNC:1e-4:0:5", {"rtol": 1e-4, "atol": 0, "steps": 5}),
        ("WL:max=100,absmean=5", {"max": 100, "absmean": 5}),
        ("WL:5,max=100", {"max": 100, "absmean": 5}),
        ("TR:-1..1:0.9", {"low": -1, "high": 1, "below": 0.9}),
        ("TR:-1...5,above=90%", {"low": -1, "high": 0.5, "above": 0.9}),
        ("TR:range=0..,below=0.5", {"low": 0, "high": float("inf"), "below": 0.5}),
        ("GE", {}),
    ],
)
def test_limits_stand_in_their_places_or_under_their_names(text: str, limits: dict[str, float]) -> None:
    assert dict(parse(text).limits) == pytest.approx(limits)


@pytest.mark.parametrize(
    "text",
    [
        *("", "XX", "WCL1", "WCL:", "WCL:x", "WCL:-1", "WCL:nan", "WCL:inf", "WCL:1e999", "WCL:1:2:3", "WCL:limit=1"),
        *("WCL:1,ratio=2", "WCL:50%", "GE:1", "WL", "WL:max=", "WL:max=1,max=2", "TR", "TR:-1..1", "TR:0.9"),
        *("TR:1..-1:0.9", "TR:-1..1:1.5", "TR:-1..1:0.9,range=0..1", "WNC:steps=1.5", "WCL:0.1\nWO", "TZ:101%"),
        "WCL:" + "9" * 5000,
    ],
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_cannot_be_meant_is_said_in_one_line_with_all_ids(text: str, lang: str) -> None:
    use_language(lang)
    try:
        with pytest.raises(BadUsage) as caught:
            parse(text)
        said = str(caught.value)
    finally:
        use_language(None)
    assert "\n" not in said and len(said) < 700
    assert " ".join(IDS) in said


@given(st.text(max_size=30) | st.from_regex(r"[A-Z]{2,3}:[-0-9.:,=a-z%]{0,12}"))
def test_any_text_is_a_watchpoint_or_bad_usage(text: str) -> None:
    try:
        assert parse(str(parse(text))).id in IDS
    except BadUsage as trouble:
        assert "\n" not in str(trouble)


@pytest.mark.parametrize("text", ["WCL:1", "TR:-1..1:0.9", "WL:max=100,absmean=5", "GE", "AR"])
def test_a_watchpoint_is_written_as_it_is_read(text: str) -> None:
    assert parse(str(parse(text))) == parse(text)
