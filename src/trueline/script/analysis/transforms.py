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
    for value in _given(loader):
        for step in _flat(value):
            if isinstance(step, Made) and step.name.startswith(_ROOMS):
                steps.append(step)
            else:
                known = False
    return Transforms(tuple(steps), known)


@walk_each(_LOST)
def _given(value: Value | None) -> Iterator[Value]:
    if isinstance(value, Either):
        return
    for part in options(value):
        if isinstance(part, Made):
            event = part.event
            if part.name.startswith("mindspore.dataset.") and event.receiver is not None:
                yield from _given(event.receiver)
                if event.method == "map":
                    operations = event.arg(0, "operations")
                    if operations is not None:
                        yield operations
            elif part.name in _OVER_DATASETS:
                yield from _given(event.arg(0, "dataset"))
            elif part.name.startswith("torchvision.datasets."):
                at = 1 if part.name.endswith(("ImageFolder", "DatasetFolder")) else None
                given = event.arg(at, "transform", "transforms")
                if given is not None:
                    yield given
        elif isinstance(part, Item):
            yield from _given(part.of)
        elif isinstance(part, Instance):
            for name, held in part.attributes.items():
                if "target" not in name and any(_is_transform(part) for part in _flat(held)):
                    yield held
                elif isinstance(held, Made) and held.name.startswith(("torchvision.datasets.", "torch.utils.data.")):
                    yield from _given(held)


def _is_transform(value: Value) -> bool:
    return isinstance(value, Made) and value.name.startswith(_ROOMS)


@walk_each(_LOST)
def _flat(value: Value) -> Iterator[Value]:
    """The single steps of a list or a Compose."""
    if isinstance(value, Seq):
        for part in value.items:
            yield from _flat(part)
    elif isinstance(value, Made) and value.name.rpartition(".")[2] in ("Compose", "Sequential") and value.event.args:
        yield from _flat(value.event.args[0])
    elif isinstance(value, Made) and value.name.endswith(".Sequential"):
        for part in value.event.args:
            yield from _flat(part)
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
    values = [value for value in steps if value.name.rpartition(".")[2] in ("Normalize", "NormalizePad")]
    return values[-1] if values else None


def numbers_of(value: Value | None) -> tuple[float, ...] | None:
    """Numbers that are written down; None where one of them is not."""
    numbers = [number for number in _numbers(value) if number is not None]
    return tuple(numbers) if len(numbers) == len(_numbers(value)) else None


@walk_each(None)
def _numbers(value: Value | None) -> Iterator[float | None]:
    if isinstance(value, Const) and isinstance(value.value, int | float) and not isinstance(value.value, bool):
        yield float(value.value)
    elif isinstance(value, Seq) and not value.open:
        for part in value.items:
            yield from _numbers(part)
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
