"""What PyTorch's calls give, and what its trainers do by themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from trueline.model.location import Location
from trueline.script.reading.elements import HELD_LAYERS, element_of, hold_layers, layers_in, registered_in
from trueline.script.roles import Role, is_network, is_optimizer
from trueline.script.trace import LOOP, WITH, Event, Scope
from trueline.script.values import (
    Const,
    Function,
    Instance,
    Item,
    Made,
    Seq,
    Symbol,
    Table,
    Unknown,
    Value,
    options,
)
from trueline.script.walking import walk_each

if TYPE_CHECKING:
    from trueline.script.reading.calling import Calling

# Layers that a function is applied to one by one: a deep network has the same few kinds many times.
MAX_APPLIED_LAYERS: Final = 80


def itself(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """Methods of networks that give the network back."""
    del reader, node
    receiver = event.receiver
    if is_network(receiver):
        event.role = {"train": Role.TRAIN_MODE, "eval": Role.EVAL_MODE}.get(event.method, event.role)
        if event.method in ("train", "set_train"):
            given = event.arg(0, "mode")
            if isinstance(given, Const):
                event.role = Role.TRAIN_MODE if given.value else Role.EVAL_MODE
            elif given is not None:
                event.role = None
            else:
                event.role = Role.TRAIN_MODE
        return receiver
    if event.method in ("train", "eval", "set_train") and event.name.startswith("?"):
        # On something of which nothing is known, as a parameter: still what it says.
        if event.method == "eval":
            event.role = Role.EVAL_MODE
        elif event.method == "set_train" or not event.args:
            given = event.arg(0, "mode")
            off = isinstance(given, Const) and given.value is False
            event.role = Role.EVAL_MODE if off else Role.TRAIN_MODE
        return receiver if event.method != "train" else None
    return None


def first(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """Wrappers that behave as what they wrap."""
    del reader, node
    return event.arg(0, "module", "model", "net", "network", "fn", "obj", "func")


def in_order(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """A chain of layers that is called: each after the other."""
    held = layers_in(event.receiver)
    if held is None:
        return None
    value: Value = event.args[0] if event.args else Unknown("input")
    event.role = Role.FORWARD
    for layer in held[0]:
        before = len(reader.machine.trace.events)
        value = reader.call(layer, (value,), {}, node)
        for other_event in reader.machine.trace.events[before : before + 1]:
            other_event.in_chain = True
    return value


def chain_made(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """``super().__init__(*layers)`` of a chain of the project's own."""
    del reader, node
    if not isinstance(event.receiver, Instance):
        return None
    event.receiver.attributes[HELD_LAYERS] = Seq("list", list(event.args), event.open)
    return Const(None)


def _layer_added(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """``layers.append(layer)`` and its like."""
    del node
    second = event.method in ("insert", *_REGISTERING)
    value = event.arg(1 if second else 0, "module", "modules", "tensor", "param", "child_cell")
    if value is None:
        return None
    if isinstance(event.receiver, Instance) and layers_in(event.receiver) is None:
        return _registered(event, value)
    reader.machine.take_down_repeated(value, event.place)
    added = value.items if event.method == "extend" and isinstance(value, Seq) else [value]
    more = reader.machine.in_loop() or (isinstance(value, Seq) and value.open)
    return event.receiver if hold_layers(reader, event.receiver, added, more=more) else None


_REGISTERING: Final = ("add_module", "register_module", "register_buffer", "register_parameter", "insert_child_to_cell")


def _registered(event: Event, value: Value) -> Value | None:
    """``self.add_module(name, layer)`` and its like."""
    name, owner = event.arg(0, "name", "child_name"), event.receiver
    if event.method not in _REGISTERING or not isinstance(owner, Instance) or not is_network(owner):
        return None
    owner.attributes[str(name.value) if isinstance(name, Const) else f"*{len(owner.attributes)}"] = value
    return Const(None)


def _applied(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """``net.apply(function)``: called with every layer, the network last."""
    function = event.arg(0, "fn")
    if not is_network(event.receiver):
        return None
    if isinstance(function, Function):
        for network in options(event.receiver):
            for layer in reversed(list(islice(registered_in(network), MAX_APPLIED_LAYERS))):
                reader.call(function, (layer,), {}, node)
    return event.receiver


def _step(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """``optimizer.step(closure)`` calls its closure."""
    closure = event.arg(0, "closure")
    if is_optimizer(event.receiver) and isinstance(closure, Function):
        return reader.call(closure, (), {}, node)
    return None


def _called_later(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """``checkpoint(function, *args)``."""
    if not event.args:
        return None
    return reader.call(event.args[0], event.args[1:], {}, node)


def _spawned(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    function, args = event.arg(0, "fn"), event.arg(1, "args")
    if isinstance(function, Function):
        given = args.items if isinstance(args, Seq) else []
        reader.call(function, (Unknown("rank"), *given), {}, node)
    return None


def _split(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    del reader, node
    parts = event.arg(1, "lengths")
    count = len(parts.items) if isinstance(parts, Seq) and not parts.open else 0
    made = event.result
    if made is None or not count:
        return None
    return Seq("list", [Item(made, Const(at)) for at in range(count)])


def _prepared(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """Accelerate gives back what it was given."""
    del reader, node
    if not event.args or "ccelerat" not in event.name:
        return None
    return event.args[0] if len(event.args) == 1 else Seq("tuple", list(event.args))


def _fit(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """Lightning's trainer: what it does with a module, in its order."""
    if not event.name.startswith("lightning."):
        return None
    module = event.arg(0, "model")
    if not isinstance(module, Instance):
        return None
    machine = reader.machine
    place = machine.place(node)
    source = event.arg(1, "datamodule", "train_dataloaders") or event.arg(None, "datamodule")
    optimizers = _optimizers(_asked(reader, module, "configure_optimizers", (), node))
    holder = source if isinstance(source, Instance) else module
    for name in ("prepare_data", "setup"):
        if isinstance(holder, Instance):
            _asked(reader, holder, name, (Const("fit"),) if name == "setup" else (), node)
    loader = _asked(reader, holder, "train_dataloader", (), node) if isinstance(holder, Instance) else None
    loader = loader if loader is not None else source or Unknown("loader")
    checks = _asked(reader, holder, "val_dataloader", (), node) if isinstance(holder, Instance) else None
    checks = checks if checks is not None else event.arg(2, "val_dataloaders")
    manual = module.attributes.get("automatic_optimization")
    by_itself = not (isinstance(manual, Const) and manual.value is False)
    with machine.within(Scope(LOOP, place, Unknown("epochs"))):
        implied(reader, Role.TRAIN_MODE, "lightning.train", place, module)
        with machine.within(Scope(LOOP, place, loader)):
            batch = element_of(reader, loader, node)
            loss = _asked(reader, module, "training_step", (batch, Unknown("batch_idx")), node)
            if by_itself:
                for optimizer in optimizers or [Unknown("optimizer")]:
                    implied(reader, Role.ZERO_GRAD, "lightning.zero_grad", place, optimizer)
                implied(reader, Role.BACKWARD, "lightning.backward", place, _loss_of(loss))
                for optimizer in optimizers or [Unknown("optimizer")]:
                    implied(reader, Role.STEP, "lightning.step", place, optimizer)
        if checks is not None:
            implied(reader, Role.EVAL_MODE, "lightning.eval", place, module)
            no_grad = Scope(WITH, place, Symbol("torch.no_grad"))
            with machine.within(Scope(LOOP, place, checks)), machine.within(no_grad):
                batch = element_of(reader, checks, node)
                _asked(reader, module, "validation_step", (batch, Unknown("batch_idx")), node)
    return Const(None)


def _loss_of(value: Value | None) -> Value:
    if isinstance(value, Table) and "loss" in value.items:
        return value.items["loss"]
    return value if value is not None else Unknown("loss")


@walk_each()
def _optimizers(value: Value | None) -> Iterator[Value]:
    if value is not None and is_optimizer(value):
        yield value
    elif isinstance(value, Table):
        yield from _optimizers(value.items.get("optimizer"))
    elif isinstance(value, Seq):
        for item in value.items:
            yield from _optimizers(item)


def _asked(reader: Calling, owner: Instance, name: str, args: tuple[Value, ...], node: ast.AST) -> Value | None:
    method = reader.attribute(owner, name, node)
    return reader.call(method, args, {}, node) if isinstance(method, Function) else None


def implied(reader: Calling, role: Role, name: str, place: Location, receiver: Value) -> Event:
    """What a framework does by itself."""
    event = reader.machine.happened(name, place, (), {}, receiver, implied=True)
    event.role = role
    return event


def _hf_train(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """Hugging Face's Trainer does the whole loop."""
    trainer = event.receiver
    if not (
        isinstance(trainer, Made) and trainer.name.endswith("Trainer") and trainer.name.startswith("transformers.")
    ):
        return None
    machine = reader.machine
    place = machine.place(node)
    model = trainer.event.arg(0, "model") or Unknown("model")
    data = trainer.event.arg(None, "train_dataset") or Unknown("data")
    with machine.within(Scope(LOOP, place, Unknown("epochs"))), machine.within(Scope(LOOP, place, data)):
        implied(reader, Role.TRAIN_MODE, "transformers.train", place, model)
        result = reader.call(model, (element_of(reader, data, node),), {}, node)
        for role, name in (
            (Role.BACKWARD, "backward"),
            (Role.CLIP, "clip"),
            (Role.STEP, "step"),
            (Role.ZERO_GRAD, "zero_grad"),
        ):
            implied(reader, role, f"transformers.{name}", place, result if role is Role.BACKWARD else trainer)
    return Unknown("output")


BY_NAME: Final = {
    **dict.fromkeys(
        (
            "torch.compile",
            "torch.jit.script",
            "torch.jit.trace",
            "torch.nn.DataParallel",
            "torch.nn.parallel.DistributedDataParallel",
            "torch.distributed.fsdp.FullyShardedDataParallel",
            "torch.distributed.fsdp.fully_shard",
            "torch.nn.SyncBatchNorm.convert_sync_batchnorm",
            "torch.nn.utils.parametrizations.weight_norm",
            "torch.nn.utils.parametrizations.spectral_norm",
            "torch.nn.utils.weight_norm",
            "torch.nn.utils.spectral_norm",
        ),
        first,
    ),
    "torch.nn.Sequential.__call__": in_order,
    "torch.nn.Sequential.__init__": chain_made,
    "torch.utils.checkpoint.checkpoint": _called_later,
    "torch.multiprocessing.spawn": _spawned,
    "torch.utils.data.random_split": _split,
    "lightning.Trainer.fit": _fit,
    "transformers.Trainer.train": _hf_train,
    "transformers.Seq2SeqTrainer.train": _hf_train,
}
BY_METHOD: Final = {
    **dict.fromkeys(
        ("to", "cuda", "cpu", "train", "eval", "double", "float", "half", "bfloat16", "requires_grad_", "type",
         "share_memory", "to_empty", "compile"),
        itself,
    ),
    **dict.fromkeys(("append", "extend", "insert", *_REGISTERING), _layer_added),
    "apply": _applied,
    "step": _step,
    "prepare": _prepared,
    "prepare_model": _prepared,
    "fit": _fit,
}  # fmt: skip
