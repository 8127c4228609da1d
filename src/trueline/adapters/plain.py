"""The plain values that an object of a framework counts with."""

from __future__ import annotations

from typing import Any, Final

_SIMPLE: Final = (bool, int, float, str, type(None))


def plain_values(thing: Any) -> dict[str, Any]:
    """Its attributes that are numbers, words or lists of them; lists are copied."""
    found = {name: one for name, one in vars(thing).items() if isinstance(one, _SIMPLE)}
    lists = {name: one for name, one in vars(thing).items() if isinstance(one, list)}
    return found | {name: list(one) for name, one in lists.items() if all(isinstance(each, _SIMPLE) for each in one)}
