"""What all parts of one page share: its language, its ids and how deep headings are."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count

from trueline.model.message import Message
from trueline.report.html.markup import Markup, element
from trueline.report.shown import say

_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Context:
    """One page being written."""

    lang: str | None
    level: int = 2
    ids: count[int] = field(default_factory=lambda: count(1))

    def say(self, message: Message) -> str:
        """A message's sentence."""
        return say(message, self.lang)

    def id(self) -> str:
        """An id that no other element of the page has."""
        return f"b{next(self.ids)}"

    def heading(self, title: Message | str, id: str | None = None) -> Markup:
        """A heading of this level."""
        text = self.say(title) if isinstance(title, Message) else title
        return element(f"h{min(self.level, _DEEPEST)}", text, id=id)

    def below(self) -> Context:
        """The same page, one level of headings down."""
        return replace(self, level=self.level + 1)
