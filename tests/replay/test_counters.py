"""Numbers that a program counts with, found in its variables and objects, and set again."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from trueline.record.keeping.counters import Counters, move_enumerations, restore
from trueline.record.keeping.loaders import LoaderNumbers
from trueline.record.keeping.scopes import is_users, trains


class Meter:
    def __init__(self) -> None:
        self.best: float | None = None


class Loader:
    def __iter__(self) -> Iterator[int]:
        return LoaderIterator()


class LoaderIterator:
    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        return 0


def _counted(kept: Any = None) -> Any:
    """Counts for two steps, or goes on with what was kept."""
    step, seen, meters, options = 0, None, [Meter()], SimpleNamespace(inner={"rate": 0.5})
    counters = Counters()
    counters.changed()
    if kept is None:
        step, seen, meters[0].best, options.inner["rate"] = 2, 7, 0.25, 0.1
        return counters.changed()["_counted"]
    restore({"_counted": kept})
    return step, seen, meters[0].best, options.inner["rate"]


def test_what_was_not_known_at_first_is_set_too() -> None:
    kept = _counted()
    assert kept == {"step": 2, "seen": 7, "meters.0.best": 0.25, "options.inner.rate": 0.1}
    assert _counted(kept) == (2, 7, 0.25, 0.1)


def test_what_is_no_number_is_left_alone() -> None:
    words, meter = "words", Meter()
    name = "test_what_is_no_number_is_left_alone"
    restore({name: {"words": 5, "meter": 6, "meter.worst": 0.5, "nothing.best": 1}})
    assert (words, type(meter), vars(meter)) == ("words", Meter, {"best": None, "worst": 0.5})


def test_only_some_kinds_of_numbers_are_set_where_that_is_asked_for() -> None:
    step, total = 1, 1.5
    restore({"test_only_some_kinds_of_numbers_are_set_where_that_is_asked_for": {"step": 5, "total": 9.0}}, (int,))
    assert (step, total) == (5, 1.5)


@pytest.mark.parametrize("wrap", [iter, lambda one: zip(one, one, strict=False), lambda one: map(str, one)])
def test_enumerations_of_a_loader_are_moved(wrap: Any) -> None:
    moved, left = enumerate(wrap(Loader())), enumerate("abc")
    move_enumerations((LoaderIterator,), 4)
    assert (next(moved)[0], next(left)[0]) == (4, 0)


def test_what_asks_a_loader_in_turn_is_recognised_while_it_does() -> None:
    class Around:
        def __iter__(self) -> Iterator[int]:
            return self

        def __next__(self) -> int:
            move_enumerations((), 3)
            return 0

    def generated() -> Iterator[int]:
        yield from Around()

    for made in (Around(), generated()):
        counted = enumerate(made)
        next(counted)
        assert next(counted)[0] > 3


def test_loaders_alike_are_told_apart_while_both_are_there() -> None:
    numbers = LoaderNumbers()
    first, second = Loader(), Loader()
    assert len({numbers.of(first, 2), numbers.of(second, 2), numbers.of(second, 3)}) == 3
    before = numbers.of(first, 2)
    del first
    # A loader that is built anew for each epoch has the same number each time.
    assert numbers.of(Loader(), 2) == before


def test_whose_code_it_is() -> None:
    installed, standard = sysconfig.get_path("purelib"), sysconfig.get_path("stdlib")
    assert is_users("/usr/src/app/train.py")
    assert not is_users(f"{standard}/random.py")
    assert not is_users(f"{installed}/trainers/loop.py")
    assert trains(f"{installed}/trainers/loop.py")
    assert trains(f"{installed}/mindspore/train/model.py")
    assert not trains(f"{installed}/mindspore/nn/cell.py")
    assert not trains(f"{installed}/torch/optim/adam.py")
