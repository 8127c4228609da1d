"""What frameworks call the same tensor of a module and the same slot of an optimizer."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

_LEAVES: Final[Mapping[str, str]] = {
    "gamma": "weight",
    "beta": "bias",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
    "embedding_table": "weight",
}
# A name as short as PReLU's is a slope only where the module is one, or has nothing else.
_SLOPES: Final = ("a", "w")
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
STATISTICS: Final = frozenset({"running_mean", "running_var", "num_batches_tracked"})

_NAMESPACES: Final = ("torch.", "mindspore.")
_CLASSES: Final[Mapping[str, str]] = {
    "dense": "linear",
    "nondynamicallyquantizablelinear": "linear",
    "syncbatchnorm": "batchnorm",
    "convtranspose": "transposedconv",
    "conv2dtranspose": "transposedconv",
    "conv1dtranspose": "transposedconv",
    "conv3dtranspose": "transposedconv",
}
_CONTAINERS: Final = frozenset({"sequential", "sequentialcell", "modulelist", "celllist", "moduledict", "celldict"})


def common_leaves(leaves: Collection[str], kind: str) -> dict[str, str]:
    """The names of a module's own tensors in one spelling; one that another tensor has already stays as it is."""
    found = {}
    for leaf in leaves:
        common = _LEAVES.get(leaf, leaf)
        if leaf in _SLOPES and (kind == "prelu" or len(leaves) == 1):
            common = "weight"
        found[leaf] = leaf if common in leaves else common
    return found


def common_slot(slot: str) -> str:
    """An optimizer's slot in one spelling."""
    return _SLOTS.get(slot, slot)


def kind_of(type_name: str) -> str:
    """The class of a framework's own layer, one word for both frameworks; "" for containers and the user's types."""
    if not type_name.startswith(_NAMESPACES):
        return ""
    word = type_name.rpartition(".")[2].lower()
    if word in _CLASSES:
        return _CLASSES[word]
    if word[-2:] in ("1d", "2d", "3d"):
        word = word[:-2]
    return "" if word in _CONTAINERS else _CLASSES.get(word, word)
