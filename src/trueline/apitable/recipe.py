"""Optimizers, losses and clipping under one name for both frameworks, with their settings: recipe.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from types import MappingProxyType


class Part(StrEnum):
    """A part of the recipe."""

    OPTIMIZER = "optimizer"
    LOSS = "loss"
    CLIP = "clip"


@dataclass(frozen=True, slots=True)
class Entry:
    """One kind of a part: its settings by our name, each with the names of the frameworks' arguments."""

    part: Part
    kind: str
    settings: Mapping[str, tuple[str, ...]]
    # Settings of which only counts whether they are given.
    given: tuple[str, ...]
    # Kinds of one family do the same, unless a setting that keeps them apart is not 0.
    family: str
    apart: str | None


@cache
def entries() -> Mapping[str, Entry]:
    """The entries by the full names of the frameworks' classes and functions."""
    text = resources.files("trueline.apitable").joinpath("recipe.toml").read_text("utf-8")
    by_name: dict[str, Entry] = {}
    for part, kinds in tomllib.loads(text).items():
        for kind, row in kinds.items():
            settings = {name: tuple(arguments.split()) for name, arguments in row["settings"].items()}
            given = tuple(row.get("given", "").split())
            family, apart = row.get("family", kind), row.get("apart")
            entry = Entry(Part(part), kind, MappingProxyType(settings), given, family, apart)
            by_name.update(dict.fromkeys(row["names"].split(), entry))
    return MappingProxyType(by_name)
