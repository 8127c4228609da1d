"""Two trainings by their recipes: optimizer, loss, clipping, loader and what else both write down, whatever the code.

A call by call comparison needs scripts that are written alike. A recipe does not: each part is looked up by what it
does, in either framework, with its defaults, and only what both scripts say for sure is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from trueline.apitable.functions import functions_of, qualified_of, stems_of
from trueline.apitable.recipe import Entry, Part, entries
from trueline.apitable.traits import Trait
from trueline.model.message import Message, message
from trueline.script.analysis.followed import is_training_followed
from trueline.script.diff.contexts import Contexts
from trueline.script.diff.difference import Difference, Kind, Node
from trueline.script.diff.naming import word_of
from trueline.script.diff.nodes import place_of
from trueline.script.diff.shapes import plain
from trueline.script.diff.signatures import named_arguments
from trueline.script.diff.subject import Subject
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import CALL, GRAD, UNCALLED, Event
from trueline.script.values import Const, Made, Seq, Table, Value, constant

# Reductions that are one number; what is left unreduced is reduced by hand, in a way of its own.
_REDUCED: Final = ("mean", "sum")
# Two rates, momenta or limits are one number where they differ by rounding alone.
_SAME_NUMBER: Final = 1e-6
_SUBJECTS: Final = {Part.OPTIMIZER: Subject.UPDATE, Part.LOSS: Subject.LOSS, Part.CLIP: Subject.UPDATE}
# Of these it is known what they do to samples.
_READ: Final = frozenset(("torch", "torchvision", "mindspore", "numpy", "builtins", "?"))
_GIVING: Final = ("__getitem__", "__iter__", "__next__")


@dataclass(frozen=True, slots=True)
class Ingredient:
    """A call that is a part of the recipe, with its arguments by name; None where they cannot be known."""

    entry: Entry
    event: Event
    arguments: dict[str, Value] | None

    def setting(self, name: str) -> Const | None:
        """A setting's constant, the default too."""
        if self.arguments is None:
            return None
        for argument in self.entry.settings[name]:
            argument, _, place = argument.partition(".")
            value = plain(self.arguments.get(argument))
            if place and isinstance(value, Seq) and not value.open and len(value.items) > int(place):
                value = plain(value.items[int(place)])
            if isinstance(value, Const):
                return value
        return None


def recipe_differences(script: Script, bench: Script) -> list[tuple[Subject, Difference]]:
    """What of the benchmark's recipe the script has otherwise, or has not."""
    mine, other = _Recipe(script), _Recipe(bench)
    return [*_parts(mine, other), *_loaders(mine, other), *_absent(mine, other)]


class _Recipe:
    """One script's parts."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.contexts = Contexts(script)
        self.events = [
            event
            for event in script.trace.events
            if not any(scope.kind == UNCALLED for scope in event.scopes) and not event.implied
        ]
        table = entries()
        self.ingredients = [
            Ingredient(table[event.name], event, named_arguments(event)) for event in self.events if event.name in table
        ]
        # What is not there was looked for everywhere.
        self.is_whole = (
            is_training_followed(script.trace)
            and not script.trace.cut_short
            and not script.trace.lost
            and not script.unread
        )

    def of(self, part: Part) -> list[Ingredient]:
        """The ingredients of a part, each line once."""
        by_place = {
            (ingredient.event.place.file, ingredient.event.place.line): ingredient
            for ingredient in reversed(self.ingredients)
            if ingredient.entry.part is part
        }
        return sorted(by_place.values(), key=lambda ingredient: ingredient.event.index)

    def update(self) -> Event | None:
        """The first update of the training."""
        return next((event for event in self.events if event.role in (Role.STEP, Role.SCALER_STEP)), None)

    def optimizer(self) -> Event | None:
        """The first optimizer that is built."""
        return next((event for event in self.events if event.role is Role.BUILD_OPTIMIZER), None)


def _parts(mine: _Recipe, other: _Recipe) -> Iterator[tuple[Subject, Difference]]:
    for part, subject in _SUBJECTS.items():
        for here, there in _pairs(mine.of(part), other.of(part)):
            if here.entry.kind != there.entry.kind:
                if not _is_same_by_family(here, there):
                    yield subject, Difference(Kind.REPLACED, _node(here.event), _node(there.event))
                continue
            yield from ((subject, difference) for difference in _settings(here, there))
            yield from ((Subject.CLASS_BALANCE, difference) for difference in _class_weights(here, there))


def _is_same_by_family(here: Ingredient, there: Ingredient) -> bool:
    """Whether two kinds do the same, or cannot be told apart: Adam and AdamW without a decay."""
    if here.entry.family != there.entry.family:
        return False
    apart = here.entry.apart
    if apart is None:
        return True
    settings = [side.setting(apart) for side in (here, there)]
    return all(setting is None or not setting.value for setting in settings)


def _pairs(mine: Sequence[Ingredient], other: Sequence[Ingredient]) -> Iterator[tuple[Ingredient, Ingredient]]:
    """Which is which: in order where there are as many of each kind, else a kind that either has alike throughout."""
    kinds = [[ingredient.entry.kind for ingredient in side] for side in (mine, other)]
    if kinds[0] == kinds[1] or (len(mine) == len(other) == 1):
        yield from zip(mine, other, strict=True)
        return
    for kind in dict.fromkeys(kinds[0]):
        here = [ingredient for ingredient in mine if ingredient.entry.kind == kind]
        there = [ingredient for ingredient in other if ingredient.entry.kind == kind]
        if there and _is_alike(here) and _is_alike(there):
            yield here[0], there[0]


def _is_alike(ingredients: Sequence[Ingredient]) -> bool:
    names = ingredients[0].entry.settings
    said = {tuple(_number(ingredient.setting(name)) for name in names) for ingredient in ingredients}
    return len(said) == 1


def _number(value: Const | None) -> object:
    return value.value if value is not None else None


def _settings(here: Ingredient, there: Ingredient) -> Iterator[Difference]:
    grouped = any(isinstance(side.event.arg(0, "params"), Seq | Table) for side in (here, there))
    for name in here.entry.settings:
        mine, other = here.setting(name), there.setting(name)
        if mine is None or other is None or _is_same(mine.value, other.value):
            continue
        if name == "reduction" and not {mine.value, other.value} <= set(_REDUCED):
            continue
        # Groups have settings of their own.
        if not (grouped and name == "weight_decay"):
            yield _setting(here.event, there.event, name, mine, other)


def _class_weights(here: Ingredient, there: Ingredient) -> Iterator[Difference]:
    """Weights of classes that only one of them gives."""
    for name in here.entry.given:
        values = [side.arguments.get(name) if side.arguments is not None else None for side in (here, there)]
        absent = [isinstance(value, Const) and value.value is None for value in values]
        if None not in values and absent[0] != absent[1]:
            kind = Kind.MISSING if absent[0] else Kind.EXTRA
            yield Difference(kind, _node(here.event, name), _node(there.event, name), (here.event, there.event), name)


def _is_same(mine: object, other: object) -> bool:
    if isinstance(mine, int | float) and isinstance(other, int | float):
        return abs(mine - other) <= _SAME_NUMBER * max(abs(mine), abs(other))
    return mine == other


def _setting(event: Event, bench: Event, name: str, mine: Const, other: Const) -> Difference:
    here = Node(str(mine.value), mine, event, place_of(mine) or event.place)
    there = Node(str(other.value), other, bench, place_of(other) or bench.place)
    return Difference(Kind.SETTING, here, there, (event, bench), name)


def _node(event: Event, name: str = "") -> Node:
    return Node(name or word_of(event.name), None, event, event.place)


def _loaders(mine: _Recipe, other: _Recipe) -> Iterator[tuple[Subject, Difference]]:
    """Whether the last samples of an epoch that fill no batch are left out of training."""
    here, there = (list(_leaves_out(side)) for side in (mine, other))
    if len(here) == len(there) == 1 and here[0][1].value != there[0][1].value:
        yield Subject.SAMPLES, _setting(here[0][0], there[0][0], "drop_last", here[0][1], there[0][1])


def _leaves_out(side: _Recipe) -> Iterator[tuple[Event, Const]]:
    for event in side.events:
        if id(event) not in side.contexts.train_loaders:
            continue
        if event.name == "torch.utils.data.DataLoader":
            value = plain(event.arg(8, "drop_last"))
        elif word_of(event.name) == "batch" and event.name.startswith("mindspore.dataset."):
            value = plain(event.arg(1, "drop_remainder"))
        else:
            continue
        if value is None and not event.open:
            value = Const(False)
        if isinstance(value, Const):
            yield event, Const(bool(value.value), value.origin)


@dataclass(frozen=True, slots=True)
class _Presence:
    """Something that a training has or has not, and where it would stand."""

    subject: Subject
    # What the benchmark's surely is, and what in the script may be the same.
    events: Callable[[_Recipe], Iterator[Event]]
    possible: Callable[[_Recipe], Iterator[Event]]
    place: Callable[[_Recipe], Event | None]
    # What to call it, where the call's own name does not say it.
    label: Message | None = None
    # Only where nothing of its place is hidden in another library.
    is_open: Callable[[_Recipe], bool] = lambda _: True


def _absent(mine: _Recipe, other: _Recipe) -> Iterator[tuple[Subject, Difference]]:
    """What the benchmark's training has at least once and the script's nowhere."""
    if not mine.is_whole or not other.is_whole:
        return
    for presence in _PRESENT:
        there = next(presence.events(other), None)
        if there is None or next(presence.possible(mine), None) is not None or not presence.is_open(mine):
            continue
        stands = presence.place(mine)
        if stands is not None:
            missing = replace(_node(there), label=presence.label)
            yield presence.subject, Difference(Kind.MISSING, _node(stands), missing)


def _clips(side: _Recipe) -> Iterator[Event]:
    return (event for event in side.events if event.role is Role.CLIP)


def _may_clip(side: _Recipe) -> Iterator[Event]:
    """Whatever is called a clipping where training is done, by hand too; samples are clipped elsewhere."""
    loops = side.contexts.loops
    for event in side.events:
        called = [event.method, *(scope.name for scope in event.scopes if scope.kind == CALL)]
        trains = any(scope in loops or scope.kind == GRAD for scope in event.scopes)
        if event.role is Role.CLIP or (trains and any("clip" in name.lower() for name in called)):
            yield event


def _dropouts(side: _Recipe) -> Iterator[Event]:
    names, stems = functions_of(Trait.DROPOUT), stems_of(Trait.DROPOUT)
    for event in side.events:
        if event.method in names or event.method.startswith(stems):
            rate = plain(event.arg(0 if event.method[:1].isupper() else 1, "p"))
            if not (isinstance(rate, Const) and rate.value == 0):
                yield event


def _freezes(side: _Recipe) -> Iterator[Event]:
    """Parameters that are told to take no gradient; what is an input of the network is told so by default."""
    for event in side.events:
        if event.method == "requires_grad_":
            value = event.arg(0, "requires_grad")
        elif event.method == "__setattr__" and len(event.args) > 1 and constant(event.args[0]) == "requires_grad":
            value = event.args[1]
        else:
            continue
        if isinstance(value, Const) and value.value is False:
            yield event


def _may_freeze(side: _Recipe) -> Iterator[Event]:
    """Whatever speaks of gradients of parameters, or picks those that are trained."""
    names = functions_of(Trait.FREEZES)
    for event in side.events:
        named = event.method == "__setattr__" and bool(event.args) and constant(event.args[0]) == "requires_grad"
        if event.method in names or named:
            yield event


def _augments(side: _Recipe) -> Iterator[Event]:
    """Draws by chance for a sample: random transforms, and what a dataset draws when it gives one."""
    stems, draws = stems_of(Trait.RANDOM_TRANSFORM), functions_of(Trait.RANDOM)
    generators = qualified_of(Trait.GENERATES)
    for event in side.script.trace.events:
        transforms = event.method.startswith(stems) and event.name not in generators
        if transforms or (event.method in draws and _gives_sample(event)):
            yield event


def _gives_sample(event: Event) -> bool:
    """Whether it happens where a dataset of the project gives a sample; loaders call that by themselves."""
    names = (scope.name for scope in event.scopes if scope.kind in (CALL, UNCALLED))
    return any(name.rpartition(".")[2] in _GIVING for name in names)


def _is_data_read(side: _Recipe) -> bool:
    """Whether the data of training is made by the script and by the frameworks alone."""
    heads = {part.name.partition(".")[0] for part in side.contexts.training_parts() if isinstance(part, Made)}
    return heads <= _READ


def _sample(side: _Recipe) -> Event | None:
    """Where a sample is made, else where the loader of training is."""
    loader = next((event for event in side.events if id(event) in side.contexts.train_loaders), None)
    return next(filter(_gives_sample, side.script.trace.events), loader)


def _last_layer(side: _Recipe) -> Event | None:
    """The last layer of a library's that the first pass calls: dropout mostly stands before it."""
    passes = [event for event in side.events if event.role is Role.FORWARD]
    network = next(iter(passes), None)
    inside = [event for event in side.events if network is not None and event.callers() and _is_within(event, network)]
    layers = [event for event in inside if event.role is Role.FORWARD]
    return layers[-1] if layers else network


def _is_within(event: Event, outer: Event) -> bool:
    """Whether an event happens inside of the call that another one is."""
    return any(scope.kind == CALL and scope.place == outer.place for scope in event.scopes)


_PRESENT: Final = (
    _Presence(Subject.UPDATE, _clips, _may_clip, _Recipe.update),
    _Presence(Subject.NETWORK, _dropouts, _dropouts, _last_layer),
    _Presence(Subject.FROZEN_PARAMETERS, _freezes, _may_freeze, _Recipe.optimizer, message("bench_script.freezing")),
    _Presence(Subject.AUGMENTATION, _augments, _augments, _sample, message("bench_script.augmentation"), _is_data_read),
)
