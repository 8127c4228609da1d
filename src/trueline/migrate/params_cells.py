"""How the values of a parameter table are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from trueline.migrate.params import Listed
from trueline.model.finding import Certainty
from trueline.model.message import Message, message

_DOUBT: Final = {Certainty.LIKELY: "?", Certainty.POSSIBLE: "??"}
_LONGEST: Final = 8
_TEXT: Final = 200
# Python refuses to write out a whole number of very many digits.
_BITS: Final = 1024


def with_doubt(tensor: Listed) -> str:
    """The layer, marked where it was guessed."""
    return f"{tensor.layer}{doubt(tensor.certainty)}" if tensor.layer else ""


def doubt(certainty: Certainty | None) -> str:
    """The mark of what is not certain."""
    return _DOUBT.get(certainty, "") if certainty is not None else ""


def shape_text(shape: Sequence[int]) -> str:
    """A shape in little room."""
    return "x".join(str(side) for side in shape) or "()"


def size_text(nbytes: int) -> str:
    """Bytes for people."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if nbytes >= size:
            return f"{nbytes / size:.3g} {unit}" if nbytes < 1000 * size else f"{nbytes / size:.0f} {unit}"
    return f"{nbytes} B"


def yes_or_no(value: bool | None) -> Message | str:
    """Yes, no, or not known."""
    return "-" if value is None else message("params.yes") if value else message("params.no")


def few(value: float) -> float:
    """A number in three digits."""
    return float(f"{value:.3g}")


def plain_value(value: object) -> Any:
    """A plain value of a file, cut where it is long."""
    if isinstance(value, bool) or value is None or isinstance(value, float):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= _BITS else f"({value.bit_length()} bits)"
    if isinstance(value, (list, tuple)):
        cut = [plain_value(one) for one in value[:_LONGEST]]
        return cut if len(value) <= _LONGEST else [*cut, f"... ({len(value)})"]
    text = str(value)
    return text if len(text) <= _TEXT else f"{text[:_TEXT]}..."
