"""Hooks that observe a training run without changes to the user's script."""

from __future__ import annotations

from collections.abc import Callable

import torch

from trueline.adapters.hidden_frames import leave_out_of_warnings
from trueline.adapters.nouns import Value
from trueline.adapters.observer import Observer
from trueline.adapters.patching import Placed
from trueline.adapters.protocol import Installed
from trueline.adapters.torch import build, calls, collectives, data, training
from trueline.adapters.training_thread import TrainingThread
from trueline.model.recursion import ROOM


def install(observer: Observer) -> Installed:
    """Report all events to the observer from now on."""
    hooks = Placed(observer.turn_off, torch.compiler.is_compiling)
    leave_out_of_warnings()
    build.capture_built()
    thread = TrainingThread(lambda: observer.notice("record.other_thread"))
    for room in (calls, training, data):
        room.watch(observer, hooks.switch, hooks.patches, thread)
    collectives.watch(observer, hooks.switch, hooks.patches)
    ROOM.begin()
    hooks.patches.on_remove(ROOM.end)
    return hooks


def on_gradient(tensor: Value, receive: Callable[[Value], None]) -> None:
    """Pass on the gradient that arrives at a tensor in this step's backward, if any."""
    if tensor.requires_grad:
        tensor.register_hook(lambda gradient: receive(gradient))
