"""The toy has no loss scalers; its gradients can be changed on their way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from adapters.numpy_toy import framework

from trueline.adapters.patching import Placed
from trueline.adapters.protocol import Installed
from trueline.adapters.scalers import Begin


def watch_scalers(begin: Begin) -> Installed:
    """There are none."""
    del begin
    return Placed()


def multiply_losses(factor: Callable[[], float]) -> Installed:
    """Begin every backward pass with another gradient."""
    installed = Placed()

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def backward(loss: Any, gradient: Any = None) -> None:
            original(loss, (np.ones_like(loss.data) if gradient is None else gradient) * factor())

        return backward

    installed.patches.wrap(framework.Tensor, "backward", make)
    return installed


def on_parameter_gradient(parameter: Any, change: Callable[[Any], Any]) -> None:
    """Send every gradient of a parameter through a function."""
    parameter.on_gradient.append(lambda gradient: change(framework.Tensor(gradient)).data)
