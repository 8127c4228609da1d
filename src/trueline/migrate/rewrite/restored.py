"""Arguments in which the frameworks differ, and which do a draft no harm: a helper restores torch's meaning."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final

from trueline.apitable.pairs import Documented, Kind

# torch's layer: the argument, and the helper that has it.
_RESTORED: Final[Mapping[str, tuple[str, str]]] = {
    "torch.nn.Embedding": ("padding_idx", "PaddedEmbedding"),
    "torch.nn.Conv1d": ("padding_mode", "PaddedConv1d"),
    "torch.nn.Conv2d": ("padding_mode", "PaddedConv2d"),
    "torch.nn.Conv3d": ("padding_mode", "PaddedConv3d"),
}


def restoring_helper(pair: Documented, given: Mapping[str, ast.expr]) -> tuple[str, str]:
    """The argument of a layer that a helper restores, and the helper; "" where none is needed."""
    argument, helper = _RESTORED.get(pair.torch, ("", ""))
    needed = argument in given and ast.unparse(given[argument]) != dict(pair.torch_parameters).get(argument)
    return (argument, helper) if needed else ("", "")


def judged(pair: Documented, given: Mapping[str, str]) -> Mapping[str, str]:
    """The arguments of a call, as source, that the table of differences is asked about."""
    restored, _ = _RESTORED.get(pair.torch, ("", ""))
    return {name: text for name, text in given.items() if name != restored and not _is_weaker(pair, name, text)}


def _is_weaker(pair: Documented, name: str, text: str) -> bool:
    """Whether an optimizer's eps is at most the default: where it is added differs, and matters less the less it is."""
    if name != "eps" or pair.kind is not Kind.OPTIMIZER:
        return False
    try:
        return float(text) <= float(dict(pair.torch_parameters).get(name) or 0)
    except ValueError:
        return False
