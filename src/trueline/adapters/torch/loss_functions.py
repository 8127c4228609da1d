"""Losses of an evaluation: without gradients no backward shows which number is the loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch
from torch.nn import functional

from trueline.adapters.observer import Observer
from trueline.adapters.patching import Patches, outermost
from trueline.adapters.torch import values

_NAMES: Final = (
    *("cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div"),
    *("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"),
)


def watch(observer: Observer, speaks: Callable[[], bool], patches: Patches) -> None:
    """Tell what the loss functions give where no gradient is asked for."""

    def told(result: Any, *_args: Any, **_kwargs: Any) -> None:
        if torch.is_grad_enabled() or torch._C._get_tracing_state() is not None:
            return
        if values.is_tensor(result) and result.numel() == 1:
            observer.loss(result, "output")

    originals = {name: getattr(functional, name) for name in _NAMES if hasattr(functional, name)}
    for name in originals:
        patches.wrap(functional, name, lambda original: outermost(original, speaks, after=told))
    patches.wrap(torch.jit, "script", lambda original: _with(originals, original))


def _with(originals: dict[str, Any], original: Callable[..., Any]) -> Callable[..., Any]:
    """TorchScript compiles a function from its source: it must find the framework's own."""

    def script(*args: Any, **kwargs: Any) -> Any:
        now = {name: getattr(functional, name) for name in originals}
        try:
            for name, one in originals.items():
                setattr(functional, name, one)
            return original(*args, **kwargs)
        finally:
            for name, one in now.items():
                setattr(functional, name, one)

    return script
