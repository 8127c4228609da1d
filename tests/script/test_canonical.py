"""One name for what is offered under several, and each such name is the same thing in PyTorch."""

from __future__ import annotations

import importlib
import warnings

import pytest

from trueline.script.canonical import canonical

SAME = {
    "torch.distributions.categorical.Categorical": "torch.distributions.Categorical",
    "torch.distributions.normal.Normal.log_prob": "torch.distributions.Normal.log_prob",
    "torch.distributions.kl.kl_divergence": "torch.distributions.kl_divergence",
    "torch.optim.adam.Adam": "torch.optim.Adam",
    "torch.optim.optimizer.Optimizer": "torch.optim.Optimizer",
    "torch.nn.modules.conv.Conv2d": "torch.nn.Conv2d",
    "torch.nn.modules.conv.Conv2d.forward": "torch.nn.Conv2d.forward",
    "torch.nn.modules.module.Module.parameters": "torch.nn.Module.parameters",
    "torch.nn.parameter.Parameter": "torch.nn.Parameter",
    "torch.serialization.load": "torch.load",
    "torch._tensor.Tensor": "torch.Tensor",
    "torch.amp.grad_scaler.GradScaler": "torch.amp.GradScaler",
    "torch.autograd.grad_mode.no_grad": "torch.no_grad",
    "torch.autograd.variable.Variable": "torch.autograd.Variable",
    "torch.autograd.function.Function": "torch.autograd.Function",
    "torch.distributed.distributed_c10d.all_reduce": "torch.distributed.all_reduce",
    "torch.nn.parallel.data_parallel.DataParallel": "torch.nn.DataParallel",
    "torch.utils.data._utils.collate.default_collate": "torch.utils.data.default_collate",
    "torch.utils.data.distributed.DistributedSampler": "torch.utils.data.DistributedSampler",
    "torch.utils.tensorboard.writer.SummaryWriter": "torch.utils.tensorboard.SummaryWriter",
}
# Of older versions, of packages that are not installed, or wrapped by a recording that other tests have begun.
ELSEWHERE = {
    "torch.random.manual_seed": "torch.manual_seed",
    "torch.nn.init.constant": "torch.nn.init.constant_",
    "torch.nn.init.kaiming_normal": "torch.nn.init.kaiming_normal_",
    "torch.nn.init.xavier_uniform": "torch.nn.init.xavier_uniform_",
    "torch.cuda.FloatTensor": "torch.FloatTensor",
    "torch.cuda.amp.GradScaler.scale": "torch.amp.GradScaler.scale",
    "torch.optim.lr_scheduler._LRScheduler.step": "torch.optim.lr_scheduler.LRScheduler.step",
    "torch.tensor.Tensor": "torch.Tensor",
    "torchvision.datasets.mnist.MNIST": "torchvision.datasets.MNIST",
    "torchvision.transforms.functional.InterpolationMode.BOX": "torchvision.transforms.InterpolationMode.BOX",
}
# Names that look like those and are others.
OTHERS = (
    "torch.nn.init.calculate_gain",
    "torch.nn.init.normal_",
    "torch.distributions.constraints.positive",
    "torch.distributions.Normal",
    "torch.optim.lr_scheduler.StepLR",
    "torch.random.fork_rng",
    "torch.cuda.synchronize",
    "torchvision.datasets.folder.default_loader",
)


def _object(name: str) -> object:
    parts = name.split(".")
    for at in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:at]))
        except ImportError:
            continue
        for part in parts[at:]:
            found = getattr(found, part)
        return found
    raise AssertionError(name)


@pytest.mark.parametrize("name", SAME)
def test_another_spelling_is_the_same_thing(name: str) -> None:
    assert canonical(name) == SAME[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert _object(name) is _object(SAME[name])


@pytest.mark.parametrize("name", ELSEWHERE)
def test_old_spellings_are_known(name: str) -> None:
    assert canonical(name) == ELSEWHERE[name]


@pytest.mark.parametrize("name", [*OTHERS, *SAME.values(), *ELSEWHERE.values()])
def test_a_name_that_is_canonical_stays(name: str) -> None:
    assert canonical(name) == name
