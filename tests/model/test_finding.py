"""Findings and results: the shapes that the contract fixes."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from trueline.model.finding import Certainty, Conclusion, Finding, roots
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.result import SCHEMA, Exit, Result
from trueline.model.trouble import BadFile, BadScript, BadUsage, Missing, Trouble

FIELDS = [
    "code",
    "conclusion",
    "certainty",
    "because",
    "message_id",
    "params",
    "message",
    "advice",
    "where",
    "measured",
    "limit",
    "evidence",
    "error",
]


def _finding(**changes: Any) -> Finding:
    return Finding(
        **{
            "code": "dp.03",
            "conclusion": Conclusion.FOUND,
            "message": message("trouble.bad_file", path="x", reason="y"),
            **changes,
        }
    )


def test_a_finding_has_exactly_the_contract_s_fields() -> None:
    found = _finding().to_json("en")
    assert list(found) == FIELDS
    assert found["where"] == dict.fromkeys(("file", "line", "module", "step", "rank", "side", "sample"))
    assert found["message_id"] == "trouble.bad_file"
    assert found["message"] == "x: y"
    assert found["params"] == {"path": "x", "reason": "y"}
    assert (found["because"], found["advice"], found["error"], found["evidence"]) == (None, None, None, [])


def test_the_words_of_conclusion_and_certainty_are_the_contract_s() -> None:
    assert [one.value for one in Conclusion] == ["found", "suspect", "none", "open", "na"]
    assert [one.value for one in Certainty] == ["certain", "likely", "possible"]


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", ["Problem found", "Suspected", "No problem", "Not decided", "N/A"]),
        ("zh", ["发现问题", "疑似", "无问题", "待确认", "不涉及"]),
    ],
)
def test_every_conclusion_has_a_word_of_its_own(lang: str, words: list[str]) -> None:
    assert [conclusion.word.text(lang) for conclusion in Conclusion] == words


def test_a_finding_of_non_finite_numbers_is_valid_json() -> None:
    found = _finding(
        measured={"loss": math.nan, "worst": [math.inf]},
        limit=-math.inf,
        evidence=(1.0, math.nan),
        where=Location(file="train.py", line=3, step=0),
        extra={"values": {"bench": math.inf, "port": 1}},
    ).to_json("en")
    text = json.dumps(found, allow_nan=False)
    again = json.loads(text)
    assert again["measured"] == {"loss": "nan", "worst": ["inf"]}
    assert again["limit"] == "-inf"
    assert again["evidence"] == [1.0, "nan"]
    assert again["where"]["line"] == 3
    assert again["values"] == {"bench": "inf", "port": 1}


def test_a_verb_s_extra_fields_cannot_overwrite_the_contract_s() -> None:
    with pytest.raises(ValueError, match="code"):
        _finding(extra={"code": "other"}).to_json()


def test_only_found_problems_that_follow_from_nothing_are_roots() -> None:
    root = _finding(code="wi.01")
    found = [
        _finding(code="a", conclusion=Conclusion.SUSPECT),
        root,
        _finding(code="b", because="wi.01"),
        _finding(code="c", conclusion=Conclusion.NONE),
        _finding(code="d", conclusion=Conclusion.OPEN),
        _finding(code="e", conclusion=Conclusion.NA),
    ]
    assert roots(found) == [root]
    assert roots([]) == []


def test_a_result_has_the_contract_s_shape_and_the_verb_s_fields() -> None:
    result = Result(
        "compare",
        Message("conclusion.found"),
        Exit.PROBLEM,
        [_finding()],
        {"verdict": "differs", "floor": math.nan, "first": None},
    )
    found = json.loads(result.dump("en"))
    assert list(found) == ["schema", "verb", "conclusion", "exit", "findings", "verdict", "floor", "first"]
    assert found["schema"] == SCHEMA == "trueline/1"
    assert found["conclusion"] == "Problem found"
    assert found["exit"] == 1
    assert found["floor"] == "nan"
    assert list(found["findings"][0]) == FIELDS


def test_a_result_is_shown_in_either_language_from_the_same_data() -> None:
    result = Result("check", Message("conclusion.none"))
    assert result.to_json("en")["conclusion"] == "No problem"
    assert result.to_json("zh")["conclusion"] == "无问题"
    assert result.to_json("en")["exit"] == 0


def test_a_verb_s_fields_cannot_overwrite_the_common_ones() -> None:
    with pytest.raises(ValueError, match="exit"):
        Result("check", Message("conclusion.none"), fields={"exit": 5}).to_json()


def test_exit_codes_are_the_contract_s() -> None:
    assert {one.name: int(one) for one in Exit} == {"FINE": 0, "PROBLEM": 1, "BAD_INPUT": 2, "INTERNAL": 3}


@pytest.mark.parametrize("kind", [BadUsage, BadScript, Missing, Trouble])
def test_trouble_is_one_clear_line_in_the_chosen_language(kind: type[Trouble]) -> None:
    trouble = kind("trouble.bad_file", path="a.npy", reason="cut off")
    assert trouble.message.text("en") == "a.npy: cut off"
    assert trouble.message.text("zh") == "a.npy：cut off"
    assert "\n" not in str(trouble)


def test_trouble_with_a_file_names_the_file_and_the_reason() -> None:
    trouble = BadFile("a.npy", "the header is cut off")
    assert isinstance(trouble, Trouble)
    assert trouble.message.text("en") == "a.npy: the header is cut off"
    assert (trouble.path, trouble.reason) == ("a.npy", "the header is cut off")


def test_trouble_crosses_a_process_pool() -> None:
    import pickle

    for trouble in (BadUsage("trouble.bad_file", path="a", reason="b"), BadFile("a.npy", "cut off")):
        again = pickle.loads(pickle.dumps(trouble))
        assert type(again) is type(trouble)
        assert again.message == trouble.message
