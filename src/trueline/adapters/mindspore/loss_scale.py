"""Loss scalers at construction, and gradients during the backward pass."""

from __future__ import annotations

from collections.abc import Callable

import mindspore as ms
from mindspore import amp, context, nn

from trueline.adapters.mindspore import values
from trueline.adapters.mindspore.build import PACKAGE
from trueline.adapters.mindspore.internals import PYNATIVE_FORWARD, grad_node
from trueline.adapters.nouns import Function, Value
from trueline.adapters.patching import Placed
from trueline.adapters.protocol import Installed
from trueline.adapters.scalers import Begin, Names, building
from trueline.adapters.tree import leaves

_SCALERS = {
    amp.DynamicLossScaler: Names("scale_value", "scale_factor", "scale_window"),
    amp.StaticLossScaler: Names("scale_value"),
    amp.DynamicLossScaleManager: Names("init_loss_scale", "scale_factor", "scale_window"),
    amp.FixedLossScaleManager: Names("loss_scale"),
    nn.DynamicLossScaleUpdateCell: Names("loss_scale_value", "scale_factor", "scale_window"),
    nn.FixedLossScaleUpdateCell: Names("loss_scale_value"),
}


def watch_scalers(begin: Begin) -> Installed:
    """Ask ``begin`` for the initial settings of every scaler constructed from now on."""
    installed = Placed()
    for kind, names in _SCALERS.items():
        installed.patches.wrap(kind, "__init__", building(names, begin, lambda _: installed.switch.on, PACKAGE))
    return installed


def multiply_losses(factor: Callable[[], float]) -> Installed:
    """From now on multiply the gradient at every loss by ``factor()``."""
    installed = Placed()

    def make(original: Function) -> Function:
        inside = False

        def forward(*args: object, **kwargs: object) -> Value:
            nonlocal inside
            if inside or not installed.switch.on:
                return original(*args, **kwargs)
            inside = True
            try:
                result = original(*args, **kwargs)
            finally:
                inside = False
            loss = next((tensor for _, tensor in leaves(result[1], values.is_tensor)), None)
            if loss is not None and grad_node(loss) is not None:
                loss.register_hook(lambda gradient: gradient * factor())
            return result

        return forward

    installed.patches.wrap(*PYNATIVE_FORWARD, make)
    return installed


def on_parameter_gradient(parameter: Value, change: Callable[[Value], Value]) -> None:
    """From now on pass every gradient of a parameter, once per backward pass, through ``change``."""
    # A graph does not call hooks, and is not compiled with them.
    if parameter.requires_grad and context.get_context("mode") != ms.GRAPH_MODE:
        parameter.register_hook(change)
