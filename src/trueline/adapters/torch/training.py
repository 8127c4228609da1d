"""Events of loss, backward, scaler, clipping, optimizer, scheduler and mode."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence

import torch
from torch import nn
from torch.optim import lr_scheduler
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from trueline.adapters import child_processes
from trueline.adapters.nouns import Foreign, Function, Optimizer, Value
from trueline.adapters.observer import Observer, harmless
from trueline.adapters.patching import Patches, Switch, outermost
from trueline.adapters.torch import (
    check_events,
    differentiation,
    internals,
    loss_functions,
    nonfinite_reads,
    penalties,
    values,
)
from trueline.adapters.training_thread import TrainingThread

# How many autograd nodes before a loss its scaling is looked for in: a few sums and products.
_MAX_NODES_TO_SCALE = 16


def watch(observer: Observer, switch: Switch, patches: Patches, thread: TrainingThread) -> None:
    """Install the patches."""

    def is_reporting() -> bool:
        is_recorded = switch.on and not torch.compiler.is_compiling() and thread.is_recorded()
        # A tensor that stands for many has no numbers that could be read.
        return is_recorded and not differentiation.is_batched()

    def trains() -> bool:
        return switch.trains() and not torch.compiler.is_compiling() and thread.trains()

    scaled = _Scaled()
    _watch_backward(observer, trains, patches, scaled)
    _watch_scaler(observer, is_reporting, patches, scaled)
    _watch_optimizers(observer, is_reporting, trains, patches)
    _watch_clipping(observer, is_reporting, patches)
    differentiation.watch(observer, trains, patches)
    loss_functions.watch(observer, is_reporting, patches)
    check_events.watch(observer, is_reporting, patches)
    child_processes.watch(observer, patches, nn.Module)
    penalties.watch(observer, is_reporting, patches, scaled.is_scaled)
    if observer.wants_reads:
        nonfinite_reads.watch(observer, is_reporting, patches)
    for owner in (internals.SPAWN_MODULE, torch.multiprocessing):
        patches.wrap(
            owner,
            "start_processes",
            lambda original: outermost(
                original, is_reporting, before=lambda *_, **__: observer.notice(child_processes.NOTICE)
            ),
        )
    patches.wrap(
        nn.Module,
        "train",
        lambda original: outermost(
            original, is_reporting, after=lambda _result, module, mode=True: observer.mode_set(module, bool(mode))
        ),
    )


class _Scaled:
    """Losses that a scaler has multiplied, so that the loss of a backward can be reported unscaled."""

    def __init__(self) -> None:
        self._seen: deque[tuple[Value, Value, Value]] = deque(maxlen=8)

    def remember(self, before: Value, after: Value, scale: Value) -> None:
        if values.is_tensor(before):
            self._seen.append((values.keep(before), after, scale))
        elif isinstance(before, list | tuple):
            for loss, scaled in zip(before, after, strict=False):
                self.remember(loss, scaled, scale)

    def unscaled(self, loss: Value) -> Value:
        for kept, after, scale in reversed(self._seen):
            if after is loss:
                return kept
            if after.grad_fn is not None and after.grad_fn in _nearest(loss.grad_fn):
                return values.keep(loss) / scale
        return loss

    def is_scaled(self, loss: Value) -> bool:
        """Whether a scaler has multiplied this loss, or a part of it."""
        nodes = _nearest(loss.grad_fn)
        return any(
            after is loss or (after.grad_fn is not None and after.grad_fn in nodes) for _, after, _ in self._seen
        )

    def forget(self) -> None:
        self._seen.clear()


def _nearest(node: Foreign) -> list[Foreign]:
    """The autograd nodes nearest to a tensor."""
    nearest: list[Foreign] = []
    waiting = deque([node])
    while waiting and len(nearest) < _MAX_NODES_TO_SCALE:
        node_before = waiting.popleft()
        if node_before is not None:
            nearest.append(node_before)
            waiting.extend(before for before, _ in node_before.next_functions)
    return nearest


def _watch_backward(observer: Observer, trains: Callable[[], bool], patches: Patches, scaled: _Scaled) -> None:
    def make(original: Function) -> Function:
        def backward(tensors: Value, *args: object, **kwargs: object) -> Value:
            if not trains():
                return original(tensors, *args, **kwargs)
            # An iterator can be gone through once: what was looked at is what is handed on.
            losses = (tensors,) if values.is_tensor(tensors) else tuple(tensors)
            for loss in losses:
                if values.is_tensor(loss):
                    observer.loss(scaled.unscaled(loss), "backward")
            scaled.forget()
            reached = differentiation.reached_by(losses) if observer.wants_parameters else []
            observer.backward_began()
            try:
                return original(losses, *args, **kwargs)
            finally:
                observer.backward_ended()
                if reached:
                    observer.pulled([(parameter, parameter.grad) for parameter in reached])

        return backward

    patches.wrap(torch.autograd, "backward", make)


def _watch_scaler(observer: Observer, is_reporting: Callable[[], bool], patches: Patches, scaled: _Scaled) -> None:
    from torch.amp import GradScaler

    def scale(result: Value, scaler: Foreign, outputs: Value) -> None:
        if scaler.is_enabled():
            scaled.remember(outputs, result, internals.scale_of(scaler))
            observer.scale(values.keep(internals.scale_of(scaler)))
            observer.scaled_by(scaler)

    def unscale(_result: object, scaler: Foreign, optimizer: Optimizer) -> None:
        if scaler.is_enabled():
            observer.unscaled(optimizer)

    def make_step(original: Function) -> Function:
        def step(scaler: Foreign, optimizer: Optimizer, *args: object, **kwargs: object) -> object:
            if not is_reporting() or not scaler.is_enabled():
                return original(scaler, optimizer, *args, **kwargs)
            fired: list[bool] = []
            handle = optimizer.register_step_post_hook(lambda *_: fired.append(True))
            try:
                result = original(scaler, optimizer, *args, **kwargs)
            finally:
                handle.remove()
            if not fired:
                observer.step_due(optimizer)
                observer.step_began(optimizer, None)
                observer.step_ended(optimizer, True)
            return result

        return step

    patches.wrap(GradScaler, "scale", lambda original: outermost(original, is_reporting, after=scale))
    patches.wrap(GradScaler, "unscale_", lambda original: outermost(original, is_reporting, after=unscale))
    patches.wrap(GradScaler, "step", make_step)


def _watch_optimizers(
    observer: Observer, is_reporting: Callable[[], bool], trains: Callable[[], bool], patches: Patches
) -> None:
    def report_beginning(optimizer: Optimizer) -> None:
        pairs = [
            (parameter, parameter.grad)
            for group in optimizer.param_groups
            for parameter in group["params"]
            if parameter.grad is not None
        ]
        observer.step_began(optimizer, pairs)

    # With a closure, forward and backward happen inside the step: only after it are the gradients its own.
    def before(optimizer: Optimizer, args: Sequence[object], kwargs: Mapping[str, object]) -> None:
        if torch.compiler.is_compiling():
            return
        with harmless(observer):
            if trains():
                observer.step_due(optimizer)
                if not _has_closure(args, kwargs):
                    report_beginning(optimizer)

    def after(optimizer: Optimizer, args: Sequence[object], kwargs: Mapping[str, object]) -> None:
        if torch.compiler.is_compiling():
            return
        with harmless(observer):
            if is_reporting():
                if _has_closure(args, kwargs):
                    report_beginning(optimizer)
                observer.step_ended(optimizer, False)

    patches.on_remove(register_optimizer_step_pre_hook(before).remove)
    patches.on_remove(register_optimizer_step_post_hook(after).remove)

    def zeroed(_result: object, owner: Foreign, *_args: object, **_kwargs: object) -> None:
        observer.zero_grad(owner)

    for owner in (torch.optim.Optimizer, nn.Module):
        patches.wrap(owner, "zero_grad", lambda original: outermost(original, is_reporting, after=zeroed))

    def scheduled(_result: object, scheduler: Foreign, *_args: object, **_kwargs: object) -> None:
        if not internals.is_initial_step(scheduler):
            observer.scheduled(scheduler)

    for kind in _scheduler_kinds():
        patches.wrap(kind, "step", lambda original: outermost(original, is_reporting, after=scheduled))


def _has_closure(args: Sequence[object], kwargs: Mapping[str, object]) -> bool:
    """Whether the arguments of a step contain a closure; the optimizer is among them."""
    return any(
        callable(argument) and not isinstance(argument, torch.optim.Optimizer) for argument in (*args, *kwargs.values())
    )


def _scheduler_kinds() -> Iterator[type]:
    for kind in vars(lr_scheduler).values():
        if isinstance(kind, type) and "step" in vars(kind):
            yield kind


def _watch_clipping(observer: Observer, is_reporting: Callable[[], bool], patches: Patches) -> None:
    # The arguments are called as torch calls them: scripts may name them.
    def by_norm(norm: Value, parameters: Value, max_norm: Value, *_args: object, **_kwargs: object) -> None:
        observer.clipped("norm", float(max_norm), norm)
        report(parameters)

    def report(parameters: Value) -> None:
        held = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
        with_gradient = [parameter for parameter in held if parameter.grad is not None]
        observer.aside("clipping", parameters=with_gradient, count=len(with_gradient))

    def by_value(parameters: Value, clip_value: Value, *_args: object, **_kwargs: object) -> None:
        held = [parameters] if isinstance(parameters, torch.Tensor) else parameters
        with torch.no_grad():
            norm = values.norm([parameter.grad for parameter in held if parameter.grad is not None])
        observer.clipped("value", float(clip_value), norm)
        report(held)

    for owner in (nn.utils, nn.utils.clip_grad):
        patches.wrap(
            owner, "clip_grad_norm_", lambda original: _listed(outermost(original, is_reporting, after=by_norm))
        )
        patches.wrap(
            owner, "clip_grad_value_", lambda original: _listed(outermost(original, is_reporting, before=by_value))
        )


def _listed(function: Function) -> Function:
    """Makes a list of parameters that can be iterated only once, such as a generator."""

    def call(parameters: Value, *args: object, **kwargs: object) -> Value:
        once = isinstance(parameters, Iterator)
        return function(list(parameters) if once else parameters, *args, **kwargs)

    return call
