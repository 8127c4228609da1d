"""The tensors that a dump.json lists, by their keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from trueline.formats.dump import Dumped
from trueline.model.key import Key, Kind
from trueline.model.numbers import decode

_MODULE: Final = re.compile(
    r"(?:Module|Cell)\.(?:(?P<path>.+)\.)?(?P<type>[^.]+)\.(?P<way>forward|backward|parameters_grad)(?:\.(?P<call>\d{1,15}))?"
)
_API: Final = re.compile(r"(?P<path>.+\.(?P<type>[^.]+))\.(?P<call>\d{1,15})\.(?P<way>forward|backward)")
# Gradients come into a module's backward at its outputs, and leave it at its inputs.
_KINDS: Final = {
    ("forward", "input_args"): Kind.IN,
    ("forward", "input_kwargs"): Kind.IN,
    ("forward", "input"): Kind.IN,
    ("forward", "output"): Kind.OUT,
    ("forward", "parameters"): Kind.PARAM,
    ("backward", "input"): Kind.GOUT,
    ("backward", "output"): Kind.GIN,
}
_NUMBERS: Final = {"Min": "min", "Max": "max", "Mean": "mean", "Norm": "l2"}
_DEEPEST: Final = 20
_MOST_SIDES: Final = 64


class Named(NamedTuple):
    """What an entry's name says."""

    module: str
    type: str
    way: str
    call: int


class Entry(NamedTuple):
    """A listed tensor and the file of its elements, "" where only its numbers were kept."""

    dumped: Dumped
    file: str


def named(name: str) -> Named | None:
    """Read ``Module.layer1.0.Conv2d.forward.0`` or ``Functional.conv2d.0.forward``; None for another name."""
    found = _MODULE.fullmatch(name) or _API.fullmatch(name)
    if found is None:
        return None
    return Named(found["path"] or "", found["type"], found["way"], int(found["call"] or 0))


def entries_of(name: str, value: object) -> Iterator[Entry]:
    """The tensors of one call, in the order they are listed."""
    who = named(name)
    if who is None or not isinstance(value, dict):
        return
    for part, held in value.items():
        if who.way == "parameters_grad":
            # Each parameter's gradient is a list of one.
            alone = held[0] if isinstance(held, list) and len(held) == 1 else held
            yield from _tensors(who, Kind.GRAD, (str(part),), alone, f"{name}.{part}")
            continue
        kind = _KINDS.get((who.way, part))
        if kind is not None:
            called = part.partition("_")[0] if kind is Kind.IN else part
            yield from _tensors(who, kind, (), held, f"{name}.{called}")


def _tensors(who: Named, kind: Kind, place: tuple[str, ...], held: object, name: str) -> Iterator[Entry]:
    if len(place) > _DEEPEST:
        return
    if isinstance(held, list):
        for number, inner in enumerate(held):
            yield from _tensors(who, kind, (*place, str(number)), inner, f"{name}.{number}")
    elif isinstance(held, dict):
        shape = _shape(held.get("shape"))
        if shape is not None and isinstance(held.get("dtype"), str):
            key = Key.of(who.module, kind, ".".join(place) or "0", call=who.call)
            file = held.get("data_name")
            yield Entry(
                Dumped(key, name, shape, _dtype(held["dtype"]), None, _numbers(held), who.type),
                file if isinstance(file, str) and file != "-1" else "",
            )
        elif "type" not in held or isinstance(held["type"], dict | list):
            for inner_name, inner in held.items():
                yield from _tensors(who, kind, (*place, str(inner_name)), inner, f"{name}.{inner_name}")


def _shape(sides: object) -> tuple[int, ...] | None:
    if not isinstance(sides, list) or len(sides) > _MOST_SIDES:
        return None
    return tuple(sides) if all(type(side) is int and 0 <= side < 1 << 63 for side in sides) else None


def _dtype(name: str) -> str:
    """``torch.float32`` and ``Float32`` are float32."""
    return name.rpartition(".")[2].lower()[:40]


def _numbers(held: Mapping[str, object]) -> dict[str, float]:
    numbers = {}
    for theirs, ours in _NUMBERS.items():
        value = held.get(theirs)
        if isinstance(value, str):
            value = value.lower().replace("infinity", "inf")
        try:
            numbers[ours] = float(value) if isinstance(value, bool) else decode(value)  # type: ignore[arg-type]
        except (ValueError, OverflowError):
            # Of an empty tensor, or of one whose type has no mean, nothing is kept.
            continue
    return numbers
