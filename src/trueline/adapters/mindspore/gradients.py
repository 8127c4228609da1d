"""Loss and backward: the two functions through which every gradient in PyNative goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.ops.composite import base

from trueline.adapters.mindspore import values
from trueline.adapters.mindspore.cells import tell_sens
from trueline.adapters.mindspore.telling import Telling
from trueline.adapters.patching import Patches
from trueline.adapters.tree import leaves


def watch(telling: Telling, patches: Patches) -> None:
    """Put both in place."""
    patches.wrap(base, "_pynative_forward_run", lambda original: _forward(telling, original))
    patches.wrap(base, "_pynative_func_grad_backward", lambda original: _backward(telling, original))


def _forward(telling: Telling, original: Callable[..., Any]) -> Callable[..., Any]:
    inside = False

    def forward(fn: Any, sens_param: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal inside
        if inside or not telling.speaks():
            return original(fn, sens_param, *args, **kwargs)
        if not telling.trainers:
            telling.settle()
        inside = True
        try:
            result = original(fn, sens_param, *args, **kwargs)
        finally:
            inside = False
        if telling.trainers:
            tell_sens(telling, telling.trainers[-1])
        tell_loss(telling, result[1], "model" if telling.trainers else "value_and_grad")
        return result

    return forward


def _backward(telling: Telling, original: Callable[..., Any]) -> Callable[..., Any]:
    inside = False

    def backward(*args: Any, **kwargs: Any) -> Any:
        nonlocal inside
        if inside or not telling.speaks():
            return original(*args, **kwargs)
        telling.observer.backward_began()
        inside = True
        try:
            result = original(*args, **kwargs)
            telling.observer.aside("pulled", gradients=[one for _, one in leaves(result, values.is_tensor)])
            return result
        finally:
            inside = False
            if telling.speaks():
                telling.observer.backward_ended()

    return backward


def tell_loss(telling: Telling, output: Any, source: str) -> None:
    """A function's first output as the loss, without the scale that a scaler has put on it."""
    scaled, telling.scaled = telling.scaled, []
    found = next((one for _, one in leaves(output, values.is_tensor)), None)
    if found is None:
        return
    value = found
    if scaled:
        telling.observer.scale(scaled[-1][2])
        value = next((before for before, after, _ in scaled if after is found), None)
        if value is None:
            with telling.silence(), values.without_gradient():
                value = found / scaled[-1][2]
    telling.unstepped = True
    telling.observer.loss(value, source)
