"""Events of loss and backward: the two functions that every PyNative gradient passes through."""

from __future__ import annotations

from collections.abc import Sequence

from mindspore import nn

from trueline.adapters.mindspore import values
from trueline.adapters.mindspore.cells import report_loss_scale
from trueline.adapters.mindspore.internals import PYNATIVE_BACKWARD, PYNATIVE_FORWARD
from trueline.adapters.mindspore.session import Session
from trueline.adapters.nouns import Function, Value
from trueline.adapters.patching import Patches
from trueline.adapters.tree import leaves


def watch(session: Session, patches: Patches) -> None:
    """Install the patches."""
    patches.wrap(*PYNATIVE_FORWARD, lambda original: _forward(session, original))
    patches.wrap(*PYNATIVE_BACKWARD, lambda original: _backward(session, original))


def _forward(session: Session, original: Function) -> Function:
    inside = False

    def forward(fn: Function, sens_param: object, *args: Value, **kwargs: Value) -> Value:
        nonlocal inside
        if not session.trains() or inside:
            return original(fn, sens_param, *args, **kwargs)
        if not session.trainers:
            session.settle()
            session.observer.forward_began(
                [argument for argument in _weights_in(fn, args) if values.is_tensor(argument)]
            )
        inside = True
        try:
            result = original(fn, sens_param, *args, **kwargs)
        finally:
            inside = False
        if session.trainers:
            report_loss_scale(session, session.trainers[-1])
        report_loss(session, result[1], "model" if session.trainers else "value_and_grad")
        return result

    return forward


def _backward(session: Session, original: Function) -> Function:
    inside = False

    def backward(
        fn: Function,
        grad_op: object,
        weights: Value,
        grad_position: int | Sequence[int] | None,
        has_aux: object,
        *run_args: Value,
    ) -> Value:
        nonlocal inside
        if inside or not session.is_reporting():
            return original(fn, grad_op, weights, grad_position, has_aux, *run_args)
        session.observer.backward_began()
        inside = True
        gradients: list[Value] = []
        try:
            result = original(fn, grad_op, weights, grad_position, has_aux, *run_args)
            gradients = [gradient for _, gradient in leaves(result, values.is_tensor)]
            held = [weight for _, weight in leaves(weights, values.is_tensor)] if weights is not None else []
            session.observer.aside("pulled", gradients=gradients, parameters=held)
            return result
        finally:
            inside = False
            if session.is_reporting():
                session.observer.backward_ended()
                report_parameters(session, weights, gradients, grad_position, _weights_in(fn, run_args))

    return backward


def _weights_in(function: object, arguments: Sequence[Value]) -> Sequence[Value]:
    """Candidate weights among a function's arguments; a cell has its own."""
    return () if isinstance(function, nn.Cell) else arguments


def report_parameters(
    session: Session,
    weights: Value,
    gradients: Sequence[Value],
    positions: int | Sequence[int] | None = (),
    arguments: Sequence[Value] = (),
) -> None:
    """Report the weights, or the inputs at these positions, with their gradients."""
    if not session.observer.wants_parameters:
        return
    held = [weight for _, weight in leaves(weights, values.is_tensor)] if weights is not None else []
    places = (positions,) if isinstance(positions, int) else tuple(positions or ())
    taken = [arguments[place] for place in places if place < len(arguments) and len(held) < len(gradients)]
    parameters = [*(argument for argument in taken if values.is_tensor(argument)), *held]
    known = gradients if len(gradients) == len(parameters) else [None] * len(parameters)
    session.observer.pulled(list(zip(parameters, known, strict=True)))


def report_loss(session: Session, output: Value, source: str) -> None:
    """Report a function's first output as the loss, unscaled."""
    scaled, session.scaled = session.scaled, []
    first = next((tensor for _, tensor in leaves(output, values.is_tensor)), None)
    if first is None:
        return
    value = first
    if scaled:
        session.observer.scale(scaled[-1][2])
        value = next((before for before, after, _ in scaled if after is first), None)
        if value is None:
            with session.silence(), values.without_gradient():
                value = first / scaled[-1][2]
    session.unstepped = True
    session.observer.loss(value, source)
