"""One full name for what libraries offer under several."""

from __future__ import annotations

from functools import cache
from typing import Final

# The first that fits is put in place of the beginning; longer ones first.
_BEGINNINGS: Final = (
    ("pytorch_lightning.", "lightning."),
    ("lightning.pytorch.", "lightning."),
    ("torch.cuda.amp.", "torch.amp."),
    ("torch.cpu.amp.", "torch.amp."),
    ("torch.utils.data.dataloader.", "torch.utils.data."),
    ("torch.utils.data.dataset.", "torch.utils.data."),
    ("torch.utils.data.sampler.", "torch.utils.data."),
    ("torch.utils.data.distributed.", "torch.utils.data."),
    ("torch.nn.parallel.distributed.", "torch.nn.parallel."),
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


@cache
def canonical(name: str) -> str:
    """The name under which everything else knows it."""
    for begin, better in _BEGINNINGS:
        if name.startswith(begin):
            name = better + name[len(begin) :]
            break
    for begin, better in _INNER:
        if name.startswith(begin):
            name = better + name.rpartition(".")[2]
    if name.startswith(("torch.optim.", "mindspore.experimental.optim.")):
        # torch.optim.adamw.AdamW, but not torch.optim.lr_scheduler.StepLR.
        parts = name.split(".")
        at = 2 if parts[0] == "torch" else 3
        if len(parts) > at + 1 and parts[at].islower() and parts[at] not in ("lr_scheduler", "swa_utils"):
            name = ".".join([*parts[:at], *parts[at + 1 :]])
    return _WHOLE.get(name, name)
