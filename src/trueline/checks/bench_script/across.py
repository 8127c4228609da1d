"""A port beside its benchmark of the other framework: the few numbers that both write down in the same sense."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.script.diff.contexts import Contexts
from trueline.script.diff.difference import Difference, Kind, Thing
from trueline.script.diff.naming import word_of
from trueline.script.diff.shapes import arguments_of, plain
from trueline.script.diff.things import place_of
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import UNCALLED, Event
from trueline.script.values import Const, Value

_Number = tuple[Event, Const]
# So many times more, or less, is another training.
_FAR: Final = {"hp.01": 3.0, "hp.02": 2.0, "hp.03": 2.0}
_NAMES: Final = {"hp.01": "learning_rate", "hp.02": "epochs", "hp.03": "batch_size"}


def numbers_apart(script: Script, bench: Script) -> Iterator[tuple[str, Difference]]:
    """Items whose number is far from the benchmark's, where either has exactly one."""
    sides = Contexts(script), Contexts(bench)
    for code, numbers in (("hp.01", _rates), ("hp.02", _epochs), ("hp.03", _batches)):
        own, other = (_only(list(numbers(side))) for side in sides)
        if own is None or other is None:
            continue
        mine, theirs = float(own[1].value), float(other[1].value)
        times = mine / theirs if theirs else 1.0
        # A small batch is no fault.
        if times >= _FAR[code] or (code != "hp.03" and times <= 1 / _FAR[code]):
            yield code, Difference(Kind.SETTING, _thing(own), _thing(other), (own[0], other[0]), _NAMES[code])


def _only(found: list[_Number]) -> _Number | None:
    return found[0] if found and len({one.value for _, one in found}) == 1 else None


def _thing(number: _Number) -> Thing:
    event, value = number
    return Thing(str(value.value), value, event, place_of(value) or event.place)


def _called(side: Contexts) -> Iterator[Event]:
    for event in side.script.trace.events:
        if not any(one.kind == UNCALLED for one in event.scopes):
            yield event


def _number(event: Event, value: Value | None) -> Iterator[_Number]:
    value = plain(value)
    if isinstance(value, Const) and isinstance(value.value, int | float) and not isinstance(value.value, bool):
        yield event, value


def _rates(side: Contexts) -> Iterator[_Number]:
    for event in _called(side):
        if event.role is Role.BUILD_OPTIMIZER:
            yield from _number(event, event.arg(1, "lr", "learning_rate"))


def _epochs(side: Contexts) -> Iterator[_Number]:
    for event in _called(side):
        if side.is_epoch_range(event):
            yield from _number(event, arguments_of(event).get("count"))


def _batches(side: Contexts) -> Iterator[_Number]:
    for event in _called(side):
        if id(event) not in side.train_loaders:
            continue
        if event.name == "torch.utils.data.DataLoader":
            yield from _number(event, event.arg(1, "batch_size"))
        elif word_of(event.name) == "batch":
            yield from _number(event, event.arg(0, "batch_size"))
