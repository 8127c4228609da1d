"""One full name for what libraries offer under several."""

from __future__ import annotations

from functools import cache
from typing import Final

# The first that fits is put in place of the beginning; longer ones first.
_BEGINNINGS: Final = (
    ("pytorch_lightning.", "lightning."),
    ("lightning.pytorch.", "lightning."),
    ("torch.cuda.amp.autocast_mode.", "torch.amp."),
    ("torch.cuda.amp.grad_scaler.", "torch.amp."),
    ("torch.amp.autocast_mode.", "torch.amp."),
    ("torch.amp.grad_scaler.", "torch.amp."),
    ("torch.cuda.amp.", "torch.amp."),
    ("torch.cpu.amp.", "torch.amp."),
    ("torch.utils.data._utils.collate.", "torch.utils.data."),
    ("torch.utils.data.dataloader.", "torch.utils.data."),
    ("torch.utils.data.dataset.", "torch.utils.data."),
    ("torch.utils.data.sampler.", "torch.utils.data."),
    ("torch.utils.data.distributed.", "torch.utils.data."),
    ("torch.nn.parallel.distributed.", "torch.nn.parallel."),
    ("torch.nn.parallel.data_parallel.", "torch.nn.parallel."),
    ("torch.nn.parameter.", "torch.nn."),
    ("torch.distributed.distributed_c10d.", "torch.distributed."),
    ("torch.utils.tensorboard.writer.", "torch.utils.tensorboard."),
    ("torch.autograd.grad_mode.", "torch."),
    ("torch.autograd.variable.", "torch.autograd."),
    ("torch.optim.lr_scheduler._LRScheduler", "torch.optim.lr_scheduler.LRScheduler"),
    ("torch.random.", "torch."),
    ("torch.functional.", "torch."),
    ("mindspore.ops.operations.", "mindspore.ops."),
    ("mindspore.ops.functional.", "mindspore.ops."),
    ("mindspore.ops.composite.", "mindspore.ops."),
    ("mindspore.common.tensor.", "mindspore."),
    ("mindspore.common.parameter.", "mindspore."),
    ("mindspore.common.", "mindspore.common."),
    ("mindspore.dataset.vision.transforms.", "mindspore.dataset.vision."),
    ("mindspore.dataset.vision.c_transforms.", "mindspore.dataset.vision."),
    ("mindspore.dataset.vision.py_transforms.", "mindspore.dataset.vision."),
    ("mindspore.dataset.transforms.c_transforms.", "mindspore.dataset.transforms."),
    ("mindspore.dataset.transforms.transforms.", "mindspore.dataset.transforms."),
    ("mindspore.dataset.engine.datasets.", "mindspore.dataset."),
    ("mindspore.train.model.", "mindspore.train."),
    ("mindspore.train.callback.", "mindspore.train."),
    ("mindspore.train.serialization.", "mindspore."),
    ("mindspore.train.loss_scale_manager.", "mindspore.amp."),
    ("mindspore.train.amp.", "mindspore.amp."),
    ("mindspore.nn.optim.", "mindspore.nn."),
    ("mindspore.nn.loss.", "mindspore.nn."),
    ("mindspore.experimental.optim.lr_scheduler.", "mindspore.experimental.optim.lr_scheduler."),
    ("torchvision.transforms.v2.functional.InterpolationMode", "torchvision.transforms.InterpolationMode"),
    ("torchvision.transforms.functional.InterpolationMode", "torchvision.transforms.InterpolationMode"),
    ("torchvision.transforms.v2.functional.", "torchvision.transforms.functional."),
    ("torchvision.transforms.v2.", "torchvision.transforms."),
    ("torchvision.transforms.transforms.", "torchvision.transforms."),
)
_WHOLE: Final = {
    "mindspore.Model": "mindspore.train.Model",
    "mindspore.ops.value_and_grad": "mindspore.value_and_grad",
    "mindspore.ops.grad": "mindspore.grad",
    "mindspore.ms_function": "mindspore.jit",
    "mindspore.ops.GradOperation": "mindspore.ops.GradOperation",
    "mindspore.nn.FixedLossScaleUpdateCell": "mindspore.nn.FixedLossScaleUpdateCell",
    "mindspore.FixedLossScaleManager": "mindspore.amp.FixedLossScaleManager",
    "mindspore.DynamicLossScaleManager": "mindspore.amp.DynamicLossScaleManager",
    "torch.nn.parallel.DataParallel": "torch.nn.DataParallel",
    "torch.serialization.load": "torch.load",
    "torch.serialization.save": "torch.save",
    "torch._tensor.Tensor": "torch.Tensor",
    "torch.tensor.Tensor": "torch.Tensor",
    "torch.fork_rng": "torch.random.fork_rng",
    "torch.autograd.no_grad": "torch.no_grad",
    "torch.autograd.enable_grad": "torch.enable_grad",
    "torch.autograd.set_grad_enabled": "torch.set_grad_enabled",
    "torch.autograd.inference_mode": "torch.inference_mode",
    "torch.autograd.function.Function": "torch.autograd.Function",
    "torch.distributions.kl.kl_divergence": "torch.distributions.kl_divergence",
    "torch.distributed.fsdp.FullyShardedDataParallel": "torch.distributed.fsdp.FullyShardedDataParallel",
    "torch.utils.data.distributed.DistributedSampler": "torch.utils.data.DistributedSampler",
    "torch.nn.utils.clip_grad.clip_grad_norm_": "torch.nn.utils.clip_grad_norm_",
    "torch.nn.utils.clip_grad.clip_grad_value_": "torch.nn.utils.clip_grad_value_",
    "torch.nn.utils.clip_grad_norm": "torch.nn.utils.clip_grad_norm_",
    "torch.autocast": "torch.amp.autocast",
    "torch.softmax": "torch.nn.functional.softmax",
    "torch.log_softmax": "torch.nn.functional.log_softmax",
    "torch.sigmoid": "torch.nn.functional.sigmoid",
    "torch.relu": "torch.nn.functional.relu",
    "torch.dropout": "torch.nn.functional.dropout",
    "mindspore.dataset.GeneratorDataset": "mindspore.dataset.GeneratorDataset",
}
# Packages whose modules are an inner matter: ``torch.nn.modules.linear.Linear`` is ``torch.nn.Linear``.
_INNER: Final = (
    ("torch.nn.modules.", "torch.nn."),
    ("mindspore.nn.layer.", "mindspore.nn."),
    ("mindspore.nn.cell.", "mindspore.nn."),
    ("mindspore.nn.wrap.", "mindspore.nn."),
)
# Packages that offer the classes of their modules, but not the functions: ``torch.distributions.normal.Normal``.
_OF_CLASSES: Final = ("torch.distributions.", "torchvision.datasets.")
_INIT: Final = "torch.nn.init."
_CUDA: Final = "torch.cuda."


@cache
def canonical(name: str) -> str:
    """The name under which everything else knows it."""
    for begin, better in _BEGINNINGS:
        if name.startswith(begin):
            name = better + name[len(begin) :]
            break
    for begin, better in _INNER:
        if name.startswith(begin):
            rest = name[len(begin) :]
            name = better + (_from_class(rest) or rest.rpartition(".")[2])
    for begin in _OF_CLASSES:
        if name.startswith(begin):
            name = begin + (_from_class(name[len(begin) :]) or name[len(begin) :])
    if name.startswith(_CUDA) and name.endswith("Tensor"):
        name = "torch." + name[len(_CUDA) :]
    if name.startswith(_INIT) and name.islower() and not name.endswith(("_", ".calculate_gain")):
        # Before 0.4 what changes a tensor had no underscore: torch.nn.init.constant.
        name += "_"
    if name.startswith(("torch.optim.", "mindspore.experimental.optim.")):
        # torch.optim.adamw.AdamW, but not torch.optim.lr_scheduler.StepLR.
        parts = name.split(".")
        at = 2 if parts[0] == "torch" else 3
        if len(parts) > at + 1 and parts[at].islower() and parts[at] not in ("lr_scheduler", "swa_utils"):
            name = ".".join([*parts[:at], *parts[at + 1 :]])
    return _WHOLE.get(name, name)


def _from_class(name: str) -> str:
    """A dotted name from the first class in it on, or nothing."""
    parts = name.split(".")
    at = next((at for at, part in enumerate(parts) if part.lstrip("_")[:1].isupper()), None)
    return ".".join(parts[at:]) if at is not None else ""
