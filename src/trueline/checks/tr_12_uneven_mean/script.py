"""What a script says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from trueline.apitable.functions import functions_of, names_of
from trueline.apitable.traits import Trait
from trueline.checks.engine.check import check, found, none, suspect, undecided
from trueline.model.finding import Certainty, Finding
from trueline.model.location import Location
from trueline.script.analysis.passes import evaluation_passes
from trueline.script.analysis.reachable import all_values
from trueline.script.analysis.sizes import batch_size_of, drops_last, samples_of
from trueline.script.loops import training_loops
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import UNCALLED, Scope, iterated
from trueline.script.values import (
    Attribute,
    Const,
    Derived,
    Either,
    Item,
    Made,
    Seq,
    Unknown,
    Value,
    ancestry,
    constant,
    options,
)
from trueline.script.walking import walk_each

_MEANS: Final = functions_of(Trait.MEAN)
# ``max(count, 1)`` only guards a divisor.
_OPENED: Final = functions_of(Trait.SAME, Trait.VIEW, Trait.ROUNDS) | {"max", "abs"}
_EQUAL: Final = names_of(Trait.EQUALS)
_SCORES: Final = tuple(functions_of(Trait.ACCURACY))
_GATHERED: Final = functions_of(Trait.WRAPS) | {"stack"}


@dataclass(frozen=True, slots=True)
class _Averaged:
    """What is averaged over batches: which way, at which line, and the values of the batches."""

    said: str
    place: Location
    values: list[Value]
    # What a loss says is a mean of its batch is told only where batches are known to differ.
    loose: bool = False
    # The number of samples that is counted for each batch, where it is written down.
    counted: int | None = None


@check("tr.12", "a metric is averaged over batches of different size")
def from_script(script: Script) -> Iterator[Finding]:
    """Accuracies of batches that are averaged without weights, and counts over batches times their size."""
    evaluated = [evaluation for evaluation in evaluation_passes(script.trace) if evaluation.scope is not None]
    trained = [(loop.scope, loop.loader) for loop in training_loops(script.trace)]
    if not evaluated and not trained:
        yield undecided("tr_12.no_evaluation")
        return
    passes = [(evaluation.scope, evaluation.data) for evaluation in evaluated]
    reported: set[str] = set()
    whole: list[str] = []
    for value in all_values(script.trace):
        mean = _averaged(value)
        if mean is None:
            continue
        data = _data_of(mean.values, passes if mean.counted is None else [*passes, *trained])
        if data is None or str(mean.place) in reported:
            continue
        size = constant(batch_size_of(data))
        if mean.counted is not None and mean.counted != size:
            continue
        even = _are_even(data)
        if even:
            whole.append(str(mean.place))
            continue
        reported.add(str(mean.place))
        batch = size if size is not None else "?"
        if even is None and mean.loose:
            yield suspect(f"tr_12.{mean.said}", mean.place, batch=batch)
        else:
            yield found(f"tr_12.{mean.said}", mean.place, certainty=Certainty.LIKELY, batch=batch)
    if whole and not reported:
        yield none("tr_12.even", evidence=whole)
    elif not reported:
        yield none("tr_12.not_averaged", evidence=[str(scope.place) for scope, _ in (*passes, *trained) if scope])


def _averaged(value: Value) -> _Averaged | None:
    """What is averaged over batches here."""
    if isinstance(value, Derived) and value.op == "Div" and len(value.of) == 2 and value.place is not None:
        above, below = value.of
        if _is_batches_times_size(below):
            counted = [part for part in _added(above) if _is_count(part)]
            return _Averaged("times_size", value.place, counted) if counted else None
        full = _full_batches(below)
        if full is not None:
            counted = [part for part in _added(above) if _is_count(part) or _is_weighted(part)]
            return _Averaged("full_batches", full[1], counted, counted=full[0]) if counted else None
        return _of_batches(_added(above), value.place) if _is_number_of_batches(below) else None
    if isinstance(value, Made) and value.event.method in _MEANS:
        given = value.event.arg(0) if value.event.receiver is None else value.event.receiver
        return _of_batches(_collected(given), value.event.place)
    return None


def _of_batches(values: Sequence[Value], place: Location) -> _Averaged | None:
    means = [value for value in values if _is_batch_accuracy(value)]
    if means:
        return _Averaged("mean_of_means", place, means)
    means = [value for value in values if _is_batch_mean(value)]
    return _Averaged("mean_of_means", place, means, loose=True) if means else None


def _is_batch_mean(value: Value) -> bool:
    """A loss, or another figure, that is the mean over the samples of one batch."""
    inner = _opened(value)
    if not isinstance(inner, Made):
        return False
    event = inner.event
    if event.role is Role.LOSS:
        layer = event.receiver.event if isinstance(event.receiver, Made) and event.method == "__call__" else event
        return bool(constant(layer.arg(None, "reduction"), "mean") == "mean")
    if event.method not in _MEANS:
        return False
    along = event.arg(0 if event.receiver is not None else 1, "dim", "axis")
    return along is None or constant(along, -1) in (None, 0)


def _full_batches(value: Value) -> tuple[int, Location] | None:
    """``seen += 32`` in a loop: every batch is counted as a full one."""
    for other_value in options(_bounded(value)):
        if isinstance(other_value, Derived) and other_value.op == "Add" and other_value.place is not None:
            numbers = [constant(part) for part in other_value.of]
            counted = [at for at in numbers if isinstance(at, int) and not isinstance(at, bool) and at > 1]
            if len(counted) == 1 and any(isinstance(part, Unknown) for part in other_value.of):
                return counted[0], other_value.place
    return None


def _is_weighted(value: Value) -> bool:
    """``loss.item() * len(y)``."""
    return isinstance(value, Derived) and value.op == "Mult" and any(_is_size_of_batch(part) for part in value.of)


def _opened(value: Value | None) -> Value | None:
    """Without what only changes its type."""
    for _ in range(20):
        if isinstance(value, Made) and value.event.method in _OPENED:
            event = value.event
            value = event.receiver if event.receiver is not None else event.arg(0)
        elif isinstance(value, Derived) and value.op == "Mult" and any(isinstance(part, Const) for part in value.of):
            value = next((part for part in value.of if not isinstance(part, Const)), None)
        else:
            break
    return value


@walk_each()
def _added(value: Value | None) -> Iterator[Value]:
    """What is added up in a sum that a loop makes, or in ``sum(…)``."""
    value = _opened(value)
    if isinstance(value, Derived) and value.op == "Add":
        for part in value.of:
            yield from _added(part) or (part,)
    elif isinstance(value, Made) and value.event.method in functions_of(Trait.SUM):
        yield from _collected(value.event.arg(0) or value.event.receiver)
    elif isinstance(value, Either):
        for other_value in value.options:
            yield from _added(other_value)


def _collected(value: Value | None) -> list[Value]:
    """The values of a list that a loop fills."""
    value = _opened(value)
    if isinstance(value, Made) and value.event.method in _GATHERED:
        value = _opened(value.event.arg(0))
    if isinstance(value, Seq) and value.open:
        return list(value.items)
    return []


def _is_batch_accuracy(value: Value) -> bool:
    """The share of correct predictions in one batch."""
    inner = _opened(value)
    if isinstance(inner, Made):
        if inner.event.method in _MEANS:
            of = inner.event.receiver if inner.event.receiver is not None else inner.event.arg(0)
            return _compares(of)
        return inner.name.endswith(_SCORES) and bool(inner.event.args)
    if isinstance(inner, Derived) and inner.op == "Div" and len(inner.of) == 2:
        return _is_count(inner.of[0]) and _is_size_of_batch(inner.of[1])
    return False


def _is_count(value: Value) -> bool:
    """How many predictions of a batch are correct."""
    inner = _opened(value)
    if not isinstance(inner, Made) or inner.event.method not in ("sum", "count_nonzero"):
        return False
    of = inner.event.receiver if inner.event.receiver is not None else inner.event.arg(0)
    return _compares(of)


def _compares(value: Value | None) -> bool:
    at = _opened(value)
    if isinstance(at, Derived):
        return at.op == "Eq"
    return isinstance(at, Made) and at.event.method in _EQUAL


def _is_size_of_batch(value: Value) -> bool:
    inner = _opened(value)
    if isinstance(inner, Made) and inner.event.method in functions_of(Trait.SIZE):
        return True
    return isinstance(inner, Item) and isinstance(inner.of, Attribute) and inner.of.name == "shape"


def _is_number_of_batches(value: Value) -> bool:
    """``len(loader)``, ``get_dataset_size()``, a counter, the length of the list."""
    for other_value in options(_bounded(value)):
        if isinstance(other_value, Made) and other_value.event.method == "get_dataset_size":
            return True
        if isinstance(other_value, Made) and other_value.name == "builtins.len":
            of = other_value.event.arg(0)
            return (isinstance(of, Seq) and of.open) or _is_loader(of)
        if (
            isinstance(other_value, Derived)
            and other_value.op == "Add"
            and any(constant(part) == 1 for part in other_value.of)
        ):
            return True
        if (
            isinstance(other_value, Derived)
            and other_value.op == "Add"
            and "index" in {getattr(part, "why", "") for part in other_value.of}
        ):
            return True
    return False


def _bounded(value: Value) -> Value:
    """``max(n, 1)`` is n."""
    if isinstance(value, Made) and value.name == "builtins.max":
        return next((part for part in value.event.args if not isinstance(part, Const)), value)
    return value


def _is_batches_times_size(value: Value) -> bool:
    if not isinstance(value, Derived) or value.op != "Mult" or len(value.of) != 2:
        return False
    return any(
        _is_number_of_batches(part) and _is_fixed(other_value) for part, other_value in (value.of, value.of[::-1])
    )


def _is_fixed(value: Value) -> bool:
    return isinstance(value, Const) or (isinstance(value, Attribute) and value.name == "batch_size")


def _is_loader(value: Value | None) -> bool:
    for part in options(iterated(value)):
        if isinstance(part, Made) and part.name.startswith(("torch.utils.data.DataLoader", "mindspore.dataset.")):
            return True
    return False


def _data_of(values: list[Value], passes: Sequence[tuple[Scope | None, Value | None]]) -> Value | None:
    """What the loop goes through in which the values of the batches are made."""
    for value in values:
        for part in ancestry(value, most=60):
            if not isinstance(part, Made) or any(scope.kind == UNCALLED for scope in part.event.scopes):
                continue
            for scope, data in passes:
                if scope is not None and part.event.inside(scope):
                    return data
    return None


def _are_even(data: Value) -> bool | None:
    """Whether all batches have the same size; None where that cannot be told, as it mostly is not so."""
    if drops_last(data) is not False:
        return True
    size, samples = constant(batch_size_of(data)), samples_of(data)
    if size == 1:
        return True
    if not isinstance(size, int) or samples is None or size <= 0:
        return None
    return samples % size == 0 or samples <= size
