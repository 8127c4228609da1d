"""Batches of all kinds, taken apart and put together again without a line of their own code."""

from __future__ import annotations

import collections
import dataclasses
import json
import sys
import tempfile
from typing import Any, NamedTuple

import numpy as np
import pytest
from adapters.numpy_toy import values

from trueline.adapters.saving import Malformed, Saving, Unfit, rebuilt


@dataclasses.dataclass
class Doubled:
    x: Any
    count: int = dataclasses.field(init=False, default=0)

    def __post_init__(self) -> None:
        self.x, self.count, self.extra = self.x * 2, len(self.x), "more"


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    x: Any


class Pair(NamedTuple):
    first: Any
    second: Any


class Sum(Pair):
    __slots__ = ()

    def __new__(cls, one: Any) -> Sum:
        return super().__new__(cls, one, one + one)


class Own:
    def __init__(self, required: Any) -> None:
        self.x = required


class Words(collections.UserDict[str, Any]):
    pass


def _again(value: Any) -> Any:
    saving = Saving(values)
    tree = saving.tree(value, "batch")
    assert not saving.lost
    return rebuilt(json.loads(json.dumps(tree, allow_nan=False)), saving.arrays, np.array)


def test_no_constructor_runs_a_second_time() -> None:
    made = _again([Doubled(np.ones(3)), Frozen(4), Sum(2), Own(5), Words(a=1)])
    assert (made[0].x.tolist(), made[0].count, made[0].extra) == ([2.0] * 3, 3, "more")
    assert [type(one) for one in made] == [Doubled, Frozen, Sum, Own, Words]
    assert (made[1].x, made[2], made[3].x, made[4]["a"]) == (4, (2, 4), 5, 1)


def test_dictionaries_of_other_classes_keep_class_order_and_default() -> None:
    lists = collections.defaultdict(list, {("a", 1): [None], 3: [2]})
    again = _again(lists)
    again["new"].append(1)
    assert again == {**lists, "new": [1]}
    assert list(_again(collections.OrderedDict(b=1, a=2))) == ["b", "a"]
    assert type(_again(collections.Counter("aab"))) is collections.Counter


@pytest.mark.parametrize(
    "value", [{1, 2}, frozenset("a"), 1 + 2j, b"\x00", 1 << 70, -float("inf"), (None, True), {"k": 2.5}]
)
def test_plain_values_come_back_with_their_type(value: Any) -> None:
    again = _again(value)
    assert (again, type(again)) == (value, type(value))


def test_arrays_of_words_and_the_order_of_axes_come_back() -> None:
    words = np.array([["a", "bc"]])
    assert _again(words).tolist() == words.tolist()
    last = np.arange(24.0).reshape(2, 3, 4).transpose(0, 2, 1)
    again = _again(last)
    assert (again.tolist(), again.strides) == (last.tolist(), last.strides)


@pytest.mark.parametrize("value", [print, object(), sys, open, range(3)])
def test_what_is_no_data_is_lost_by_name(value: Any) -> None:
    saving = Saving(values)
    saving.tree({"held": value}, "batch")
    assert saving.lost == [f"batch/held ({type(value).__name__})"]


@pytest.mark.parametrize(
    "name",
    [
        "antigravity:geohash",
        "os:_Environ",
        "subprocess:Popen",
        f"{tempfile.__name__}:_TemporaryFileCloser",
        "builtins:object",
        "nowhere:Thing",
        "pathlib:Path",
        f"{__name__}:Own.__init__.__globals__",
    ],
)
@pytest.mark.parametrize("kind", ["object", "mapping", "named"])
def test_only_classes_that_are_no_more_than_their_attributes_are_filled(name: str, kind: str) -> None:
    with pytest.raises(Unfit):
        rebuilt({kind: [["name", "/nowhere"]], "class": name}, {}, np.array)
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize(
    "tree",
    [
        {},
        {"tensor": "missing"},
        {"tuple": 3},
        {"dict": [1]},
        {"bytes": 1},
        {"dict": [[{"set": [[]]}, 1]]},
        {"words": ["a"], "shape": [7], "as": "array"},
        {"what": 1},
    ],
)
def test_trees_that_nothing_was_saved_as_are_told_from_others(tree: Any) -> None:
    with pytest.raises(Malformed):
        rebuilt(tree, {}, np.array)
