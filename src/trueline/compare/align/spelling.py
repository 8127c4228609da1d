"""How names are written: words, ordinals and abbreviations of the parts of a path, and how like two are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_MEANINGS: Final[Mapping[str, str]] = {
    "q": "query",
    "wq": "query",
    "k": "key",
    "wk": "key",
    "v": "value",
    "wv": "value",
    "wo": "out",
    "o": "out",
    "output": "out",
    "bn": "norm",
    "ln": "norm",
    "gn": "norm",
    "batchnorm": "norm",
    "layernorm": "norm",
    "fc": "linear",
    "dense": "linear",
    "lin": "linear",
    "attn": "attention",
    "mha": "attention",
    "ffn": "mlp",
    "emb": "embedding",
    "embed": "embedding",
    "embeddings": "embedding",
    "pos": "position",
    "enc": "encoder",
    "dec": "decoder",
    "shortcut": "downsample",
    "cls": "class",
    "act": "activation",
    "down": "downsample",
}
_LONGEST: Final = 120


class Spelled(NamedTuple):
    """A part of a path: its stem, and its number or final letter where it ends in one."""

    stem: str
    ordinal: int | None


@lru_cache(maxsize=65536)
def spelled(part: str) -> Spelled:
    """``layer4`` and ``layers_4`` are (layer, 4), ``conv_b`` is (conv, 2), ``0`` is ("", 0)."""
    words = _WORD.findall(part[:_LONGEST])
    ordinal = None
    if words and words[-1].isdigit() and len(words[-1]) < 10:
        ordinal = int(words.pop())
    elif len(words) > 1 and len(words[-1]) == 1 and words[-1].lower() in "abcdef":
        ordinal = ord(words.pop().lower()) - ord("a") + 1
    stem = "".join(_MEANINGS.get(word.lower(), word.lower()) for word in words)
    return Spelled(stem[:-1] if len(stem) > 3 and stem.endswith("s") and not stem.endswith("ss") else stem, ordinal)


@lru_cache(maxsize=65536)
def words_of(part: str) -> frozenset[str]:
    """The words of a part, abbreviations written out."""
    return frozenset(_MEANINGS.get(word.lower(), word.lower()) for word in _WORD.findall(part[:_LONGEST]))


@lru_cache(maxsize=65536)
def _twos(part: str) -> frozenset[str]:
    letters = "".join(_WORD.findall(part[:_LONGEST])).lower()
    return frozenset(letters[place : place + 2] for place in range(len(letters) - 1)) or frozenset((letters,))


@lru_cache(maxsize=65536)
def part_likeness(a: str, b: str) -> float:
    """How like two parts are, 0 to 1: by words, or by letters where words are written together."""
    if a == b:
        return 1.0
    words_a, words_b = words_of(a), words_of(b)
    twos_a, twos_b = _twos(a), _twos(b)
    by_words = len(words_a & words_b) / max(1, len(words_a | words_b))
    by_letters = 2 * len(twos_a & twos_b) / max(1, len(twos_a) + len(twos_b))
    return max(by_words, 0.9 * by_letters)


def path_likeness(a: tuple[str, ...], b: tuple[str, ...]) -> float:
    """How like two paths are, from their ends: the last part counts most."""
    total = weight = 0.0
    share = 1.0
    for place in range(1, max(len(a), len(b)) + 1):
        if place > 4:
            break
        weight += share
        if place <= len(a) and place <= len(b):
            total += share * part_likeness(a[-place], b[-place])
        share /= 2
    return total / weight if weight else 1.0
