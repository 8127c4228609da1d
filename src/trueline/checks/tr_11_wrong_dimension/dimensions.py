"""Dimensions in a script: reductions over the first one that what is done with them later contradicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from trueline.apitable.functions import functions_of, names_of
from trueline.apitable.traits import Trait
from trueline.script.analysis.reachable import all_values
from trueline.script.trace import Event, Trace
from trueline.script.values import Const, Derived, Item, Made, Seq, Value, ancestry, constant

SOFTMAX: Final = names_of(Trait.SOFTMAX, Trait.LOG_SOFTMAX)
_LOSSES: Final = names_of(Trait.CLASS_LOSS) & names_of(Trait.TAKES_LOGARITHMS)
_PRODUCTS: Final = names_of(Trait.MATMUL)
_TURNS: Final = functions_of(Trait.SWAPS_AXES)
_GATHERS: Final = names_of(Trait.GATHERS)
# What leaves the first dimension where it is, and the others in their order.
_PLAIN: Final = names_of(Trait.SAME, Trait.ELEMENTWISE, Trait.DROPOUT, Trait.MASKS, Trait.SELECTS) | {"squeeze"}


def name_of(event: Event) -> str:
    """The last word of what was called, also of a layer."""
    return event.name.removesuffix(".__call__").rpartition(".")[2]


def is_method(event: Event) -> bool:
    """Whether it is called on what it works on."""
    return event.receiver is not None and event.method != "__call__"


def source_of(event: Event) -> Value | None:
    """What it works on."""
    return event.receiver if is_method(event) else event.arg(0, "input", "x", "a")


def contradicted(trace: Trace, softmaxes: Sequence[Event]) -> Iterator[tuple[str, Event]]:
    """Of these softmaxes over the first dimension, those whose later use says that classes or keys stand elsewhere."""
    wanted = {id(event): event for event in softmaxes}
    if not wanted:
        return
    for event in trace.events:
        name = name_of(event)
        if name in _LOSSES:
            # Classes are the second dimension of what it takes.
            yield from _told("softmax", event.arg(0, "input", "logits", "inputs"), wanted)
        elif name in _GATHERS:
            dimension = event.arg(0 if is_method(event) else 1, "dim", "axis")
            if constant(dimension) in (1, -1) and not isinstance(constant(dimension), bool):
                yield from _told("softmax", source_of(event), wanted)
        elif name in _PRODUCTS:
            yield from _weighing(source_of(event), wanted)
    for value in all_values(trace):
        if isinstance(value, Item) and _is_column(value.index):
            yield from _told("softmax", value.of, wanted)
        elif isinstance(value, Derived) and value.op == "MatMult":
            yield from _weighing(value.of[0], wanted)


def _told(said: str, value: Value | None, wanted: dict[int, Event]) -> Iterator[tuple[str, Event]]:
    made = _before(value)
    if isinstance(made, Made) and id(made.event) in wanted:
        yield said, made.event


def _before(value: Value | None) -> Value | None:
    for _ in range(10):
        if isinstance(value, Made) and name_of(value.event) in _PLAIN:
            value = source_of(value.event)
        else:
            break
    return value


def _is_column(index: Value | None) -> bool:
    """``[:, 1]``: the probability of one class."""
    if not isinstance(index, Seq) or len(index.items) != 2:
        return False
    rows, column = index.items
    whole = isinstance(rows, Derived) and rows.op == "Slice" and all(constant(value, 0) is None for value in rows.of)
    return whole and isinstance(column, Const) and isinstance(column.value, int)


def _weighing(value: Value | None, wanted: dict[int, Event]) -> Iterator[tuple[str, Event]]:
    """Weights of attention that a product sums over the last dimension, of scores with two dimensions or more."""
    value = _before(value)
    raised = False
    if isinstance(value, Made) and value.event.method == "unsqueeze":
        raised = constant(value.event.arg(0, "dim")) in (1, -2)
        value = _before(value.event.receiver)
    if not isinstance(value, Made) or id(value.event) not in wanted:
        return
    if raised or _is_of_turned_product(source_of(value.event)):
        yield "attention", value.event


def _is_of_turned_product(scores: Value | None) -> bool:
    """Whether scores are queries times keys whose last two dimensions were turned around."""
    for _ in range(20):
        scores = _before(scores)
        if isinstance(scores, Derived) and scores.op in ("Add", "Sub", "Mult", "Div"):
            scores = scores.of[1] if isinstance(scores.of[0], Const) else scores.of[0]
        else:
            break
    if isinstance(scores, Derived) and scores.op == "MatMult":
        right: Value | None = scores.of[1]
    elif isinstance(scores, Made) and name_of(scores.event) in _PRODUCTS:
        right = scores.event.arg(0 if is_method(scores.event) else 1, "other", "mat2")
    else:
        return False
    if not isinstance(right, Made) or right.event.method not in _TURNS:
        return False
    given = right.event.args[-2:]
    places = sorted(axis for axis in (constant(at) for at in given) if isinstance(axis, int))
    return len(places) == 2 and (places == [-2, -1] or places[0] >= 1)


def of_gradients(trace: Trace) -> Iterator[Event]:
    """Norms over the first dimension of the gradients for a batch: one for each feature, not for each sample."""
    for event in trace.events:
        if name_of(event) not in functions_of(Trait.VECTOR_NORM) or _dimension_of_norm(event) != 0:
            continue
        value = source_of(event)
        while isinstance(value, Made) and value.event.method in functions_of(Trait.RESHAPES):
            if constant(value.event.arg(0)) in (-1, 0, None) and value.event.method != "view":
                break
            value = value.event.receiver
        if isinstance(value, Item) and isinstance(value.of, Made) and value.of.name == "torch.autograd.grad":
            yield event


def _dimension_of_norm(event: Event) -> object:
    return constant(event.arg(1 if is_method(event) else 2, "dim", "axis"))


def of_divergences(trace: Trace) -> Iterator[Event]:
    """Divergences from a normal distribution that are summed over the samples and averaged over the latents."""
    for event in trace.events:
        inner = source_of(event)
        if name_of(event) != "mean" or event.args[0 if is_method(event) else 1 :] or event.kwargs:
            continue
        if not isinstance(inner, Made) or name_of(inner.event) != "sum":
            continue
        dimension = constant(inner.event.arg(0 if is_method(inner.event) else 1, "dim", "axis"))
        if dimension == 0 and not isinstance(dimension, bool) and _is_divergence(source_of(inner.event)):
            yield inner.event


def _is_divergence(value: Value | None) -> bool:
    """``1 + logvar - mu ** 2 - logvar.exp()``, in any order."""
    terms: list[Value] = []
    waiting = [value] if value is not None else []
    while waiting and len(terms) < 12:
        other_value = waiting.pop()
        if isinstance(other_value, Derived) and other_value.op in ("Add", "Sub", "Mult", "USub"):
            waiting.extend(other_value.of)
        else:
            terms.append(other_value)
    grown = [part for part in terms if isinstance(part, Made) and part.event.method == "exp"]
    squares = [
        part
        for part in terms
        if (isinstance(part, Made) and part.event.method in functions_of(Trait.POWER))
        or (isinstance(part, Derived) and part.op == "Pow")
    ]
    logs = {id(part) for other_value in grown for part in ancestry(source_of(other_value.event), most=6)}
    return bool(grown and squares) and any(id(part) in logs for part in terms)
