"""Which parameter of torch's call is which of MindSpore's, by name, by the frameworks' habits, and by place."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from trueline.apitable.pairs import Documented, Kind
from trueline.apitable.synonyms import synonyms

Parameters = Sequence[tuple[str, str | None]]
# Where a tensor is made and by which generator: MindSpore has nothing at their place.
_NEVER_BY_PLACE: Final = frozenset(("generator", "device", "layout", "requires_grad", "pin_memory", "memory_format"))


@cache
def renamed(pair: Documented) -> Mapping[str, str]:
    """torch's parameters with a counterpart, and that counterpart, both without stars; in torch's order."""
    theirs = [plain(name) for name, _ in pair.torch_parameters if plain(name) != "out"]
    ours = [plain(name) for name, _ in pair.mindspore_parameters if plain(name) != "out"]
    if becomes_function(pair):
        ours = ours[1:]
    if not ours or is_opaque(pair.mindspore_parameters):
        return {name: name for name in theirs}
    found = {name: name for name in theirs if name in ours}
    for name in theirs:
        if name not in found:
            match = next((word for word in synonyms(name) if word in ours and word not in found.values()), None)
            if match is not None:
                found[name] = match
    _by_place(theirs, ours, found)
    return {name: found[name] for name in theirs if name in found}


def _by_place(theirs: Sequence[str], ours: Sequence[str], found: dict[str, str]) -> None:
    """Parameters that stand between the same neighbours are the same one, as long as both lists go on alike."""
    for place, name in enumerate(theirs):
        if name in found or name in _NEVER_BY_PLACE:
            continue
        if place < len(ours) and ours[place] not in found.values() and ours[place] not in theirs:
            found[name] = ours[place]


def becomes_function(pair: Documented) -> bool:
    """Whether a method of torch's tensors is a function in MindSpore, with the tensor as its first argument."""
    return pair.kind is Kind.METHOD and not pair.mindspore.startswith("mindspore.Tensor.")


def plain(name: str) -> str:
    """A parameter's name without stars."""
    return name.lstrip("*")


def is_opaque(parameters: Parameters) -> bool:
    """Whether a signature says nothing: ``*args, **kwargs``."""
    return any(name in ("*args", "args") for name, _ in parameters)


def is_variadic(parameters: Parameters, name: str) -> bool:
    """Whether a parameter takes several arguments: ``*size``."""
    return any(parameter == f"*{name}" for parameter, _ in parameters)


def default_of(parameters: Parameters, name: str) -> str | None:
    """A parameter's default as source; None where it has none."""
    return next((default for parameter, default in parameters if plain(parameter) == name), None)


def literal(source: str | None) -> tuple[bool, Any]:
    """Whether a default is a value that can be written down, and the value."""
    if source is None:
        return False, None
    try:
        return True, ast.literal_eval(source)
    except (ValueError, SyntaxError):
        return False, None
