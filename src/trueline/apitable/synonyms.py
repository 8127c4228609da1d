"""What MindSpore calls the arguments that torch has under other names: the lines of ``synonyms.toml``."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources


@cache
def _table() -> dict[str, tuple[str, ...]]:
    text = resources.files("trueline.apitable").joinpath("synonyms.toml").read_text("utf-8")
    return {name: tuple(words.split()) for name, words in tomllib.loads(text).items()}


def synonyms(name: str) -> tuple[str, ...]:
    """MindSpore's names of an argument of torch's, likeliest first; none for one that both call the same."""
    return _table().get(name, ())
