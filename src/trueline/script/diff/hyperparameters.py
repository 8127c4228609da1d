"""A port beside its benchmark of the other framework: the few numbers that both write down in the same sense."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.script.diff.contexts import Contexts
from trueline.script.diff.difference import Difference, Kind, Node
from trueline.script.diff.naming import word_of
from trueline.script.diff.nodes import place_of
from trueline.script.diff.shapes import arguments_of, plain
from trueline.script.diff.subject import Subject
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import UNCALLED, Event
from trueline.script.values import Const, Value

_Number = tuple[Event, Const]


def hyperparameters(script: Script, bench: Script) -> list[tuple[Subject, Difference]]:
    """Hyper-parameters that are not the benchmark's, where either script has exactly one of the kind."""
    return [
        (subject, Difference(Kind.SETTING, _thing(mine), _thing(theirs), (mine[0], theirs[0]), name))
        for subject, name, numbers in (
            (Subject.LEARNING_RATE, "learning_rate", _rates),
            (Subject.EPOCHS, "epochs", _epochs),
            (Subject.BATCH_SIZE, "batch_size", _batches),
        )
        for mine, theirs in [[_only(list(numbers(Contexts(side)))) for side in (script, bench)]]
        if mine is not None and theirs is not None and mine[1].value != theirs[1].value
    ]


def _only(numbers: list[_Number]) -> _Number | None:
    return numbers[0] if numbers and len({constant.value for _, constant in numbers}) == 1 else None


def _thing(number: _Number) -> Node:
    event, value = number
    return Node(str(value.value), value, event, place_of(value) or event.place)


def _called(side: Contexts) -> Iterator[Event]:
    for event in side.script.trace.events:
        if not any(scope.kind == UNCALLED for scope in event.scopes):
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
