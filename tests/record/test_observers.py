"""The list of those who are told of a training."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from trueline.adapters.nouns import Handed
from trueline.adapters.observer import Observer
from trueline.record.observers import EVENTS, Observers, SilentObserver


class Recording:
    def __init__(self) -> None:
        self.on = True
        self.lock = threading.RLock()

    def turn_off(self, error: Exception) -> None:
        self.on = False


class Noting(SilentObserver):
    """Writes down what it hears, and turns the recording off as the recording's own observer does."""

    def __init__(self, name: str, notes: list[str], recording: Recording) -> None:
        self.name, self.notes, self.recording = name, notes, recording
        self.handed: Handed | None = None
        self.calls = False

    @property
    def wants_calls(self) -> bool:
        return self.calls

    def instead(self, loader: object) -> Handed | None:
        return self.handed

    def backward_began(self) -> None:
        self.notes.append(self.name)
        if self.name == "broken":
            raise RuntimeError("planted")

    def turn_off(self, error: Exception) -> None:
        self.notes.append(f"{self.name} off: {error}")
        self.recording.turn_off(error)


def _observers(*names: str) -> tuple[Observers, list[Noting], list[str]]:
    recording, notes = Recording(), list[str]()
    observers, noting = Observers(recording), [Noting(name, notes, recording) for name in names]
    for one in noting:
        observers.put_last(one)
    observers.bind()
    return observers, noting, notes


def test_every_event_of_the_protocol_is_told() -> None:
    asked = {name for name, one in vars(Observer).items() if callable(one) and not name.startswith("_")}
    assert set(EVENTS) == asked - {"instead", "turn_off"}
    for name, one in vars(Observer).items():
        if isinstance(one, property):
            assert getattr(SilentObserver(), name) is False


def test_events_are_told_in_the_order_of_the_list() -> None:
    observers, noting, notes = _observers("recording", "watch")
    ahead = Noting("ahead", notes, noting[0].recording)
    observers.put_first(ahead)
    observers.bind()
    observers.backward_began()
    assert notes == ["ahead", "recording", "watch"]


def test_what_fails_turns_all_off_and_never_reaches_the_training() -> None:
    observers, noting, notes = _observers("first", "broken", "last")
    observers.backward_began()
    observers.backward_began()
    assert notes == ["first", "broken", "first off: planted", "broken off: planted", "last off: planted"]
    assert not noting[0].recording.on


def test_what_ends_the_script_on_purpose_passes() -> None:
    class Ending(SilentObserver):
        def backward_began(self) -> None:
            raise KeyboardInterrupt

    observers, _, notes = _observers("recording")
    observers.put_last(Ending())
    observers.bind()
    with pytest.raises(KeyboardInterrupt):
        observers.backward_began()
    assert notes == ["recording"]


def test_an_event_that_one_observer_wants_is_bound_to_it_directly() -> None:
    observers, (noting,), _ = _observers("recording")
    told: Any = observers.backward_began
    assert told.__wrapped__ == noting.backward_began
    assert "scale" not in vars(observers)


def test_the_first_that_hands_out_a_batch_is_asked_no_further_and_any_may_want_calls() -> None:
    observers, (first, second), _ = _observers("first", "second")
    assert observers.instead(object()) is None
    assert not observers.wants_calls
    second.handed, second.calls = Handed("later"), True
    assert observers.instead(object()) == Handed("later")
    assert observers.wants_calls
    first.handed = Handed("sooner")
    assert observers.instead(object()) == Handed("sooner")
