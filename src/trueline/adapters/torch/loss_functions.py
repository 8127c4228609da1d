"""Events of loss functions: their arguments, and in evaluation the loss, which has no backward there."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Final

import torch
from torch.nn import functional

from trueline.adapters.nouns import Foreign, Function, Value
from trueline.adapters.observer import Observer
from trueline.adapters.patching import Patches, outermost
from trueline.adapters.torch import values
from trueline.adapters.torch.internals import tracing_state

_NAMES: Final = (
    *("cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div"),
    *("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"),
)

_VIEWS: Final = frozenset(
    (
        *("View", "UnsafeView", "ReshapeAlias", "Squeeze", "Unsqueeze", "Select", "Slice"),
        *("Transpose", "Permute", "T", "ToCopy", "Clone", "Alias", "Expand", "Index"),
    )
)
# How many reshapes and casts may stand between an operator and the loss.
_MAX_VIEWS: Final = 6


def watch(observer: Observer, is_reporting: Callable[[], bool], patches: Patches) -> None:
    """Report the arguments of loss functions, and their results where gradients are disabled."""

    def reporter(name: str, original: Function) -> Callable[..., None]:
        parameters = list(inspect.signature(original).parameters.values())
        defaults = {
            parameter.name: parameter.default
            for parameter in parameters[2:]
            if parameter.default is not parameter.empty
        }
        names = [parameter.name for parameter in parameters]

        def report(result: Value, *args: object, **kwargs: object) -> None:
            if tracing_state() is not None or not values.is_tensor(result):
                return
            given = {**dict(zip(names, args, strict=False)), **kwargs}
            if torch.is_grad_enabled():
                prediction, target = given.get(names[0]), given.get(names[1])
                node = _maker(getattr(prediction, "grad_fn", None))
                observer.aside(
                    "criterion",
                    name=name,
                    prediction=prediction,
                    target=target,
                    settings={**defaults, **{setting: given[setting] for setting in names[2:] if setting in given}},
                    value=result,
                    made_by=None if node is None else _plain(node),
                )
            elif result.numel() == 1:
                observer.loss(result, "output")

        return report

    originals = {name: getattr(functional, name) for name in _NAMES if hasattr(functional, name)}
    for name, function in originals.items():
        report = reporter(name, function)
        patches.wrap(functional, name, lambda original, report=report: outermost(original, is_reporting, after=report))  # type: ignore[misc]


def _plain(node: Foreign) -> str:
    """An operator's name: ``Softmax`` for SoftmaxBackward0."""
    return str(node.name()).partition("Backward")[0]


def _maker(node: Foreign) -> Foreign:
    """The operator that computed a tensor, skipping reshapes, indexing and casts."""
    for _ in range(_MAX_VIEWS):
        if node is None or _plain(node) not in _VIEWS:
            break
        node = node.next_functions[0][0]
    return node
