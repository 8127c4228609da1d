"""Passes over data in a script: which loops train, which evaluate, and what each goes through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trueline.apitable.functions import classes_of, functions_of
from trueline.apitable.traits import Trait
from trueline.script.analysis.randomness import is_drawn_by_seed
from trueline.script.loops import training_loops
from trueline.script.roles import Role
from trueline.script.trace import LOOP, UNCALLED, Event, Scope, Trace, iterated
from trueline.script.values import Attribute, Const, Derived, Instance, Item, Made, Seq, Table, Value, options
from trueline.script.walking import walk


@dataclass(frozen=True, slots=True)
class Pass:
    """A going through data with a network: by a loop, or at once where ``scope`` is None."""

    scope: Scope | None
    data: Value
    events: Sequence[Event]
    forward: Event


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the samples of something."""

    whole: object
    chosen: object


def shares(keys: frozenset[object], other_keys: frozenset[object]) -> bool:
    """Whether some of the one are the others' data, or a part of them."""
    for own_key in keys:
        key: object = own_key
        while True:
            if key in other_keys:
                return True
            if not isinstance(key, Part):
                break
            if any(isinstance(other_key, Part) and _overlap(key, other_key) for other_key in other_keys):
                return True
            key = key.whole
    return False


def _overlap(part: Part, other_part: Part) -> bool:
    """Whether two cuts of the same thing have rows in common, by the numbers that are written down."""
    if part.whole != other_part.whole:
        return False
    first, second = _bounds(part.chosen), _bounds(other_part.chosen)
    if first is None or second is None:
        return False
    return max(first[0], second[0]) < min(first[1], second[1])


def _bounds(chosen: object) -> tuple[float, float] | None:
    """``'None:64:None'`` as numbers; None where steps or counts from the end are in it."""
    parts = chosen.split(":") if isinstance(chosen, str) else []
    if len(parts) != 3 or parts[2] != "None" or any(part.startswith("-") for part in parts):
        return None
    try:
        first = 0.0 if parts[0] == "None" else float(parts[0])
        last = float("inf") if parts[1] == "None" else float(parts[1])
    except ValueError:
        return None
    return first, last


def training_data(trace: Trace) -> list[Value]:
    """What the training loops go through."""
    values: list[Value] = []
    for loop in training_loops(trace):
        for value in options(loop.loader):
            if not any(value is other_value for other_value in values):
                values.append(value)
    return values


def evaluation_passes(trace: Trace) -> list[Pass]:
    """Where a network is called and nothing is trained, each loop once; not what the script never calls itself."""
    busy = {id(scope) for event in trace.of_role(Role.BACKWARD) for scope in event.scopes if scope.kind == LOOP}
    # The innermost loops that go back: what stands there is part of training.
    training = {id(event.loops()[-1]) for event in trace.of_role(Role.BACKWARD) if event.loops()}
    passes: dict[int, Pass] = {}
    inside: set[int] = set()
    for event in trace.of_role(Role.FORWARD):
        if any(scope.kind == UNCALLED for scope in event.scopes) or _is_within_network(event):
            continue
        if event.loops() and id(event.loops()[-1]) in training:
            continue
        scope = next(
            (scope for scope in event.loops() if id(scope) not in busy and is_data(iterated(scope.value))), None
        )
        key = id(scope) if scope is not None else id(event)
        if key in passes or key in inside:
            continue
        value = iterated(scope.value) if scope is not None else event.arg(0)
        if value is not None:
            events = list(trace.within(scope)) if scope is not None else [event]
            passes[key] = Pass(scope, value, events, event)
    return list(passes.values())


def _is_within_network(event: Event) -> bool:
    """A layer that is called by the network around it."""
    return any(
        scope.kind == "call" and scope.name.rpartition(".")[2] in ("forward", "construct", "__call__")
        for scope in event.scopes
    )


def is_data(value: Value | None) -> bool:
    """Whether a loop over it goes through batches: a loader, a pipeline, a dataset of the project."""
    for part in options(value):
        if isinstance(part, Made) and part.name.startswith(_ROOMS):
            return True
        if isinstance(part, Instance) and any(
            name in cls.attributes for cls in part.cls.lineage() for name in ("__iter__", "__getitem__")
        ):
            return True
    return False


_ROOMS = ("torch.utils.data.", "mindspore.dataset.", "torchvision.datasets.")
# What leaves the samples and their order as they are.
_SAME = functions_of(Trait.SAME, Trait.ADDS_AXIS, Trait.LISTS)
_ARITHMETIC = ("Add", "Sub", "Mult", "Div")
_WHOLE = classes_of(Trait.SAMPLER_WHOLE)
# Of more indices only all together are known.
MAX_CHOSEN_PARTS = 16
_IDENTITIES = frozenset(
    ("root", "path", "dataset_dir", "dataset_files", "train", "split", "usage", "image_set", "name")
)


@walk(frozenset())
def keys_of(value: Value | None) -> frozenset[object]:
    """Names of the data that a loader goes through: two loaders over the same data share one."""
    return frozenset(_keys(value)) if value is not None else frozenset()


def _keys(value: Value) -> Iterator[object]:
    if isinstance(value, Made):
        yield from _keys_of_made(value)
    elif isinstance(value, Item):
        yield _key_of_item(value)
    elif isinstance(value, Attribute):
        yield from (_short("attribute", key, value.name) for key in keys_of(value.of))
    elif isinstance(value, Derived) and value.op in _ARITHMETIC:
        yield _short(
            value.op, *(keys_of(part) if not isinstance(part, Const) else repr(part.value) for part in value.of)
        )
    elif (parts := _several(value)) is not None:
        for part in parts:
            yield from keys_of(part)
    elif isinstance(value, Instance) and value.event is not None and is_drawn_by_seed(value):
        given = (*value.event.args, *(value.event.kwargs[name] for name in sorted(value.event.kwargs)))
        yield (id(value.cls.node), *value.event.kwargs, *(_text(part) for part in given))
    else:
        yield id(value)


def _short(*made_of: object) -> object:
    """A name of a fixed size: what is computed from itself, line by line, would have one that doubles each time."""
    return "of", hash(made_of)


def _several(value: Value) -> Sequence[Value] | None:
    return value.parts() if isinstance(value, Seq | Table) and not value.open else None


def _keys_of_made(value: Made) -> Iterator[object]:
    event = value.event
    last = event.method
    if value.name == "torch.utils.data.DataLoader":
        sampler = event.arg(3, "sampler") or event.arg(4, "batch_sampler")
        base = keys_of(event.arg(0, "dataset"))
        if sampler is not None and not _is_plain(sampler):
            yield from (Part(key, id(sampler)) for key in base)
        else:
            yield from base
    elif value.name == "torch.utils.data.TensorDataset":
        for other_value in event.args:
            yield from keys_of(other_value)
    elif value.name == "torch.utils.data.Subset":
        chosen = keys_of(event.arg(1, "indices"))
        parts = [_short(part) for part in chosen] if len(chosen) <= MAX_CHOSEN_PARTS else [_short(chosen)]
        yield from (Part(key, part) for key in keys_of(event.arg(0, "dataset")) for part in parts)
    elif value.name in ("mindspore.dataset.NumpySlicesDataset", "mindspore.dataset.GeneratorDataset"):
        first = event.arg(0, "data", "source")
        if event.arg(None, "sampler") is not None or event.arg(None, "num_shards") is not None:
            yield id(value)
        elif first is not None:
            yield from keys_of(first)
    elif value.name.startswith("mindspore.dataset.") and event.receiver is not None:
        if last in functions_of(Trait.TAKES_PART):
            yield from (Part(key, f"{last} {_text(event.arg(0))}") for key in keys_of(event.receiver))
        else:
            yield from keys_of(event.receiver)
    elif value.name.startswith(("torchvision.datasets.", "mindspore.dataset.")) and value.is_object:
        yield _named(value)
    elif last in _SAME:
        inner = event.receiver if event.receiver is not None else event.arg(0)
        if inner is not None:
            yield from keys_of(inner)
    else:
        yield id(value.event)


def _named(value: Made) -> object:
    """A dataset of a library by what says which it is; itself where that is not written down."""
    event = value.event
    if event.open or event.arg(None, "sampler") is not None or event.arg(None, "num_samples") is not None:
        return id(value)
    given = [_text(value) for value in event.args[:2]]
    named = [f"{name}={_text(value)}" for name, value in sorted(event.kwargs.items()) if name in _IDENTITIES]
    words = [*given, *named]
    if not words or any(word is None or word.endswith("None") for word in words):
        return id(value)
    return (value.name, *words)


def _key_of_item(value: Item) -> object:
    index = _text(value.index)
    inner = keys_of(value.of)
    if len(inner) == 1:
        key = next(iter(inner))
        chosen: object = index if index is not None else _short(keys_of(value.index))
        return Part(key, chosen) if index is None or ":" in index else (key, index)
    return id(value)


@walk(None)
def _text(value: Value | None) -> str | None:
    """A constant, or a slice of constants, as text; None where it is not one."""
    if isinstance(value, Const):
        return repr(value.value)
    if isinstance(value, Derived) and value.op == "Slice":
        parts = [_text(part) for part in value.of]
        return None if any(part is None for part in parts) else ":".join(str(part) for part in parts)
    return None


def _is_plain(sampler: Value) -> bool:
    """Samplers that go through all of the data."""
    if isinstance(sampler, Const) and sampler.value is None:
        return True
    return isinstance(sampler, Made) and sampler.name.rpartition(".")[2] in _WHOLE
