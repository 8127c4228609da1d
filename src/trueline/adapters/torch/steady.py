"""Dropout and its kin made identity, so that training mode gives the same numbers twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from trueline.adapters.patching import Patches
from trueline.adapters.randomly_dropping import drops_by_name, user_functions

_FUNCTIONS = (
    *("dropout", "alpha_dropout", "feature_alpha_dropout", "dropout1d", "dropout2d", "dropout3d"),
    *("dropout_", "alpha_dropout_", "feature_dropout", "feature_dropout_", "native_dropout"),
)


def work_in_order() -> None:
    """Nothing to do: operators on a CPU are finished when they return."""


@contextmanager
def without_dropout(root: Any) -> Iterator[None]:
    """In this block dropout, drop-path and the like return what they are given, functional ones too."""
    patches = Patches()
    for owner in (functional, torch):
        for name in _FUNCTIONS:
            if name != "native_dropout":
                patches.wrap(owner, name, lambda _: lambda value, *_args, **_kwargs: value)
    attention = functional.scaled_dot_product_attention

    def undropped(*args: Any, **kwargs: Any) -> Any:
        given = list(args)
        if len(given) > 4:
            given[4] = 0.0
        return attention(*given, **{**kwargs, **({"dropout_p": 0.0} if "dropout_p" in kwargs else {})})

    patches.wrap(functional, "scaled_dot_product_attention", lambda _: undropped)
    recurrent = [(one, one.dropout) for one in root.modules() if isinstance(one, nn.RNNBase) and one.dropout]
    for one, _ in recurrent:
        one.dropout = 0.0
    kinds = {type(one) for one in root.modules() if drops_by_name(type(one))}
    for kind in kinds:
        patches.wrap(kind, "forward", lambda _: lambda _module, value, *_args, **_kwargs: value)
    for owner, name in user_functions("torch"):
        patches.wrap(owner, name, lambda _: _first)
    try:
        yield
    finally:
        patches.remove()
        for one, before in recurrent:
            one.dropout = before


_first: Callable[..., Any] = lambda value, *_args, **_kwargs: value  # noqa: E731
