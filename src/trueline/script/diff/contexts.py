"""What values of a script are for: samples that it trains on or evaluates with, inputs or labels, the loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from trueline.script.analysis.forwards import forward_around, values_trained
from trueline.script.loops import training_loops
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import CALL, LOOP, UNCALLED, Event, Scope, iterated
from trueline.script.values import Class, Function, Instance, Item, Made, Seq, Table, Value, ancestry, options
from trueline.script.walking import walk_each

# Values that samples are made from: bounds the graph behind a loader.
MAX_VISITED_VALUES: Final = 3000
_GIVING: Final = ("__getitem__", "__iter__", "__next__")
_SETS: Final = (".TensorDataset", ".NumpySlicesDataset")


class Contexts:
    """One script's values and events by what they are for; computed when first asked for."""

    def __init__(self, script: Script) -> None:
        self.script = script

    @cached_property
    def loops(self) -> list[Scope]:
        """The scopes of loops that train, and those around them."""
        return [scope for loop in training_loops(self.script.trace) for scope in (loop.scope, *loop.around)]

    @cached_property
    def inner_loops(self) -> list[Scope]:
        """The innermost loops that train."""
        return [loop.scope for loop in training_loops(self.script.trace)]

    @cached_property
    def trained(self) -> set[int]:
        """Values that backward goes through."""
        return values_trained(self.script.trace)

    @cached_property
    def _loaders(self) -> tuple[list[Value], list[Value]]:
        """The loaders that training goes through, and the others."""
        own: list[Value] = []
        for loop in training_loops(self.script.trace):
            for scope in (loop.scope, *loop.around):
                own.extend(value for value in ancestry(iterated(scope.value), most=60) if _is_loader(value))
        for event in self.script.trace.events:
            if (
                event.role is None
                and event.method in ("train", "fit", "build")
                and event.name.startswith("mindspore.train.")
            ):
                given = event.arg(1, "train_dataset")
                own.extend(value for value in ancestry(given, most=60) if _is_loader(value))
        known = {id(value) for value in own}
        rest = [
            event.result
            for event in self.script.trace.events
            if event.result is not None and _is_loader(event.result) and id(event.result) not in known
        ]
        return own, rest

    @cached_property
    def train_loaders(self) -> set[int]:
        """Events that build the loaders of training, and the pipeline's steps."""
        return {id(value.event) for value in self._loaders[0] if isinstance(value, Made)}

    @cached_property
    def train_values(self) -> set[int]:
        """The loaders of training, and the pipelines that they are made of."""
        return {id(value) for value in self._loaders[0]}

    def training_parts(self) -> list[Value]:
        """What is picked, drawn or loaded for training."""
        near = ancestry(
            *self._loaders[0], *(part for value in self._loaders[0] for part in self._parts(value)), most=400
        )
        return [value for value in near if isinstance(value, Item | Made)]

    def _values(self, loaders: Sequence[Value], *, labels: bool | None) -> set[int]:
        parts: list[Value] = []
        for loader in loaders:
            held = list(self._parts(loader))
            if labels is None:
                parts += held
            elif len(held) > 1:
                parts += held[1:] if labels else held[:1]
        whole = loaders if labels is None else ()
        return {id(value) for value in ancestry(*parts, *whole, most=MAX_VISITED_VALUES)}

    @cached_property
    def of_training(self) -> set[int]:
        """Values that training's samples are made from."""
        return self._values(self._loaders[0], labels=None)

    @cached_property
    def of_evaluation(self) -> set[int]:
        """Values that the samples of other loaders are made from."""
        return self._values(self._loaders[1], labels=None)

    @cached_property
    def inputs(self) -> set[int]:
        """Values that the first part of samples is made from."""
        return self._values([*self._loaders[0], *self._loaders[1]], labels=False)

    @cached_property
    def labels(self) -> set[int]:
        """Values that the other parts of samples are made from."""
        return self._values([*self._loaders[0], *self._loaders[1]], labels=True)

    @cached_property
    def label_parts(self) -> set[int]:
        """What is handed out as labels itself, and not only made use of."""
        held = [list(self._parts(value)) for value in (*self._loaders[0], *self._loaders[1])]
        return {id(part) for parts in held if len(parts) > 1 for part in parts[1:]}

    @walk_each()
    def _parts(self, loader: Value) -> Iterator[Value]:
        """What samples have in them, part by part."""
        for value in options(loader):
            if isinstance(value, Seq):
                yield from value.items
            elif isinstance(value, Table):
                yield from value.items.values()
            elif isinstance(value, Instance):
                yield from self._of_instance(value)
            elif isinstance(value, Made):
                event = value.event
                if event.name.endswith(_SETS):
                    first = event.arg(0, "data")
                    many = len(event.args) > 1 and event.name.endswith(".TensorDataset")
                    yield from event.args if many else self._parts(first) if first is not None else ()
                    continue
                within = event.receiver if event.receiver is not None else event.arg(0, "dataset", "source")
                if within is not None and within is not value:
                    yield from self._parts(within)

    def _of_instance(self, instance: Instance) -> Iterator[Value]:
        for cls in instance.cls.lineage():
            for name in _GIVING:
                function = cls.attributes.get(name)
                if isinstance(function, Function):
                    for given in self.script.trace.returns_of(function):
                        for value in options(given):
                            if isinstance(value, Seq) and value.kind == "generator":
                                yield from (part for item in value.items for part in _split(item))
                            else:
                                yield from _split(value)

    def is_of_data(self, event: Event) -> bool:
        """Whether it makes, reads or hands out samples."""
        if id(event.result) in self.of_training or id(event.result) in self.of_evaluation:
            return True
        return data_function(event) is not None

    def is_of_forward(self, event: Event) -> bool:
        """Whether it happens in a network."""
        return forward_around(event) is not None or any(
            scope.kind == UNCALLED and isinstance(scope.value, Function) and _is_forward(scope.value)
            for scope in event.scopes
        )

    def is_in_training(self, event: Event) -> bool:
        """Whether it happens in a loop that trains."""
        return any(scope in self.inner_loops for scope in event.scopes if scope.kind == LOOP)

    def is_epoch_range(self, event: Event) -> bool:
        """Whether it counts the epochs: the loop over it has a loop that trains in it."""
        return event.name == "builtins.range" and any(
            any(value is event.result for value in ancestry(scope.value, most=20)) for scope in self.loops
        )


def data_function(event: Event) -> Function | None:
    """The method of a dataset, or the function that loaders are given, that an event happens in."""
    for scope in reversed(event.scopes):
        if scope.kind not in (CALL, UNCALLED):
            continue
        if isinstance(scope.value, Function):
            owner = scope.value.owner
            if owner is not None and _gives_samples(owner):
                return scope.value
    return None


def _gives_samples(cls: Class) -> bool:
    methods = {name for base in cls.lineage() for name in base.attributes}
    return bool(methods & {"__getitem__", "__iter__"}) and not any(
        base.endswith((".Module", ".Cell")) for base in cls.library_bases()
    )


def _is_forward(function: Function) -> bool:
    return getattr(function.node, "name", "") in ("forward", "construct")


def _split(value: Value) -> Iterator[Value]:
    if isinstance(value, Seq) and value.kind == "tuple":
        yield from value.items
    else:
        yield value


def _is_loader(value: Value | None) -> bool:
    return isinstance(value, Made) and (
        value.event.role is Role.BUILD_LOADER
        or (
            value.name.startswith("mindspore.dataset.")
            and not value.name.startswith(("mindspore.dataset.vision", "mindspore.dataset.transforms"))
        )
    )
