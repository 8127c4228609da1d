"""The plain values that an object of a framework counts with."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Final

import numpy as np

from trueline.adapters.nouns import Foreign, Network, Value
from trueline.model.describing import holds

# A list that is longer is data.
_SHORT: Final = 32
_SIMPLE: Final = (bool, int, float, str, type(None), np.number, np.bool_)


def is_plain(value: object) -> bool:
    """Whether a value is a number, a word, nothing, or a short list of them."""
    return holds(_is_plain, value)


def _is_plain(value: object) -> bool:
    if isinstance(value, list | tuple):
        return len(value) <= _SHORT and all(_is_plain(one) for one in value)
    return isinstance(value, _SIMPLE)


def held(module: Network, name: str, default: object = None, *, registries: Sequence[str] = ()) -> Foreign:
    """An attribute that a network or its class holds; a ``__getattr__``, which may do anything, is not asked.

    ``registries`` are attributes that hold others by name.
    """
    own = vars(module)
    for place in (own, *(own.get(registry) or {} for registry in registries)):
        if name in place:
            return place[name]
    return inspect.getattr_static(type(module), name, default)


def plain_values(thing: object) -> dict[str, Value]:
    """Its attributes that are numbers, words or lists of them; lists are copied."""
    found = {name: one for name, one in vars(thing).items() if isinstance(one, _SIMPLE)}
    lists = {name: one for name, one in vars(thing).items() if isinstance(one, list)}
    return found | {name: list(one) for name, one in lists.items() if all(isinstance(each, _SIMPLE) for each in one)}
