"""What an event does in training, whatever the framework calls it."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import Final

from trueline.apitable.functions import classes_of, names_of, qualified_of
from trueline.apitable.traits import Trait
from trueline.script.factories import is_factory
from trueline.script.trace import Event
from trueline.script.values import Attribute, Instance, Made, Unknown, Value, options


class Role(StrEnum):
    """What happens in a training loop and around it."""

    BUILD_OPTIMIZER = "build_optimizer"
    BUILD_SCHEDULER = "build_scheduler"
    BUILD_LOADER = "build_loader"
    ZERO_GRAD = "zero_grad"
    BACKWARD = "backward"
    UNSCALE = "unscale"
    CLIP = "clip"
    STEP = "step"
    SCALER_STEP = "scaler_step"
    SCALER_UPDATE = "scaler_update"
    SCHEDULER_STEP = "scheduler_step"
    TRAIN_MODE = "train_mode"
    EVAL_MODE = "eval_mode"
    FORWARD = "forward"
    LOSS = "loss"


OPTIMIZERS: Final = classes_of(Trait.OPTIMIZER)
_OPTIMIZER_ROOMS: Final = (
    "torch.optim.",
    "mindspore.nn.",
    "mindspore.experimental.optim.",
    "mindspore.mint.optim.",
    "apex.optimizers.",
    "bitsandbytes.optim.",
    "timm.optim.",
    "transformers.",
)
LOSSES: Final = names_of(Trait.LOSS)
LOADERS: Final = qualified_of(Trait.LOADER)
NETWORKS: Final = (
    "torch.nn.Module",
    "lightning.LightningModule",
    "mindspore.nn.Cell",
    "mindspore.nn.TrainOneStepCell",
    "mindspore.nn.WithLossCell",
    "mindspore.nn.LossBase",
    "mindspore.nn.TrainOneStepWithLossScaleCell",
    "transformers.PreTrainedModel",
)
_SCHEDULER_ROOMS: Final = ("torch.optim.lr_scheduler.", "mindspore.experimental.optim.lr_scheduler.")
_SCALERS: Final = ("torch.amp.GradScaler", "mindspore.amp.DynamicLossScaler", "mindspore.amp.StaticLossScaler")


def is_network(value: Value | None) -> bool:
    """Whether it is a module or cell, of the project or of a library."""
    for part in options(value):
        if isinstance(part, Instance):
            if any(base in NETWORKS or _looks_like_layer(base) for base in part.cls.library_bases()):
                return True
        elif isinstance(part, Made) and (is_factory(part.name) or (part.is_object and _looks_like_layer(part.name))):
            return True
    return False


@lru_cache(maxsize=65536)
def _looks_like_layer(name: str) -> bool:
    if not name.startswith(("torch.nn.", "mindspore.nn.", "mindspore.mint.nn.", "torchvision.models.")):
        return False
    last = name.rpartition(".")[2]
    return last[:1].isupper() and not is_optimizer_name(name) and last not in ("Parameter",)


def is_optimizer_name(name: str) -> bool:
    """Whether a library's class is an optimizer."""
    room, _, last = name.rpartition(".")
    return last in OPTIMIZERS and f"{room}.".startswith(_OPTIMIZER_ROOMS)


def is_optimizer(value: Value | None) -> bool:
    """Whether it is an optimizer, or one of the project's made from a library's."""
    for part in options(value):
        if isinstance(part, Made) and is_optimizer_name(part.name):
            return True
        if isinstance(part, Instance) and any(
            is_optimizer_name(base) or base.endswith("optim.Optimizer") or base == "mindspore.nn.Optimizer"
            for base in part.cls.library_bases()
        ):
            return True
    return False


def is_scheduler(value: Value | None) -> bool:
    """Whether it is a schedule of learning rates with steps of its own."""
    for part in options(value):
        if isinstance(part, Made) and part.name.startswith(_SCHEDULER_ROOMS):
            return True
        if isinstance(part, Instance) and any(base.startswith(_SCHEDULER_ROOMS) for base in part.cls.library_bases()):
            return True
    return False


def is_scaler(value: Value | None) -> bool:
    """Whether it scales losses."""
    return any(isinstance(part, Made) and part.name in _SCALERS for part in options(value))


def is_loss_name(name: str) -> bool:
    """Whether a call of this name gives a loss."""
    name = name.removesuffix(".__call__")
    return name.rpartition(".")[2] in LOSSES and name.startswith(("torch.", "mindspore."))


def role_of(event: Event) -> Role | None:
    """What an event does, by its name and by what it is called on."""
    name, receiver = event.name, event.receiver
    if receiver is None:
        return _role_of_function(name)
    role = _by_method(event.method, receiver)
    if role is not None:
        return role
    if event.method == "__call__":
        if is_loss_name(name):
            return Role.LOSS
        if is_optimizer(receiver):
            # MindSpore's optimizers are called with the gradients.
            return Role.STEP
        return Role.FORWARD if is_network(receiver) else None
    return None


def _role_of_function(name: str) -> Role | None:
    if is_optimizer_name(name):
        return Role.BUILD_OPTIMIZER
    if name.startswith(_SCHEDULER_ROOMS) and name.rpartition(".")[2][:1].isupper():
        return Role.BUILD_SCHEDULER
    if name in LOADERS:
        return Role.BUILD_LOADER
    if name.rpartition(".")[2][:1].islower() and is_loss_name(name):
        return Role.LOSS
    if name.startswith("torch.nn.utils.clip_grad") or name in (
        "mindspore.ops.clip_by_global_norm",
        "mindspore.ops.clip_by_norm",
    ):
        return Role.CLIP
    if name == "torch.autograd.backward":
        return Role.BACKWARD
    return None


def _by_method(method: str, receiver: Value) -> Role | None:
    if method == "backward":
        return Role.BACKWARD
    if method in ("zero_grad", "clear_grad", "clear_grads"):
        return Role.ZERO_GRAD
    if method == "unscale_" or (method == "unscale" and is_scaler(receiver)):
        return Role.UNSCALE
    if method == "step":
        if is_scaler(receiver):
            return Role.SCALER_STEP
        if is_scheduler(receiver):
            return Role.SCHEDULER_STEP
        return Role.STEP if is_optimizer(receiver) else _by_hint(receiver)
    if method == "update" and is_scaler(receiver):
        return Role.SCALER_UPDATE
    if method == "adjust" and is_scaler(receiver):
        return Role.SCALER_UPDATE
    if method in ("clip_grad_norm_", "clip_gradients", "clip_grad_value_"):
        return Role.CLIP
    return None


_ENGINES: Final = ("accelerate.", "lightning.", "deepspeed.", "torch.autograd.backward")
_ENGINE_NAMES: Final = ("accelerator", "fabric", "engine", "strategy")


def loss_given(event: Event) -> Value | None:
    """The loss of a backward that is called on something else and given it: ``accelerator.backward(loss)``."""
    given = event.arg(0, "loss", "tensor", "tensors")
    by_name = event.receiver is not None and hint(event.receiver).lower().endswith(_ENGINE_NAMES)
    known = event.name.startswith(_ENGINES) or isinstance(event.receiver, Instance) or by_name
    return given if known and given is not None else event.receiver


def _by_hint(receiver: Value) -> Role | None:
    """What ``step`` does to something of which only the name is known, as of a parameter."""
    name = hint(receiver).lower()
    if "sched" in name:
        return Role.SCHEDULER_STEP
    if "scaler" in name:
        return Role.SCALER_STEP
    return Role.STEP if "opt" in name or name in ("optim", "sgd", "adam") else None


def hint(value: Value) -> str:
    """The name of the parameter or attribute that a value came in by, where that is all there is; else nothing."""
    if isinstance(value, Unknown):
        return value.why.removeprefix("parameter ") if value.why.startswith("parameter ") else ""
    return value.name if isinstance(value, Attribute) else ""
