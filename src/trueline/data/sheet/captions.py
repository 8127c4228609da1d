"""What is written under a card."""

from __future__ import annotations

from trueline.data.sheet.cards import Card
from trueline.data.sheet.labels import Label
from trueline.model.message import Message, message

Line = Message | str


def label_line(label: Label) -> Line:
    """A label as it is read; none at all is said in words."""
    if label is None:
        return message("sheet.no_label")
    return f"{label:.5g}" if isinstance(label, float) else str(label) or message("sheet.empty_label")


def place_lines(card: Card) -> list[Line]:
    """Which sample it is: its file where it has one; of a run the step, the place in it, and the sample."""
    if card.step is None:
        return [f"#{card.index}", *([card.file] if card.file is not None else [])]
    found: list[Line] = [message("sheet.fed", step=card.step, position=card.position)]
    if card.rank is not None:
        found.append(message("sheet.rank", rank=card.rank))
    if card.sample is not None:
        found.append(f"#{card.sample}")
    return found


def fact_lines(card: Card) -> list[Line]:
    """What was done to show it, and its other fields."""
    found: list[Line] = []
    if card.picture is not None:
        shown = card.picture
        if shown.low is not None and shown.high is not None:
            found.append(f"{shown.low:.4g} … {shown.high:.4g}")
        if shown.odd:
            found.append(message("sheet.odd", count=shown.odd))
        if shown.part is not None:
            found.append(message("sheet.part", part=shown.part, shape="×".join(map(str, shown.shape))))
    if card.series is not None:
        finite = [value for value in card.series if value - value == 0]
        if finite:
            found.append(f"{min(finite):.4g} … {max(finite):.4g}")
        if len(finite) < len(card.series):
            found.append(message("sheet.odd", count=len(card.series) - len(finite)))
    if card.drawn or card.text is not None or card.broken is not None:
        found.extend(f"{name} {value}" for name, value in card.facts)
    return found
