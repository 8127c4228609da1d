"""Kinds of evidence in words: those that are needed together, and ways of which one is enough."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from trueline.model.message import Message, message


def kinds_in_words(kinds: Sequence[str]) -> Message:
    """Those that are needed together: run and benchmark's run."""
    words = [message(f"check.kind_{one}") for one in kinds]
    return reduce(lambda before, one: message("check.both_kinds", before=before, other=one), words)


def ways_in_words(ways: Iterable[Sequence[str]]) -> Message:
    """Ways that each are enough: script; run; run and benchmark's run."""
    words = [kinds_in_words(one) for one in dict.fromkeys(tuple(one) for one in ways)]
    return reduce(lambda before, one: message("check.and_says", before=before, said=one), words)
