"""What is known of an object is known of that object alone, whatever its class thinks of hashes and equality."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import trueline
from trueline.adapters.identity import ByIdentity, reference


class Hostile:
    """Neither hash nor truth, and equal to nothing without an error."""

    def __hash__(self) -> int:
        raise AttributeError("not built yet")

    def __eq__(self, other: object) -> bool:
        raise TypeError("compared")

    def __bool__(self) -> bool:
        raise TypeError("asked")

    def __len__(self) -> int:
        raise TypeError("counted")


class Slotted:
    """Cannot be referred to weakly."""

    __slots__ = ()


def test_hash_equality_and_truth_of_an_object_are_never_asked() -> None:
    known: ByIdentity[str] = ByIdentity()
    first, second = Hostile(), Hostile()
    known.set(first, "first")
    known.set(second, "second")
    known.set(first, "again")
    assert (known.get(first), known.get(second)) == ("again", "second")
    assert first in known
    assert [one is other for one, other in zip(known, (first, second), strict=True)] == [True, True]
    assert (known.pop(first), known.pop(first), known.get(first)) == ("again", None, None)


def test_what_is_equal_is_not_the_same() -> None:
    known: ByIdentity[int] = ByIdentity()
    first, second = {1}.union, frozenset({1})
    known.set(second, 1)
    assert known.get(frozenset({1}) | {2}) is None
    assert known.get(first) is None


def test_an_object_that_is_gone_is_forgotten_and_its_address_is_free() -> None:
    known: ByIdentity[int] = ByIdentity()
    for turn in range(50):
        thing = Hostile()
        assert known.get(thing) is None
        known.set(thing, turn)
        del thing
    gc.collect()
    assert list(known) == []
    assert known._known == {}


def test_an_object_without_weak_references_keeps_its_address() -> None:
    known: ByIdentity[int] = ByIdentity()
    things: list[Any] = [Slotted(), Slotted()]
    for place, thing in enumerate(things):
        known.set(thing, place)
    assert [known.get(one) for one in things] == [0, 1]
    assert reference(things[0])() is things[0]


def test_nothing_else_refers_weakly_to_what_users_make() -> None:
    """A weak dictionary or set asks its keys for hash and equality, and so does a weak reference."""
    sources = Path(trueline.__file__).parent
    files = [file for room in ("adapters", "record") for file in (sources / room).rglob("*.py")]
    found = [file.name for file in files if "weakref" in file.read_text(encoding="utf-8")]
    assert found == ["identity.py"]
