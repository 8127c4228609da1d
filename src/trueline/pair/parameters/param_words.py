"""Which parameters something is said of, in a few words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from trueline.apitable.layers import keeps_torch_names, layer_of_class
from trueline.model.message import Message, message
from trueline.pair.questions.described import Described

_MOST_NAMES: Final = 3
_MOST_KINDS: Final = 4


def role_of(described: Described, path: str) -> tuple[str, str]:
    """The kind of layer that a parameter, by its attribute path, belongs to, and torch's name of it there."""
    module, _, leaf = path.rpartition(".")
    name = described.classes.get(module, "")
    layer = layer_of_class(name)
    if layer is None:
        kind = name.rpartition(".")[2].removesuffix("Ext") if keeps_torch_names(name) else described.types.get(module)
        return (kind or "").lower(), leaf
    own = layer.torch_leaf(leaf) if described.framework == "mindspore" else leaf
    return layer.kind, own or leaf


def said_of(described: Described, paths: Sequence[str], of: int) -> Message:
    """Parameters by what they are, how many, and the first of them; ``of`` is how many there are in all."""
    if len(paths) == of:
        return message("pair_update.all_parameters", count=of)
    kinds = Counter(" ".join(role_of(described, path)).strip() for path in paths)
    shown = ", ".join(kind for kind, _ in kinds.most_common(_MOST_KINDS)) + (" …" if len(kinds) > _MOST_KINDS else "")
    names = ", ".join(paths[:_MOST_NAMES]) + (" …" if len(paths) > _MOST_NAMES else "")
    return message("pair_update.some_parameters", count=len(paths), of=of, kinds=shown, names=names)


def common_module(paths: Sequence[str]) -> str:
    """The module that holds all of these parameters; "" is the whole network."""
    parts = [path.split(".")[:-1] for path in paths]
    found: list[str] = []
    for each in zip(*parts, strict=False):
        if len(set(each)) > 1:
            break
        found.append(each[0])
    return ".".join(found)
