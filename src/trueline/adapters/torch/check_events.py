"""Events for checks only: loaded weights, schedules at construction, functional dropout."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import torch
from torch import nn
from torch.nn import functional
from torch.optim import lr_scheduler

from trueline.adapters.lines import is_called_by_user
from trueline.adapters.nouns import Foreign, Function, Network, Unreadable, Value
from trueline.adapters.observer import Observer
from trueline.adapters.patching import Patches, outermost
from trueline.adapters.torch import values
from trueline.adapters.torch.build import PACKAGE
from trueline.kernel import UnsupportedDtype, fingerprint

_DROPOUTS: Final = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")


def watch(observer: Observer, is_reporting: Callable[[], bool], patches: Patches) -> None:
    """Install the patches."""
    patches.wrap(nn.Module, "load_state_dict", lambda original: _loading(observer, is_reporting, original))
    _watch_schedules(observer, is_reporting, patches)
    _watch_initialisers(observer, is_reporting, patches)
    for name in _DROPOUTS:
        patches.wrap(functional, name, lambda original: _dropping(observer, is_reporting, original))
    patches.wrap(
        functional, "scaled_dot_product_attention", lambda original: _attending(observer, is_reporting, original)
    )


def _loading(observer: Observer, is_reporting: Callable[[], bool], original: Function) -> Function:
    inside = False

    def load_state_dict(module: Network, state_dict: Mapping[str, Value], *args: object, **kwargs: object) -> object:
        nonlocal inside
        if inside or not is_reporting() or not isinstance(module, nn.Module):
            return original(module, state_dict, *args, **kwargs)
        names = set(module.state_dict(keep_vars=True))
        before = _fingerprints(module)
        inside = True
        try:
            result = original(module, state_dict, *args, **kwargs)
        finally:
            inside = False
        given = set(state_dict)
        after = _fingerprints(module)
        observer.aside(
            "loaded",
            kind=type(module).__name__,
            given=len(given),
            wanted=len(names),
            missing=sorted(names - given),
            unexpected=sorted(given - names),
            changed=sum(before.get(name) != after.get(name) for name in names & given),
        )
        return result

    return load_state_dict


def _fingerprints(module: Network) -> dict[str, int]:
    fingerprints: dict[str, int] = {}
    for name, tensor in module.state_dict(keep_vars=True).items():
        if values.is_tensor(tensor):
            try:
                fingerprints[name] = fingerprint(values.to_numpy(tensor))
            except (Unreadable, UnsupportedDtype):
                continue
    return fingerprints


def _watch_schedules(observer: Observer, is_reporting: Callable[[], bool], patches: Patches) -> None:
    inside = False

    def make(original: Function) -> Function:
        def init(scheduler: Foreign, *args: object, **kwargs: object) -> None:
            nonlocal inside
            if inside or not is_reporting():
                original(scheduler, *args, **kwargs)
                return
            inside = True
            try:
                original(scheduler, *args, **kwargs)
            finally:
                inside = False
            built(scheduler, *args, **kwargs)

        return init

    def built(scheduler: Foreign, *args: object, **kwargs: object) -> None:
        given = [*args, *kwargs.values()]
        inner = [schedule for part in given for schedule in (part if isinstance(part, list | tuple) else [part])]
        within = sum(isinstance(schedule, lr_scheduler.LRScheduler) for schedule in inner)
        observer.aside("schedule", kind=type(scheduler).__name__, within=within)

    kinds = [kind for kind in vars(lr_scheduler).values() if isinstance(kind, type) and "__init__" in vars(kind)]
    for kind in kinds:
        if issubclass(kind, lr_scheduler.LRScheduler):
            patches.wrap(kind, "__init__", make)


def _watch_initialisers(observer: Observer, is_reporting: Callable[[], bool], patches: Patches) -> None:
    # The arguments are called as torch calls them: scripts may name them.
    def filled(_result: object, tensor: Value, *_args: object, **_kwargs: object) -> None:
        observer.aside("initialised", parameter=tensor)

    for name, function in vars(nn.init).items():
        if name.endswith("_") and not name.startswith("_") and callable(function):
            patches.wrap(nn.init, name, lambda original: outermost(original, is_reporting, after=filled))


def _dropping(observer: Observer, is_reporting: Callable[[], bool], original: Function) -> Function:
    def drop(input: Value, p: float = 0.5, training: bool = True, inplace: bool = False) -> Value:
        # A module that rests does so by its mode, which is reported as such.
        if not torch.compiler.is_compiling() and is_reporting() and (training or is_called_by_user(PACKAGE)):
            observer.aside("dropout", rate=p if training else 0.0)
        return original(input, p, training, inplace)

    return drop


def _attending(observer: Observer, is_reporting: Callable[[], bool], original: Function) -> Function:
    def attend(
        query: Value,
        key: Value,
        value: Value,
        attn_mask: Value = None,
        dropout_p: float = 0.0,
        *rest: Value,
        **named: Value,
    ) -> Value:
        if not torch.compiler.is_compiling() and is_reporting() and (dropout_p or is_called_by_user(PACKAGE)):
            observer.aside("dropout", rate=dropout_p)
        return original(query, key, value, attn_mask, dropout_p, *rest, **named)

    return attend
