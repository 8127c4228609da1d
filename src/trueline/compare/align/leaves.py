"""What frameworks call the same tensor of a module and the same slot of an optimizer."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from typing import Final

from trueline.apitable import Layer, layer_of_class, layers

_SLOTS: Final[Mapping[str, str]] = {
    "moments": "momentum_buffer",
    "moment": "momentum_buffer",
    "moment1": "exp_avg",
    "moment2": "exp_avg_sq",
    "adam_m": "exp_avg",
    "adam_v": "exp_avg_sq",
    "mean_square": "square_avg",
    "mean_grad": "grad_avg",
}
# Files name an optimizer's slot before the parameter: moments.conv1.weight.
SLOTS_BEFORE: Final = frozenset({*_SLOTS, "accum", "stat"})
# Not every file has a module's statistics: a module is known by the rest.
STATISTICS: Final = frozenset(leaf for layer in layers().values() if layer.torch for leaf in layer.statistics)

_NAMESPACES: Final = ("torch.", "mindspore.")
_CONTAINERS: Final = frozenset({"sequential", "sequentialcell", "modulelist", "celllist", "moduledict", "celldict"})
_DIMENSIONS: Final = ("1d", "2d", "3d")
# A shorter name, as PReLU's, is its layer's only where the module is one, or has no other tensors.
_TELLING: Final = 2


def common_leaves(leaves: Collection[str], kind: str) -> dict[str, str]:
    """The names of a module's own tensors in one spelling; one that another tensor has already stays as it is."""
    telling = _spellings()[0]
    weak = _weak_names(leaves, kind)
    found = {}
    for leaf in leaves:
        common = weak.get(leaf) or telling.get(leaf, leaf)
        found[leaf] = leaf if common in leaves else common
    return found


def common_slot(slot: str) -> str:
    """An optimizer's slot in one spelling."""
    return _SLOTS.get(slot, slot)


def kind_of(type_name: str) -> str:
    """The class of a framework's own layer, one word for both frameworks; "" for containers and the user's types."""
    if not type_name.startswith(_NAMESPACES):
        return ""
    layer = layer_of_class(type_name)
    if layer is not None:
        return _undimensioned(layer.kind)
    # The layers without tensors are not in the table, and mint's are named as torch's.
    word = _undimensioned(type_name.rpartition(".")[2].removesuffix("Ext").lower())
    return "" if word in _CONTAINERS else "batchnorm" if word == "syncbatchnorm" else word


def _undimensioned(word: str) -> str:
    return word[:-2] if word.endswith(_DIMENSIONS) else word


def _weak_names(leaves: Collection[str], kind: str) -> Mapping[str, str]:
    for layer, names, weak in _spellings()[1]:
        # All names are the layer's, and its first tensor is among them.
        whole = all(leaf in names for leaf in leaves) and any(
            names[leaf] == next(iter(layer.leaves)) for leaf in leaves
        )
        if whole or _undimensioned(layer.kind) == kind:
            return weak
    return {}


@cache
def _spellings() -> tuple[dict[str, str], list[tuple[Layer, dict[str, str], dict[str, str]]]]:
    """Names that tell enough by themselves; and for each layer that has others all its names, and the others."""
    telling: dict[str, str] = {}
    by_layer = []
    for layer in layers().values():
        if not layer.torch:
            continue
        names = {theirs: ours for ours, theirs in layer.leaves.items()}
        weak = {theirs: ours for ours, others in layer.older.items() for theirs in others}
        weak.update({theirs: ours for theirs, ours in names.items() if len(theirs) < _TELLING})
        telling.update({theirs: ours for theirs, ours in names.items() if theirs not in weak and "." not in theirs})
        if weak:
            by_layer.append((layer, names | weak, weak))
    return telling, by_layer
