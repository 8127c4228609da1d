"""Events of cell calls, optimizer steps, and training cells that do both."""

from __future__ import annotations

from collections.abc import Sequence

import mindspore as ms
from mindspore import nn
from mindspore.experimental.optim import lr_scheduler

from trueline.adapters.mindspore import check_events, values
from trueline.adapters.mindspore.internals import OUTSIDE_NETWORKS, LearningRateSchedule, subcells
from trueline.adapters.mindspore.session import Session
from trueline.adapters.mindspore.wrappers import OPTIMIZERS, inner_name, optimizer_in, unwrap
from trueline.adapters.nouns import Foreign, Function, Network, Optimizer, Value
from trueline.adapters.patching import Patches, outermost
from trueline.adapters.seam import FRAMES
from trueline.adapters.tree import leaves
from trueline.model.recursion import ROOM

_PLAIN, _OPTIMIZER, _OUTSIDE = range(3)


def watch(session: Session, patches: Patches) -> None:
    """Install the patches."""
    patches.wrap(nn.Cell, "__call__", lambda original: _calls(session, original))

    def mode_set(_result: object, cell: Network, mode: bool = True) -> None:
        if not isinstance(cell, OPTIMIZERS):
            session.observer.mode_set(unwrap(cell), bool(mode))

    patches.wrap(nn.Cell, "set_train", lambda original: outermost(original, session.is_reporting, after=mode_set))

    def scheduled(_result: object, scheduler: Foreign, *_args: object, **_kwargs: object) -> None:
        session.observer.scheduled(scheduler)

    for kind in vars(lr_scheduler).values():
        if isinstance(kind, type) and "step" in vars(kind):
            patches.wrap(kind, "step", lambda original: outermost(original, session.is_reporting, after=scheduled))


def _role(kind: type) -> int:
    """Gradient reducers and learning rate schedules are no part of a network."""
    if issubclass(kind, OPTIMIZERS):
        return _OPTIMIZER
    outside = issubclass(kind, (nn.DistributedGradReducer, LearningRateSchedule)) or kind.__name__ in OUTSIDE_NETWORKS
    return _OUTSIDE if outside else _PLAIN


def _calls(session: Session, original: Function) -> Function:
    observer = session.observer
    roles: dict[type, int] = {}

    def call(cell: Network, /, *args: object, **kwargs: object) -> Value:
        ROOM.enter(FRAMES)
        try:
            return observed(cell, *args, **kwargs)
        finally:
            ROOM.leave(FRAMES)

    def observed(cell: Network, /, *args: object, **kwargs: object) -> Value:
        if not session.is_reporting() and not (isinstance(cell, OPTIMIZERS) and session.trains()):
            return original(cell, *args, **kwargs)
        role = roles.get(type(cell))
        if role is None:
            role = roles[type(cell)] = _role(type(cell))
        if role == _OPTIMIZER:
            return _step(session, original, cell, args, kwargs)
        if role == _OUTSIDE or (session.trainers and _is_reducer(session.trainers[-1], cell)):
            with session.silence():
                return original(cell, *args, **kwargs)
        if session.depth == 0:
            if session.graph_mode():
                return _run_graph(session, original, cell, args, kwargs)
            if inner_name(cell) is not None:
                return _run_wrapper(session, original, cell, args, kwargs)
        is_recorded = session.depth == 0 or observer.wants_calls
        if is_recorded:
            observer.called(cell, args, kwargs)
        session.depth += 1
        output = None
        try:
            output = original(cell, *args, **kwargs)
        finally:
            session.depth -= 1
            if is_recorded and session.is_reporting():
                observer.returned(cell, args, kwargs, output)
                check_events.report_cell(session, cell, args, kwargs, output)
        return output

    return call


def _is_reducer(trainer: Network, cell: Network) -> bool:
    return subcells(trainer).get("grad_reducer") is cell


def _step(
    session: Session, original: Function, optimizer: Optimizer, args: Sequence[Value], kwargs: dict[str, Value]
) -> Value:
    session.optimizer = optimizer
    session.observer.step_due(optimizer)
    session.observer.step_began(optimizer, _pairs(optimizer, args[0] if args else kwargs.get("gradients")))
    try:
        with session.silence():
            return original(optimizer, *args, **kwargs)
    finally:
        session.observer.step_ended(optimizer, False)


def _pairs(optimizer: Optimizer, gradients: Value) -> list[tuple[Value, Value]] | None:
    parameters = list(getattr(optimizer, "parameters", ()))
    if not isinstance(gradients, list | tuple) or len(gradients) != len(parameters):
        return None
    return [(parameter, grad) for parameter, grad in zip(parameters, gradients, strict=True) if values.is_tensor(grad)]


def _run_wrapper(
    session: Session, original: Function, cell: Network, args: Sequence[Value], kwargs: dict[str, Value]
) -> Value:
    """A wrapper is not reported: the network and the loss inside it are the outermost cells."""
    if optimizer_in(cell) is None:
        return original(cell, *args, **kwargs)
    session.trainers.append(cell)
    try:
        return original(cell, *args, **kwargs)
    finally:
        session.trainers.pop()


def _run_graph(
    session: Session, original: Function, cell: Network, args: Sequence[Value], kwargs: dict[str, Value]
) -> Value:
    """A compiled graph: its inputs and outputs, and if it trains, its loss and optimizer step."""
    observer = session.observer
    optimizer = optimizer_in(cell)
    name = type(unwrap(cell)).__name__
    session.notice("mindspore.graph_mode", name, module=name)
    observer.called(cell, args, kwargs)
    if optimizer is not None:
        session.optimizer = optimizer
        report_loss_scale(session, cell)
        observer.step_due(optimizer)
        observer.step_began(optimizer, None)
    output = None
    skipped = False
    try:
        with session.silence():
            output = original(cell, *args, **kwargs)
        if optimizer is not None or isinstance(cell, nn.WithEvalCell):
            skipped = _report_outcome(session, cell, output)
    except BaseException:
        if optimizer is not None:
            observer.aside("undone", optimizer=optimizer)
        raise
    finally:
        if optimizer is not None:
            observer.step_ended(optimizer, skipped)
        observer.returned(cell, args, kwargs, output)
    return output


def _report_outcome(session: Session, trainer: Network, output: Value) -> bool:
    """Report a graph's loss; True where an overflow made it skip the step."""
    outputs = [tensor for _, tensor in leaves(output, values.is_tensor)]
    if outputs:
        session.observer.loss(outputs[0], "output" if isinstance(trainer, nn.WithEvalCell) else "model")
    if isinstance(trainer, nn.TrainOneStepWithLossScaleCell) and len(outputs) >= 3:
        session.observer.scale(outputs[2])
        return bool(values.to_numpy(outputs[1]).any())
    return False


def report_loss_scale(session: Session, trainer: Network) -> None:
    """Report the loss scale (``sens``) of a training cell, if it has one."""
    sens = getattr(trainer, "sens", None)
    if isinstance(sens, int | float) and sens != 1.0:
        session.observer.scale(float(sens))
    scale = getattr(trainer, "scale_sense", None)
    if isinstance(scale, ms.Tensor):
        session.observer.scale(values.keep(scale))
