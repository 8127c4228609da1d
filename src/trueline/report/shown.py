"""Values as a reader sees them: short numbers, words for non-finite ones, no control characters."""

from __future__ import annotations

import math
from collections.abc import Mapping

from trueline.model.message import Message
from trueline.model.visible import on_one_line


def say(message: Message, lang: str | None = None) -> str:
    """A message's sentence in a language, messages among its parameters included."""
    params = {
        name: say(value, lang) if isinstance(value, Message) else number(value) if isinstance(value, float) else value
        for name, value in message.params.items()
    }
    return on_one_line(Message(message.id, params).text(lang))


def number(value: float) -> str:
    """A number in at most five digits that tell."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    return f"{value:.5g}"


def shown(value: object, lang: str | None = None) -> str:
    """A table's cell as text; nothing known is an empty cell."""
    if value is None:
        return ""
    if isinstance(value, Message):
        return say(value, lang)
    if isinstance(value, float):
        return number(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{on_one_line(str(name))} {shown(one, lang)}" for name, one in value.items())
    return on_one_line(str(value))
