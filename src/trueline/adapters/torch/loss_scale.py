"""Loss scalers at construction, and gradients during the backward pass."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.amp import GradScaler

from trueline.adapters.nouns import Foreign, Function, Value
from trueline.adapters.patching import Placed
from trueline.adapters.protocol import Installed
from trueline.adapters.scalers import Begin, Beginning, Names, Scaler, building
from trueline.adapters.torch import values
from trueline.adapters.torch.build import PACKAGE

_NAMES = Names("init_scale", "growth_factor", "growth_interval")


def watch_scalers(begin: Begin) -> Installed:
    """Ask ``begin`` for the initial settings of every scaler constructed from now on."""
    installed = Placed()
    changed = False

    def ask(scaler: Scaler) -> Beginning | None:
        nonlocal changed
        wanted = begin(scaler)
        changed = changed or wanted is not None
        return wanted

    def is_reporting(given: Value) -> bool:
        return installed.switch.on and bool(given["enabled"])

    def make_load(original: Function) -> Function:
        # A checkpoint's scale would take the place of the one that was asked for.
        def load(scaler: Foreign, state: object) -> object:
            return None if changed and installed.switch.on else original(scaler, state)

        return load

    installed.patches.wrap(GradScaler, "__init__", building(_NAMES, ask, is_reporting, PACKAGE))
    installed.patches.wrap(GradScaler, "load_state_dict", make_load)
    return installed


def multiply_losses(factor: Callable[[], float]) -> Installed:
    """From now on multiply the gradient at every loss by ``factor()``."""
    installed = Placed()

    def make(original: Function) -> Function:
        def backward(tensors: Value, *args: object, **kwargs: object) -> Value:
            roots = (tensors,) if values.is_tensor(tensors) else tuple(tensors)
            if not installed.switch.on:
                return original(roots, *args, **kwargs)
            losses = [tensor for tensor in roots if values.is_tensor(tensor) and tensor.grad_fn is not None]
            handles = [tensor.register_hook(lambda gradient: gradient * factor()) for tensor in losses]
            try:
                return original(roots, *args, **kwargs)
            finally:
                for handle in handles:
                    handle.remove()

        return backward

    installed.patches.wrap(torch.autograd, "backward", make)
    return installed


def on_parameter_gradient(parameter: Value, change: Callable[[Value], Value]) -> None:
    """From now on pass every gradient of a parameter, once per backward pass, through ``change``."""
    if parameter.requires_grad:
        parameter.register_hook(change)
