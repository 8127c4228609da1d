"""Statistics in a script: data that is normalised with its own mean, or with another set's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trueline.apitable.functions import classes_of, functions_of
from trueline.apitable.traits import Trait
from trueline.script.analysis.passes import keys_of
from trueline.script.trace import Event
from trueline.script.values import Attribute, Const, Derived, Instance, Made, Seq, Value, ancestry, constant, options
from trueline.script.walking import walk

_MEANS: Final = functions_of(Trait.MEAN, Trait.MEDIAN, Trait.SMALLEST)
_SCALERS: Final = tuple(classes_of(Trait.SCALER))
_SAME: Final = functions_of(Trait.SAME, Trait.VIEW)


@dataclass(frozen=True, slots=True)
class Normalised:
    """Data from which a statistic is subtracted, and what that statistic is of; ``own`` where it is the data's own."""

    data: Value
    statistic: Event
    own: bool


def reached(value: Value | None) -> list[Value]:
    """What data was made from, also through what datasets of the project keep."""
    values: list[Value] = []
    seen: set[int] = set()
    waiting = [value] if value is not None else []
    while waiting and len(values) < 3000:
        for part in ancestry(waiting.pop(0), most=1500):
            if id(part) in seen:
                continue
            seen.add(id(part))
            values.append(part)
            if isinstance(part, Instance):
                waiting.extend(held for held in part.attributes.values() if not isinstance(held, Const))
    return values


def normalised(value: Value | None) -> Iterator[Normalised]:
    """Where data is normalised by a statistic that is computed over samples."""
    for part in reached(value):
        if isinstance(part, Derived) and part.op == "Sub" and len(part.of) == 2:
            data, subtracted = part.of
            statistic = _statistic(subtracted)
            if statistic is not None and _over_samples(statistic):
                of = statistic.receiver if statistic.receiver is not None else statistic.arg(0)
                if of is not None:
                    yield Normalised(data, statistic, keys_of(of) == keys_of(data))
        elif isinstance(part, Made) and part.name.rpartition(".")[0].endswith(_SCALERS):
            yield from _scaled(part)


def _scaled(value: Made) -> Iterator[Normalised]:
    """Scalers of scikit-learn: ``fit_transform`` takes the statistics of what it is given."""
    event = value.event
    data = event.arg(0, "X")
    if event.method == "fit_transform" and data is not None:
        yield Normalised(data, event, True)
    elif event.method == "transform" and data is not None:
        yield Normalised(data, event, False)


@walk(None)
def _statistic(value: Value) -> Event | None:
    for part in options(value):
        if isinstance(part, Attribute) and part.name == "values":
            part = part.of
        if isinstance(part, Made) and part.event.method in _SAME:
            inner = part.event.receiver
            return _statistic(inner) if inner is not None else None
        if (
            isinstance(part, Made)
            and part.event.method in _MEANS
            and part.name.startswith(("torch.", "numpy.", "?.", "mindspore.", "pandas."))
        ):
            return part.event
    return None


def _over_samples(event: Event) -> bool:
    """Over the first dimension, or all: along others each sample is normalised by itself."""
    at = event.arg(0 if event.receiver is not None else 1, "axis", "dim")
    if at is None:
        return True
    axes = [constant(value, "?") for value in at.items] if isinstance(at, Seq) else [constant(at, "?")]
    return axes == [None] or 0 in axes
