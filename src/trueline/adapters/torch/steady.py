"""Dropout disabled, so that training mode is deterministic."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn
from torch.nn import functional

from trueline.adapters.dropout import Dropping, drops_by_name, nothing, user_functions
from trueline.adapters.nouns import Function, Instead, Network, Share, Value
from trueline.adapters.patching import Patches
from trueline.adapters.torch.internals import submodules

_FUNCTIONS = (
    *("dropout", "alpha_dropout", "feature_alpha_dropout", "dropout1d", "dropout2d", "dropout3d"),
    *("dropout_", "alpha_dropout_", "feature_dropout", "feature_dropout_", "native_dropout"),
)


def work_in_order() -> None:
    """Nothing: CPU operators are synchronous."""


@contextmanager
def without_dropout(root: Network, share: Share = nothing, instead: Instead | None = None) -> Iterator[None]:
    """In this block dropout, drop-path and the like use the probability that ``share`` gives for their own.

    With ``instead`` what it makes of a value stands for what is dropped.
    """
    patches, dropping = Patches(), Dropping(share, submodules, instead)
    plain = functional.dropout
    for owner in (functional, torch):
        for name in _FUNCTIONS:
            if name != "native_dropout":
                patches.wrap(owner, name, dropping.function)
    patches.wrap(functional, "scaled_dot_product_attention", lambda original: _attention(original, dropping))
    recurrent = [(part, part.dropout) for part in root.modules() if isinstance(part, nn.RNNBase) and part.dropout]
    for part, _ in recurrent:
        part.dropout = 0.0
    for kind in {type(part) for part in root.modules() if drops_by_name(type(part))}:
        patches.wrap(kind, "forward", dropping.module(plain))
    for owner, name in user_functions("torch"):
        patches.wrap(owner, name, dropping.function)
    try:
        yield
    finally:
        patches.remove()
        for part, before in recurrent:
            part.dropout = before


def _attention(original: Function, dropping: Dropping) -> Function:
    def attend(*args: Value, **kwargs: Value) -> Value:
        given = list(args)
        if len(given) > 4:
            given[4] = dropping.wished(float(given[4]))
        elif "dropout_p" in kwargs:
            kwargs["dropout_p"] = dropping.wished(float(kwargs["dropout_p"]))
        return original(*given, **kwargs)

    return attend
