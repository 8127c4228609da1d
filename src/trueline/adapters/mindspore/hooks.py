"""Hooks that observe a training run without changes to the user's script."""

from __future__ import annotations

from collections.abc import Callable

import mindspore as ms
from mindspore import nn

from trueline.adapters import child_processes
from trueline.adapters.hidden_frames import leave_out_of_warnings
from trueline.adapters.mindspore import build, cells, check_events, collectives, data, gradients, jit, scaling
from trueline.adapters.mindspore.internals import grad_node
from trueline.adapters.mindspore.session import Session
from trueline.adapters.nouns import Value
from trueline.adapters.observer import Observer
from trueline.adapters.patching import Patches
from trueline.adapters.protocol import Installed
from trueline.model.recursion import ROOM


class _Hooks:
    def __init__(self, observer: Observer) -> None:
        self.session = Session(observer)
        self.patches = Patches(observer.turn_off)

    def remove(self) -> None:
        if self.session.is_reporting():
            self.session.settle()
        self.session.switch.on = False
        self.patches.remove()
        ROOM.end()


def install(observer: Observer) -> Installed:
    """Report all events to the observer from now on, on this thread."""
    hooks = _Hooks(observer)
    leave_out_of_warnings()
    build.capture_built()
    for room in (cells, gradients, scaling, jit, data, check_events, collectives):
        room.watch(hooks.session, hooks.patches)
    child_processes.watch(observer, hooks.patches, nn.Cell)
    ROOM.begin()
    return hooks


def on_gradient(tensor: Value, receive: Callable[[Value], None]) -> None:
    """Pass on the gradient that arrives at a tensor in this step's backward, if any."""
    # A hook on a parameter would outlive the step.
    if grad_node(tensor) is not None and not isinstance(tensor, ms.Parameter):

        def arrived(gradient: Value) -> None:
            # None at an output that the loss does not depend on.
            if gradient is not None:
                receive(gradient)

        tensor.register_hook(arrived)
