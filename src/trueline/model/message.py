"""A sentence for the user, kept as an id with parameters so that it can be shown in any language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trueline.locale import render


@dataclass(frozen=True, slots=True)
class Message:
    """A message id and its parameters."""

    id: str
    params: Mapping[str, object] = field(default_factory=dict)

    def text(self, lang: str | None = None) -> str:
        """The sentence in a language (the current one when None)."""
        params = {
            name: param.text(lang) if isinstance(param, Message) else param for name, param in self.params.items()
        }
        return render(self.id, params, lang)

    def __str__(self) -> str:
        return self.text()


def message(id: str, **params: object) -> Message:
    """A Message from keyword parameters."""
    return Message(id, params)
