"""Which pairs of the table a used name is in, directly or by another spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from trueline.apitable.given import public_names
from trueline.apitable.pairs import MINDSPORE, TORCH, Documented, pairs_by_name
from trueline.script.canonical import canonical

_FUNCTIONAL = "torch.nn.functional."
_PRIMITIVES = "mindspore.ops."
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_TENSORS = {TORCH: "torch.Tensor.", MINDSPORE: "mindspore.Tensor."}


class Route(StrEnum):
    """How a used name leads to a pair."""

    NAME = "name"
    OUT_OF_PLACE = "out_of_place"  # x.relu_() by x.relu(): the result is to be assigned
    FUNCTION = "function"  # x.log_softmax(1) by torch.log_softmax(x, 1)
    SAME_NAME = "same_name"  # in no table, but the other framework offers the same name


@dataclass(frozen=True, slots=True)
class Counterparts:
    """The pairs of a name, or only a name of the other framework."""

    pairs: tuple[Documented, ...] = ()
    route: Route = Route.NAME
    name: str = ""


@cache
def counterparts(name: str, full: str, source: str) -> Counterparts:
    """What stands for a name of one framework in the other."""
    for tried in dict.fromkeys((full, name, *_spellings(name))):
        if found := _pairs(tried, source):
            return Counterparts(found)
    tensor = _TENSORS[source]
    if name.startswith(tensor):
        word = name[len(tensor) :]
        if word.endswith("_") and not word.endswith("__"):
            plain = counterparts(tensor + word[:-1], tensor + word[:-1], source)
            if plain.pairs:
                return Counterparts(plain.pairs, Route.OUT_OF_PLACE)
        if source == TORCH and (found := _pairs(f"torch.{word}", source) or _pairs(_FUNCTIONAL + word, source)):
            return Counterparts(found, Route.FUNCTION)
    same = _same_name(name)
    return Counterparts((), Route.SAME_NAME, same) if same else Counterparts()


def _spellings(name: str) -> Iterator[str]:
    """The same function elsewhere in its framework."""
    word = name.rpartition(".")[2]
    if name.startswith(_FUNCTIONAL):
        yield f"torch.{word}"
        if word.endswith("_"):
            yield name[:-1]
    elif name == f"torch.{word}":
        yield _FUNCTIONAL + word
    elif name.startswith("torch.linalg."):
        yield f"torch.{word}"
    elif name.startswith(_PRIMITIVES) and word[:1].isupper():
        # A primitive is made and called where the function is only called.
        yield _PRIMITIVES + _CAMEL.sub("_", word.removeprefix("Reduce")).lower()


def _pairs(name: str, source: str) -> tuple[Documented, ...]:
    return tuple(pair for pair in _index().get(name, ()) if canonical(pair.of(source)) == canonical(name))


@cache
def _index() -> Mapping[str, tuple[Documented, ...]]:
    found: dict[str, dict[tuple[str, str, str], Documented]] = {}
    for name, pairs in pairs_by_name().items():
        for spelled in dict.fromkeys((name, canonical(name))):
            found.setdefault(spelled, {}).update({(one.torch, one.mindspore, one.style): one for one in pairs})
    return {name: tuple(pairs.values()) for name, pairs in found.items()}


def _same_name(name: str) -> str:
    """The same name in the same place of the other framework: torch.float32, torch.Tensor.shape."""
    head, _, rest = name.partition(".")
    other = {TORCH: MINDSPORE, MINDSPORE: TORCH}.get(head)
    if other is None:
        return ""
    package, _, word = rest.rpartition(".")
    place = f"{other}.{package}" if package else other
    return f"{place}.{word}" if word in public_names().get(place, ()) else ""
