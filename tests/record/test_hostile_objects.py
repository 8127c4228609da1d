"""Networks, metrics, optimizers, schedules and data that do not want to be hashed, compared, counted or asked."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from launching import python as plainly
from launching import script, trueline

from trueline.formats.run_folder.reader import open_run

# As torchmetrics.Metric: its hash reads what is there only at the end of __init__.
_HOSTILE: Final = """
class Hostile:
    def __hash__(self):
        return hash((id(self), *self._built))
    def __eq__(self, other):
        raise RuntimeError("compared")
    def __bool__(self):
        raise RuntimeError("asked for its truth")
    def __len__(self):
        raise RuntimeError("counted")
"""
_TORCH: Final = (
    _HOSTILE
    + """
import torch
from torch import nn
torch.manual_seed(0)

class Asked(nn.Module):
    # What is asked for in vain draws a random number, and says so.
    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            if "_built" in vars(self):
                print("asked for", repr(name), torch.rand(()))
            raise

class Net(Hostile, Asked):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 3), DropPath())
        self.metric = Metric()
        self._built = [1]
    def forward(self, x):
        return self.inner(x)

class DropPath(Asked):
    def __init__(self):
        super().__init__()
        self._built = [1]
    def forward(self, x):
        return x

class Metric(Hostile, Asked):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(()))
        self._built = [1]
    def forward(self, x):
        self.total += x.detach().sum()
        return self.total.clone()

class Equal(nn.Module):
    # As a tensor compares: with another tensor of truths.
    __hash__ = None
    def __eq__(self, other):
        return torch.ones(2, dtype=torch.bool)
    def forward(self, x):
        return x * 2

class Descent(Hostile, torch.optim.SGD):
    __hash__ = None
class Schedule(Hostile, torch.optim.lr_scheduler.StepLR):
    __hash__ = None
class Samples(Hostile, torch.utils.data.Dataset):
    def __getitem__(self, at):
        return torch.full((4,), at / 10), at % 3
class Sampler(Hostile, torch.utils.data.Sampler):
    def __iter__(self):
        return iter(range(16))
class Loader(Hostile, torch.utils.data.DataLoader):
    pass
class Criterion(Hostile, nn.CrossEntropyLoss):
    pass

net, twice = Net(), Equal()
optimizer = Descent(net.parameters(), 0.1)
schedule = Schedule(optimizer, 3)
criterion = Criterion()
for epoch in range(2):
    net.train()
    for x, y in Loader(Samples(), 4, sampler=Sampler()):
        optimizer.zero_grad()
        out = net(twice(x))
        loss = criterion(out, y)
        loss.backward()
        optimizer.step()
        net.metric(out)
        print(repr(loss.item()), flush=True)
    schedule.step()
    net.eval()
    with torch.no_grad():
        net(twice(x))
"""
)
_MINDSPORE: Final = (
    _HOSTILE
    + """
import numpy as np
import mindspore as ms
from mindspore import nn
import mindspore.dataset as ds
ms.set_seed(0)

class Net(Hostile, nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = nn.Dense(4, 3)
        self._built = [1]
    def construct(self, x):
        return self.inner(x)

class Descent(Hostile, nn.SGD):
    def __init__(self, *args):
        super().__init__(*args)
        self._built = [1]
    def __bool__(self):
        # MindSpore itself asks for it.
        return True

net = Net()
optimizer = Descent(net.trainable_params(), 0.1)
criterion = nn.CrossEntropyLoss()
gradients_of = ms.value_and_grad(lambda x, y: criterion(net(x), y), None, optimizer.parameters)
samples = np.linspace(0, 1, 64, dtype=np.float32).reshape(16, 4), np.arange(16, dtype=np.int32) % 3
for epoch in range(2):
    for x, y in ds.NumpySlicesDataset(samples, shuffle=False).batch(4).create_tuple_iterator():
        loss, gradients = gradients_of(x, y)
        optimizer(gradients)
        print(repr(float(loss.asnumpy())), flush=True)
"""
)


@pytest.mark.parametrize(("framework", "text"), [("torch", _TORCH), ("mindspore", _MINDSPORE)])
def test_they_train_as_without_recording_and_are_recorded(tmp_path: Path, framework: str, text: str) -> None:
    name = script(tmp_path, text)
    plain = plainly(name, cwd=tmp_path, forked=framework)
    assert plain.returncode == 0, plain.stderr
    for verb, options in (("run", ("-o", "run")), ("watch", ())):
        done = trueline(verb, *options, name, cwd=tmp_path, forked=framework)
        assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr
        assert "is off" not in done.stderr
    rank = open_run(tmp_path / "run").rank(0)
    assert [repr(one) for one in rank.curve("loss").values] == plain.stdout.split()
