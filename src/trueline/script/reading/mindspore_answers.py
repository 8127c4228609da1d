"""What MindSpore's calls give, and what its training cells and Model do by themselves."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from trueline.model.location import Location
from trueline.script.reading.elements import element_of
from trueline.script.reading.torch_answers import chain_made, first, implied, in_order, itself
from trueline.script.roles import Role, is_network
from trueline.script.trace import GRAD, LOOP, Event, Scope
from trueline.script.values import (
    Attribute,
    Const,
    Function,
    Instance,
    Made,
    Partial,
    Seq,
    Unknown,
    Value,
    constant,
    options,
)

if TYPE_CHECKING:
    from trueline.script.reading.calling import Calling

_TRAIN_CELLS: Final = (
    "mindspore.nn.TrainOneStepCell",
    "mindspore.nn.TrainOneStepWithLossScaleCell",
    "mindspore.nn.ForwardValueAndGrad",
)


def _differentiated(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """``value_and_grad`` and ``grad`` give a function that gives gradients."""
    del reader, node
    function = event.arg(0, "fn")
    how = "value_and_grad" if event.method == "value_and_grad" else "grad"
    return Partial(how, function, event.args[1:], dict(event.kwargs), event) if function is not None else None


def _grad_called(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """The function that gives gradients is called: first what it differentiates, then backward."""
    partial = event.receiver
    if not isinstance(partial, Partial):
        return None
    machine = reader.machine
    # The event stands for the call as such; what counts is what happens in it.
    with machine.within(Scope(GRAD, event.place, partial)):
        value = reader.call(partial.function, event.args, dict(event.kwargs), node)
    loss = value.items[0] if isinstance(value, Seq) and value.items else value
    done = machine.happened("mindspore.backward", event.place, (), {}, loss, implied=True)
    done.role = Role.BACKWARD
    gradients = Made(done)
    if partial.how == "value_and_grad":
        return Seq("tuple", [value, gradients])
    if bool(constant(partial.event.arg(None, "has_aux"), False)):
        return Seq("tuple", [gradients, Unknown("aux", (value,))])
    return gradients


def _grad_operation(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """``GradOperation(get_by_list=True)(network, weights)`` gives the same."""
    del reader, node
    made = event.receiver
    if not isinstance(made, Made) or not event.args:
        return None
    return Partial("grad", event.args[0], event.args[1:], dict(event.kwargs), event)


def _with_loss(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """``WithLossCell(network, loss)`` is called with data and label."""
    parts = _made_args(event.receiver, ("backbone", "loss_fn"))
    if parts is None or len(event.args) < 2:
        return None
    output = reader.call(parts[0], event.args[:-1], {}, node)
    return reader.call(parts[1], (output, event.args[-1]), {}, node)


def _train_one_step(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """``TrainOneStepCell(network with loss, optimizer)`` is called: forward, backward, update."""
    parts = _made_args(event.receiver, ("network", "optimizer"))
    if parts is None:
        return None
    loss = reader.call(parts[0], event.args, dict(event.kwargs), node)
    implied(reader, Role.BACKWARD, "mindspore.backward", event.place, loss)
    implied(reader, Role.STEP, "mindspore.step", event.place, parts[1])
    event.role = None
    return loss


def _made_args(value: Value | None, names: tuple[str, str]) -> tuple[Value, Value] | None:
    for part in options(value):
        if isinstance(part, Made):
            values = [part.event.arg(at, name) for at, name in enumerate(names)]
            if values[0] is not None and values[1] is not None:
                return values[0], values[1]
        if isinstance(part, Instance) and all(name in part.attributes for name in names):
            return part.attributes[names[0]], part.attributes[names[1]]
    return None


def _train_cell_made(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """``super().__init__(network, optimizer)`` of a training cell of the project's own: what it finds on itself."""
    del reader, node
    instance = event.receiver
    if not isinstance(instance, Instance):
        return None
    network, optimizer = event.arg(0, "network"), event.arg(1, "optimizer")
    held = instance.attributes
    held["network"] = network if network is not None else Unknown("network")
    held["optimizer"] = optimizer if optimizer is not None else Unknown("optimizer")
    held["weights"] = Attribute(held["optimizer"], "parameters")
    held["grad"] = _grad_maker(event)
    held["sens"] = event.arg(2, "sens") or Const(1.0)
    held["grad_reducer"] = _identity(event)
    return Const(None)


def _grad_maker(event: Event) -> Value:
    return Made(Event("mindspore.ops.GradOperation", event.place, (), {"get_by_list": Const(True)}))


def _identity(event: Event) -> Value:
    return Made(Event("mindspore.ops.Identity", event.place))


def _through(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """``Identity()(x)`` is x."""
    del reader, node
    return event.arg(0)


def _loss_cell_made(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """``super().__init__(backbone, loss_fn)`` of a WithLossCell of the project's own."""
    del reader, node
    instance = event.receiver
    if isinstance(instance, Instance):
        for at, name in enumerate(("backbone", "loss_fn")):
            value = event.arg(at, name)
            if value is not None:
                instance.attributes[f"_{name}"] = instance.attributes[name] = value
    return Const(None)


def _model_train(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """``Model.train`` and ``fit``: the loop over the dataset."""
    model = event.receiver
    if not isinstance(model, Made):
        return None
    made, machine, place = model.event, reader.machine, event.place
    network = made.arg(0, "network") or Unknown("network")
    loss_fn, optimizer = made.arg(1, "loss_fn"), made.arg(2, "optimizer")
    data = event.arg(1, "train_dataset") or Unknown("data")
    with machine.within(Scope(LOOP, place, event.arg(0, "epoch"), name="epochs")):
        implied(reader, Role.TRAIN_MODE, "mindspore.train.set_train", place, network)
        with machine.within(Scope(LOOP, place, data)):
            _model_step(reader, network, loss_fn, optimizer, data, place, node)
            _call_back(reader, event, ("on_train_step_end", "step_end"), node)
        checks = event.arg(2, "valid_dataset") if event.method == "fit" else None
        if checks is not None:
            _model_eval_loop(reader, network, loss_fn, checks, place, node)
        _call_back(reader, event, ("on_train_epoch_end", "epoch_end"), node)
    return Const(None)


def _call_back(reader: Calling, event: Event, names: tuple[str, ...], node: ast.AST) -> None:
    """What the callbacks of the project's own do then."""
    given = event.arg(3 if event.method == "fit" else 2, "callbacks")
    for value in given.items if isinstance(given, Seq) else options(given):
        if isinstance(value, Instance):
            for name in names:
                method = reader.attribute(value, name, node)
                if isinstance(method, Function):
                    reader.call(method, (Unknown("run_context"),), {}, node)


def _model_step(
    reader: Calling,
    network: Value,
    loss_fn: Value | None,
    optimizer: Value | None,
    data: Value,
    place: Location,
    node: ast.AST,
) -> None:
    batch = element_of(reader, data, node)
    sample: Value = Attribute(batch, "data")
    label: Value = Attribute(batch, "label")
    if _is_train_cell(network):
        reader.call(network, (sample, label), {}, node)
        return
    if loss_fn is None or constant(loss_fn, 0) is None:
        loss = reader.call(network, (sample, label), {}, node)
    else:
        loss = reader.call(loss_fn, (reader.call(network, (sample,), {}, node), label), {}, node)
    if optimizer is not None and constant(optimizer, 0) is not None:
        implied(reader, Role.BACKWARD, "mindspore.backward", place, loss)
        implied(reader, Role.STEP, "mindspore.step", place, optimizer)


def _is_train_cell(network: Value) -> bool:
    for value in options(network):
        if isinstance(value, Made) and value.name in _TRAIN_CELLS:
            return True
        if isinstance(value, Instance) and value.is_a(*_TRAIN_CELLS):
            return True
    return False


def _model_eval(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    model = event.receiver
    if not isinstance(model, Made) or is_network(model):
        return None
    network = model.event.arg(None, "eval_network") or model.event.arg(0, "network") or Unknown("network")
    data = event.arg(0, "valid_dataset") or Unknown("data")
    _model_eval_loop(reader, network, model.event.arg(1, "loss_fn"), data, event.place, node)
    return Unknown("metrics", (model,))


def _model_eval_loop(
    reader: Calling, network: Value, loss_fn: Value | None, data: Value, place: Location, node: ast.AST
) -> None:
    machine = reader.machine
    implied(reader, Role.EVAL_MODE, "mindspore.train.set_eval", place, network)
    with machine.within(Scope(LOOP, place, data)):
        batch = element_of(reader, data, node)
        output = reader.call(network, (Attribute(batch, "data"),), {}, node)
        if loss_fn is not None and constant(loss_fn, 0) is not None:
            reader.call(loss_fn, (output, Attribute(batch, "label")), {}, node)


def _built_train(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """``build_train_network(network, optimizer, loss_fn)`` is a training cell."""
    del reader, node
    return Made(
        Event(
            "mindspore.nn.TrainOneStepCell",
            event.place,
            (
                Made(
                    Event(
                        "mindspore.nn.WithLossCell",
                        event.place,
                        _pair(event.arg(0, "network"), event.arg(2, "loss_fn")),
                    )
                ),
                event.arg(1, "optimizer") or Unknown("optimizer"),
            ),
        )
    )


def _pair(value: Value | None, other_value: Value | None) -> tuple[Value, Value]:
    return value if value is not None else Unknown("network"), other_value if other_value is not None else Unknown(
        "loss"
    )


BY_NAME: Final = {
    "mindspore.value_and_grad": _differentiated,
    "mindspore.grad": _differentiated,
    "trueline.value_and_grad": _grad_called,
    "trueline.grad": _grad_called,
    "mindspore.ops.GradOperation.__call__": _grad_operation,
    "mindspore.ops.Identity.__call__": _through,
    "mindspore.nn.Identity.__call__": _through,
    "mindspore.nn.WithLossCell.__call__": _with_loss,
    **dict.fromkeys((f"{name}.__call__" for name in _TRAIN_CELLS), _train_one_step),
    **dict.fromkeys((f"{name}.__init__" for name in _TRAIN_CELLS), _train_cell_made),
    "mindspore.nn.WithLossCell.__init__": _loss_cell_made,
    "mindspore.nn.SequentialCell.__call__": in_order,
    "mindspore.nn.SequentialCell.__init__": chain_made,
    "mindspore.train.Model.train": _model_train,
    "mindspore.train.Model.fit": _model_train,
    "mindspore.train.Model.eval": _model_eval,
    "mindspore.amp.build_train_network": _built_train,
    "mindspore.amp.auto_mixed_precision": first,
    "mindspore.jit": first,
}
BY_METHOD: Final = {
    "set_train": itself,
    "to_float": itself,
    "recompute": itself,
    "set_grad": itself,
    "shard": itself,
}
