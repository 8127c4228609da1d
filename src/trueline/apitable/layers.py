"""What torch and MindSpore call the tensors of the same layer: the rows of ``layers.toml``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, Final

# The number of a recurrent layer, and its direction: weight_ih_l0, weight_ih_l0_reverse.
_NUMBERED: Final = re.compile(r"(.*_l)(\d{1,9}(?:_reverse)?)", re.ASCII)
_ANY: Final = "*"
_TORCH: Final = ("torch.nn.modules.", "torch.nn.utils.parametrize.")
_CLASSIC: Final = "mindspore.nn.layer."
_MINT: Final = "mindspore.mint."
# torch derives a class of this name when a module's tensor is parametrised; its other tensors stay.
_DERIVED: Final = "Parametrized"


@dataclass(frozen=True, slots=True)
class Layer:
    """One kind of layer in both frameworks; leaves are the names of its own tensors, without the path.

    In a name of ``leaves`` "*" stands for a recurrent layer's number, with "_reverse" where it runs backwards:
    ``mindspore_leaf`` and ``torch_leaf`` know. A name may have a dot where the other framework has a child there.
    """

    kind: str
    torch: tuple[str, ...]
    mindspore: tuple[str, ...]
    leaves: Mapping[str, str]
    older: Mapping[str, tuple[str, ...]]
    children: Mapping[str, str]
    only_torch: tuple[str, ...]
    only_mindspore: tuple[str, ...]
    inserted: Mapping[str, int]
    statistics: frozenset[str]
    optional: frozenset[str]
    neutral: Mapping[str, float]
    order: tuple[str, ...]
    note: str

    def mindspore_leaf(self, leaf: str) -> str | None:
        """MindSpore's name of torch's leaf; None for one that is not of this layer, or has no counterpart."""
        name, number = _numbered(leaf)
        found = self.leaves.get(name)
        return None if found is None or _ANY in leaf else found.replace(_ANY, number)

    def torch_leaf(self, leaf: str) -> str | None:
        """torch's name of MindSpore's leaf, in any of its spellings; None for one that is not of this layer."""
        name, number = _numbered(leaf)
        for ours, theirs in self.leaves.items():
            if _ANY not in leaf and (theirs == name or leaf in self.older.get(ours, ())):
                return ours.replace(_ANY, number)
        return None

    def in_torch_order(self, leaves: Iterable[str]) -> list[str]:
        """torch's names of the layer's tensors in the order torch lists them: layer by layer where numbered."""
        places = {leaf: place for place, leaf in enumerate((*self.leaves, *self.only_torch))}

        def place(leaf: str) -> tuple[tuple[int, str], int]:
            name, number = _numbered(leaf)
            return _rank(number), places.get(leaf, places.get(name, len(places)))

        return sorted(leaves, key=place)

    def in_mindspore_order(self, leaves: Iterable[str]) -> list[str]:
        """torch's names of the layer's tensors in the order MindSpore lists them: name by name where numbered."""
        places = {leaf: place for place, leaf in enumerate(self.order)}

        def place(leaf: str) -> tuple[int, tuple[int, str]]:
            name, number = _numbered(leaf)
            return places.get(leaf, places.get(name, len(places))), _rank(number)

        return sorted(leaves, key=place)


@cache
def layers() -> Mapping[str, Layer]:
    """All kinds of layers, by kind."""
    text = resources.files("trueline.apitable").joinpath("layers.toml").read_text("utf-8")
    return MappingProxyType({kind: _layer(kind, row) for kind, row in tomllib.loads(text).items()})


@cache
def tensor_names(*kinds: str) -> frozenset[str]:
    """What either framework calls the tensors of some kinds of layers."""
    rows = [layers()[kind] for kind in kinds]
    paired = {name for row in rows for pair in row.leaves.items() for name in pair}
    return frozenset(paired.union(*((*row.only_torch, *row.only_mindspore) for row in rows)))


def layer_of_class(name: str) -> Layer | None:
    """The layer of a class by its qualified name (``torch.nn.modules.conv.Conv1d``, ``mindspore.nn.Conv1d``).

    None for containers, users' classes and those of MindSpore that keep torch's names: see ``keeps_torch_names``.
    """
    package, _, word = name.rpartition(".")
    if package == "torch.nn" or name.startswith(_TORCH):
        return _classes("torch").get(word.removeprefix(_DERIVED))
    if package == "mindspore.nn" or name.startswith(_CLASSIC):
        return _classes("mindspore").get(word)
    return None


def keeps_torch_names(name: str) -> bool:
    """Whether a class of MindSpore names and shapes its tensors as torch does: those of mindspore.mint.nn."""
    package, _, word = name.rpartition(".")
    if name.startswith(_MINT):
        return True
    # Some of mint's classes live among the classic ones.
    return (package == "mindspore.nn" or name.startswith(_CLASSIC)) and (word == "Linear" or word.endswith("Ext"))


@cache
def _classes(framework: str) -> Mapping[str, Layer]:
    return {name: row for row in layers().values() for name in getattr(row, framework)}


def _layer(kind: str, row: Mapping[str, Any]) -> Layer:
    leaves = row.get("leaves", {})
    return Layer(
        kind,
        tuple(row["torch"]),
        tuple(row["mindspore"]),
        MappingProxyType(leaves),
        MappingProxyType({leaf: tuple(names) for leaf, names in row.get("older", {}).items()}),
        MappingProxyType(row.get("children", {})),
        tuple(row.get("only_torch", ())),
        tuple(row.get("only_mindspore", ())),
        MappingProxyType(row.get("inserted", {})),
        frozenset(row.get("statistics", ())),
        frozenset(row.get("optional", ())),
        MappingProxyType(row.get("neutral", {})),
        tuple(row.get("order", leaves)),
        row.get("note", ""),
    )


def _numbered(leaf: str) -> tuple[str, str]:
    found = _NUMBERED.fullmatch(leaf)
    return (found[1] + _ANY, found[2]) if found else (leaf, "")


def _rank(number: str) -> tuple[int, str]:
    digits, _, direction = number.partition("_")
    return int(digits or 0), direction
