"""Modules, gradients and optimizers, watched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adapters.numpy_toy import build, data, framework

from trueline.adapters.observer import Observer
from trueline.adapters.patching import Patches, Switch, outermost
from trueline.adapters.protocol import Installed


class Hooked:
    """Hooks in place."""

    def __init__(self) -> None:
        self.switch = Switch()
        self.patches = Patches()

    def remove(self) -> None:
        """Take all hooks away again."""
        self.switch.on = False
        self.patches.remove()


def install(observer: Observer) -> Installed:
    """Watch modules, gradients, optimizers and loaders."""
    hooked = Hooked()
    build.capture_built()
    _watch_calls(observer, hooked)
    _watch_training(observer, hooked)
    data.watch(observer, hooked.switch, hooked.patches)
    return hooked


def on_gradient(tensor: Any, receive: Callable[[Any], None]) -> None:
    """Tell the gradient that arrives at a tensor in this step's backward; silent where none will."""
    if tensor.requires_grad:
        tensor.on_gradient.append(lambda gradient: receive(framework.Tensor(gradient)))


def _watch_calls(observer: Observer, hooked: Hooked) -> None:
    depth = 0

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(module: Any, *args: Any, **kwargs: Any) -> Any:
            nonlocal depth
            told = depth == 0 or observer.wants_calls
            if told:
                observer.called(module, args, kwargs)
            depth += 1
            output = None
            try:
                output = original(module, *args, **kwargs)
            finally:
                depth -= 1
                if told:
                    observer.returned(module, args, kwargs, output)
            return output

        return call

    hooked.patches.wrap(framework.Module, "__call__", make)


def _watch_training(observer: Observer, hooked: Hooked) -> None:
    def speaks() -> bool:
        return hooked.switch.on

    def make_backward(original: Callable[..., Any]) -> Callable[..., Any]:
        def backward(loss: Any, gradient: Any = None) -> None:
            observer.loss(loss.detached(), "backward")
            observer.backward_began()
            try:
                original(loss, gradient)
            finally:
                observer.backward_ended()

        return backward

    def make_step(original: Callable[..., Any]) -> Callable[..., Any]:
        def step(optimizer: Any) -> None:
            gradients = [
                (parameter, framework.Tensor(parameter.grad))
                for group in optimizer.groups
                for parameter in group["parameters"]
                if parameter.grad is not None
            ]
            observer.step_due(optimizer)
            observer.step_began(optimizer, gradients)
            original(optimizer)
            observer.step_ended(optimizer, False)

        return step

    def mode(_result: Any, module: Any, mode: bool = True) -> None:
        observer.mode_set(module, mode)

    def zeroed(_result: Any, optimizer: Any) -> None:
        observer.zero_grad(optimizer)

    wrap = hooked.patches.wrap
    wrap(framework.Module, "train", lambda original: outermost(original, speaks, after=mode))
    wrap(framework.Optimizer, "zero_grad", lambda original: outermost(original, speaks, after=zeroed))
    wrap(framework.Optimizer, "step", make_step)
    wrap(framework.Tensor, "backward", make_backward)
