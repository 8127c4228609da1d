"""The tensors of a file by module, and what a module is taken for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from trueline.apitable.layers import Layer
from trueline.migrate.held import Held
from trueline.model.finding import Certainty
from trueline.model.message import Message

Shape = tuple[int, ...]


class Naming(StrEnum):
    """Whose names."""

    TORCH = "torch"
    MINDSPORE = "mindspore"


@dataclass(frozen=True, slots=True)
class Recognised:
    """What a module is taken for; ``layer`` is None where its names are its own, ``label`` is for people."""

    label: str
    layer: Layer | None
    certainty: Certainty
    why: Message


@dataclass(slots=True)
class Module:
    """The tensors of a module, by leaf, and the names of its children."""

    path: str
    leaves: dict[str, Held] = field(default_factory=dict)
    children: dict[str, None] = field(default_factory=dict)

    def shape(self, leaf: str) -> Shape | None:
        """The shape of one of its tensors."""
        held = self.leaves.get(leaf)
        return held.shape if held is not None else None

    @property
    def word(self) -> str:
        """The last part of its path that is not a number."""
        parts = [part for part in self.path.lower().split(".") if not part.isdigit()]
        return parts[-1] if parts else ""


def modules_of(arrays: Sequence[Held]) -> dict[str, Module]:
    """The modules by path, in the order of their first tensors; those above them too."""
    found: dict[str, Module] = {}
    for held in arrays:
        module = found.setdefault(held.path, Module(held.path))
        module.leaves[held.leaf] = held
        path = held.path
        while path:
            path, _, name = path.rpartition(".")
            above = found.setdefault(path, Module(path))
            if name in above.children:
                break
            above.children[name] = None
    return found
