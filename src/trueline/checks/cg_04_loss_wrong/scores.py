"""What kind of numbers a value in a script holds: logits, probabilities, their logarithms, chosen classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final

from trueline.apitable.functions import names_of
from trueline.apitable.traits import Trait
from trueline.model.location import Location
from trueline.script.trace import Event, item_of
from trueline.script.values import Attribute, Derived, Either, Item, Made, Seq, Value, constant, options
from trueline.script.walking import walk_each

# What changes the shape, type, place or range of numbers but not what they mean.
_SHAPING: Final = names_of(
    *(Trait.SAME, Trait.VIEW, Trait.EXPANDS, Trait.PICKS, Trait.JOINS, Trait.CLAMPS, Trait.KEEPS_MEANING)
)


class Kind(StrEnum):
    """What numbers mean."""

    LOGITS = "logits"
    PROBABILITIES = "probabilities"
    SIGMOID = "sigmoid"
    LOGARITHMS = "logarithms"
    LOG_SIGMOID = "log_sigmoid"
    CHOICE = "choice"
    # Neither: labels, sums, what is not known.
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Score:
    """What a value is, and the event that made it so."""

    kind: Kind
    event: Event | None = None

    @property
    def place(self) -> Location | None:
        """The line of the operation; of a layer in a chain, the line that puts it there."""
        if self.event is None:
            return None
        layer = self.event.receiver
        if isinstance(layer, Made) and self.event.in_chain:
            return layer.event.place
        return self.event.place


def scores_of(value: Value | None) -> list[Score]:
    """What a value may be, shapes aside."""
    return list(_scores(value))


@walk_each(Score(Kind.OTHER))
def _scores(value: Value | None) -> Iterator[Score]:
    match value:
        case Either():
            for part in options(value):
                yield from _scores(part)
        case Item():
            if _picks_indices(value):
                yield Score(Kind.CHOICE, value.of.event if isinstance(value.of, Made) else None)
            else:
                yield from _scores(value.of)
        case Attribute() if value.name == "indices":
            made = item_of(value)
            yield Score(Kind.CHOICE, made.event if isinstance(made, Made) else None)
        case Attribute() if value.name in ("T", "mT"):
            yield from _scores(value.of)
        case Derived() if value.op in ("Gt", "GtE", "Lt", "LtE"):
            yield Score(Kind.OTHER)
        case Derived() if value.op in ("Div", "Mult") and constant(value.of[-1]) is not None:
            # Divided by a temperature; probabilities times a number are none any more.
            for score in _scores(value.of[0]):
                yield score if score.kind is Kind.LOGITS else Score(Kind.OTHER)
        case Made():
            yield from _of_made(value)
        case Seq() if len(value.items) == 1:
            yield from _scores(value.items[0])
        case _:
            yield Score(Kind.OTHER)


def _of_made(value: Made) -> Iterator[Score]:
    event = value.event
    name = _last_name(event)
    if name in ("log", "Log"):
        for score in _scores(_input_of(event)):
            if score.kind in (Kind.PROBABILITIES, Kind.SIGMOID):
                kind = Kind.LOGARITHMS if score.kind is Kind.PROBABILITIES else Kind.LOG_SIGMOID
                yield Score(kind, event)
            else:
                yield Score(Kind.OTHER)
        return
    if name in _kinds():
        yield Score(_kinds()[name], event)
        return
    if _is_shaping(value):
        yield from _scores(_input_of(event))
        return
    yield Score(Kind.OTHER, event)


def _last_name(event: Event) -> str:
    return event.name.removesuffix(".__call__").rpartition(".")[2]


@cache
def _kinds() -> Mapping[str, Kind]:
    kinds = {
        Kind.PROBABILITIES: names_of(Trait.SOFTMAX),
        Kind.SIGMOID: names_of(Trait.SIGMOID),
        Kind.LOGARITHMS: names_of(Trait.LOG_SOFTMAX),
        Kind.LOG_SIGMOID: names_of(Trait.LOG_SIGMOID),
        Kind.CHOICE: names_of(Trait.PLACES) | {"round"},
        Kind.LOGITS: names_of(Trait.LINEAR, Trait.BILINEAR, Trait.CONV, Trait.MATMUL),
    }
    return {name: kind for kind, names in kinds.items() for name in names}


def _is_shaping(value: Made) -> bool:
    return _last_name(value.event) in _SHAPING


def _input_of(event: Event) -> Value | None:
    """What a function, method or layer works on."""
    if event.receiver is not None and event.method != "__call__":
        return event.receiver
    return event.arg(0, "input", "x", "logits", "tensors")


def _picks_indices(value: Item) -> bool:
    """``logits.max(1)[1]``: the places of the largest."""
    return isinstance(value.of, Made) and _last_name(value.of.event) in ("max", "topk") and constant(value.index) == 1
