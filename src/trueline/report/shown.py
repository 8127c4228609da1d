"""Values as a reader sees them: short numbers, words for non-finite ones, no control characters."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from trueline.model.message import Message

# Files may come from anyone: nothing in them may steer a terminal or turn its writing direction around.
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """A text with its control characters made visible; line ends and tabs stay."""
    return _STEERING.sub(lambda found: found.group().encode("unicode_escape").decode("ascii"), text)


def say(message: Message, lang: str | None = None) -> str:
    """A message's sentence in a language, messages among its parameters included."""
    params = {
        name: say(value, lang) if isinstance(value, Message) else number(value) if isinstance(value, float) else value
        for name, value in message.params.items()
    }
    return visible(Message(message.id, params).text(lang))


def number(value: float) -> str:
    """A number in at most five digits that tell."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    return f"{value:.5g}"


def shown(value: Any, lang: str | None = None) -> str:
    """A table's cell as text; nothing known is an empty cell."""
    if value is None:
        return ""
    if isinstance(value, Message):
        return say(value, lang)
    if isinstance(value, float):
        return number(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{visible(str(name))} {shown(one, lang)}" for name, one in value.items())
    return visible(str(value))
