"""Transforms in a script: what a loader does to its samples, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trueline.apitable.functions import classes_of, qualified_of, stems_of
from trueline.apitable.traits import Trait
from trueline.script.values import Const, Either, Instance, Item, Made, Seq, Unknown, Value, constant, options
from trueline.script.walking import walk_each

_ROOMS: Final = (
    "torchvision.transforms.",
    "mindspore.dataset.vision.",
    "mindspore.dataset.transforms.",
    "albumentations.",
)
_RANDOM: Final = stems_of(Trait.RANDOM_TRANSFORM)
_OVER_DATASETS: Final = qualified_of(Trait.OVER_DATASET)
_SIZED: Final = classes_of(Trait.RESIZES)
_LOST: Final = Unknown("too much to follow")


@dataclass(frozen=True, slots=True)
class Transforms:
    """The transforms of a loader, in order; ``known`` where there is nothing among them that could not be told."""

    steps: tuple[Made, ...]
    known: bool


def transforms_of(loader: Value | None) -> Transforms:
    """What a loader of torch or a pipeline of MindSpore does to its samples."""
    steps: list[Made] = []
    known = True
    for one in _given(loader):
        for step in _flat(one):
            if isinstance(step, Made) and step.name.startswith(_ROOMS):
                steps.append(step)
            else:
                known = False
    return Transforms(tuple(steps), known)


@walk_each(_LOST)
def _given(value: Value | None) -> Iterator[Value]:
    if isinstance(value, Either):
        return
    for one in options(value):
        if isinstance(one, Made):
            event = one.event
            if one.name.startswith("mindspore.dataset.") and event.receiver is not None:
                yield from _given(event.receiver)
                if event.method == "map":
                    operations = event.arg(0, "operations")
                    if operations is not None:
                        yield operations
            elif one.name in _OVER_DATASETS:
                yield from _given(event.arg(0, "dataset"))
            elif one.name.startswith("torchvision.datasets."):
                at = 1 if one.name.endswith(("ImageFolder", "DatasetFolder")) else None
                given = event.arg(at, "transform", "transforms")
                if given is not None:
                    yield given
        elif isinstance(one, Item):
            yield from _given(one.of)
        elif isinstance(one, Instance):
            for name, held in one.attributes.items():
                if "target" not in name and any(_is_transform(each) for each in _flat(held)):
                    yield held
                elif isinstance(held, Made) and held.name.startswith(("torchvision.datasets.", "torch.utils.data.")):
                    yield from _given(held)


def _is_transform(value: Value) -> bool:
    return isinstance(value, Made) and value.name.startswith(_ROOMS)


@walk_each(_LOST)
def _flat(value: Value) -> Iterator[Value]:
    """The single steps of a list or a Compose."""
    if isinstance(value, Seq):
        for one in value.items:
            yield from _flat(one)
    elif isinstance(value, Made) and value.name.rpartition(".")[2] in ("Compose", "Sequential") and value.event.args:
        yield from _flat(value.event.args[0])
    elif isinstance(value, Made) and value.name.endswith(".Sequential"):
        for one in value.event.args:
            yield from _flat(one)
    else:
        yield value


def is_random(step: Made) -> bool:
    """Whether it does something else each time; a probability of 0 does nothing."""
    last = step.name.rpartition(".")[2]
    if not last.startswith(_RANDOM):
        return False
    return bool(constant(step.event.arg(None, "p", "prob"), 1) != 0)


def normalising(steps: tuple[Made, ...]) -> Made | None:
    """The last step that subtracts a mean and divides by a deviation."""
    found = [one for one in steps if one.name.rpartition(".")[2] in ("Normalize", "NormalizePad")]
    return found[-1] if found else None


def numbers_of(value: Value | None) -> tuple[float, ...] | None:
    """Numbers that are written down; None where one of them is not."""
    found = [one for one in _numbers(value) if one is not None]
    return tuple(found) if len(found) == len(_numbers(value)) else None


@walk_each(None)
def _numbers(value: Value | None) -> Iterator[float | None]:
    if isinstance(value, Const) and isinstance(value.value, int | float) and not isinstance(value.value, bool):
        yield float(value.value)
    elif isinstance(value, Seq) and not value.open:
        for one in value.items:
            yield from _numbers(one)
    else:
        yield None


def final_size(steps: tuple[Made, ...]) -> tuple[Made, tuple[float, ...]] | None:
    """The last step that gives pictures a size, and that size."""
    for step in reversed(steps):
        if step.name.rpartition(".")[2] in _SIZED:
            size = numbers_of(step.event.arg(0, "size"))
            if size is None:
                return None
            return step, size * 2 if len(size) == 1 else size
    return None
