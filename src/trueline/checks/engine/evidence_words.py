"""Kinds of evidence in words: those that are needed together, and ways of which one is enough."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from trueline.model.message import Message, message


def kinds_in_words(kinds: Sequence[str]) -> Message:
    """Those that are needed together: run and benchmark's run."""
    words = [message(f"check.kind_{kind}") for kind in kinds]
    return reduce(lambda before, kind: message("check.both_kinds", before=before, other=kind), words)


def ways_in_words(ways: Iterable[Sequence[str]]) -> Message:
    """Ways that each are enough: script; run; run and benchmark's run."""
    words = [kinds_in_words(kinds) for kinds in dict.fromkeys(tuple(kinds) for kinds in ways)]
    return reduce(lambda before, way: message("check.and_says", before=before, said=way), words)
