"""Plain values among the attributes of a framework's object."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Final

import numpy as np

from trueline.adapters.nouns import Foreign, Network, Value
from trueline.model.describing import holds

# A list that is longer is data.
_MAX_LIST_LENGTH: Final = 32
_SIMPLE: Final = (bool, int, float, str, type(None), np.number, np.bool_)


def is_plain(value: object) -> bool:
    """Whether a value is a number, a string, None, or a short list of these."""
    return holds(_is_plain, value)


def _is_plain(value: object) -> bool:
    if isinstance(value, list | tuple):
        return len(value) <= _MAX_LIST_LENGTH and all(_is_plain(part) for part in value)
    return isinstance(value, _SIMPLE)


def held(module: Network, name: str, default: object = None, *, registries: Sequence[str] = ()) -> Foreign:
    """An attribute of a module or its class, looked up without ``__getattr__``, which may run user code.

    ``registries`` are attributes that hold others by name.
    """
    own = vars(module)
    for place in (own, *(own.get(registry) or {} for registry in registries)):
        if name in place:
            return place[name]
    return inspect.getattr_static(type(module), name, default)


def plain_values(owner: object) -> dict[str, Value]:
    """Its attributes that are numbers, strings or lists of these; lists are copied."""
    simple = {name: value for name, value in vars(owner).items() if isinstance(value, _SIMPLE)}
    lists = {name: value for name, value in vars(owner).items() if isinstance(value, list)}
    return simple | {
        name: list(value) for name, value in lists.items() if all(isinstance(part, _SIMPLE) for part in value)
    }
