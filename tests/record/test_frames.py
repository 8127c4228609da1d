"""Warnings and tracebacks show the lines that they show without TrueLine, and TrueLine's own where it is at fault."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from launching import python, script, trueline

from trueline.record import launch

_TORCH: Final = """
import warnings
import torch
import torch.nn.functional as F
from torch import nn

class Old(nn.Module):
    def __init__(self):
        super().__init__()
        warnings.warn("module is old", FutureWarning, stacklevel=2)
    def forward(self, x):
        return x

class Loader(torch.utils.data.DataLoader):
    def __iter__(self):
        warnings.warn("loader is old", stacklevel=2)
        return super().__iter__()

network, old = nn.Linear(4, 1), Old()
optimizer = torch.optim.SGD(network.parameters(), 0.1)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
schedule.step()
for x, in Loader(torch.utils.data.TensorDataset(torch.ones(6, 4)), 3):
    # The size of the target: once for every line, however often.
    F.mse_loss(network(x), torch.ones(3))
    nn.MSELoss()(network(x), torch.ones(3))
    optimizer.zero_grad()
    F.mse_loss(network(x), torch.ones(3)).backward()
    optimizer.step()
schedule.step(1)
F.kl_div(torch.ones(2, 2), torch.ones(2, 2))
"""
_MINDSPORE: Final = """
import warnings
import mindspore as ms
import numpy as np
from mindspore import nn

class Old(nn.Cell):
    def __init__(self):
        super().__init__()
        warnings.warn("cell is old", FutureWarning, stacklevel=2)
    def set_train(self, mode=True):
        warnings.warn("mode is old", stacklevel=2)
        return super().set_train(mode)
    def construct(self, x):
        return x * 2

old = Old()
old.set_train()
print(old(ms.Tensor(np.ones(2, np.float32))))
"""


@pytest.mark.parametrize(("framework", "text"), [("torch", _TORCH), ("mindspore", _MINDSPORE)])
def test_warnings_are_those_of_the_plain_script(tmp_path: Path, framework: str, text: str) -> None:
    name = script(tmp_path, text)
    plain = python(name, cwd=tmp_path, forked=framework)
    assert plain.stderr.count("Warning: ") >= 2
    for verb in (("run", "-o", "run"), ("watch",)):
        done = trueline(*verb, name, cwd=tmp_path, forked=framework)
        said = [line for line in done.stderr.splitlines() if not line.startswith("trueline: ")]
        # Python names the script by the path that it was started with.
        assert [line.replace(f"{tmp_path}/", "") for line in said] == plain.stderr.splitlines()


_FORWARD: Final = """
import sys
import warnings
import torch
from torch import nn

warnings.simplefilter(sys.argv[1])

def say(what):
    for level in range(1, 5):
        warnings.warn(f"{what}, level {level}", stacklevel=level)

class Layer(nn.Module):
    def forward(self, x, *, module=None):
        for level in range(1, 5):
            warnings.warn(f"layer, level {level}", stacklevel=level)
        say("called by layer")
        return x * 2

class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)
        self.layer = Layer()
    def forward(self, x):
        for level in range(1, 5):
            warnings.warn(f"network, level {level}", stacklevel=level)
        # torch says so by itself.
        float(self.fc(x).sum())
        return self.layer(self.fc(x), module=None)

class Calling(Network):
    def __call__(self, *args, **kwargs):
        return super().__call__(*args, **kwargs)

def none(network):
    return None
def forward_hook(network):
    return network.layer.register_forward_hook(lambda *_: say("hook"))
def pre_hook(network):
    return network.register_forward_pre_hook(lambda module, args, kwargs: (args, kwargs), with_kwargs=True)
def full_backward_hook(network):
    return network.layer.register_full_backward_hook(lambda *_: None)
def global_hook(network):
    return nn.modules.module.register_module_forward_hook(lambda *_: say("global hook"))

for kind in (Network, Calling):
    for place in (none, forward_hook, pre_hook, full_backward_hook, global_hook):
        network = kind()
        placed = place(network)
        optimizer = torch.optim.SGD(network.parameters(), 0.1)
        for x, in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(6, 4)), 3):
            optimizer.zero_grad()
            network(x).sum().backward()
            optimizer.step()
        if placed is not None:
            placed.remove()
"""
_CONSTRUCT: Final = """
import sys
import warnings
import mindspore as ms
import numpy as np
from mindspore import nn

warnings.simplefilter(sys.argv[1])

class Layer(nn.Cell):
    def construct(self, x, cell=None):
        for level in range(1, 5):
            warnings.warn(f"layer, level {level}", stacklevel=level)
        return x * 2

class Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc, self.layer = nn.Dense(4, 1), Layer()
    def construct(self, x):
        for level in range(1, 4):
            warnings.warn(f"network, level {level}", stacklevel=level)
        return self.layer(self.fc(x), cell=None).sum()

for hooked in (False, True):
    network = Network()
    if hooked:
        network.layer.register_forward_hook(lambda *_: None)
    optimizer = nn.SGD(network.trainable_params(), 0.1)
    differentiate = ms.value_and_grad(network, None, optimizer.parameters)
    for _ in range(2):
        optimizer(differentiate(ms.Tensor(np.ones((3, 4), np.float32)))[1])
"""


@pytest.mark.parametrize("shown", ["default", "always"])
@pytest.mark.parametrize(("framework", "text"), [("torch", _FORWARD), ("mindspore", _CONSTRUCT)])
def test_warnings_of_layers_count_the_frames_of_the_plain_script(
    tmp_path: Path, framework: str, text: str, shown: str
) -> None:
    name = script(tmp_path, text)
    plain = python(name, shown, cwd=tmp_path, forked=framework)
    assert all(f"layer, level {level}" in plain.stderr for level in range(1, 5))
    for verb in (("run", "-o", "run"), ("watch",)):
        done = trueline(*verb, name, shown, cwd=tmp_path, forked=framework)
        assert "recording is off" not in done.stderr
        said = [line for line in done.stderr.splitlines() if not line.startswith("trueline: ")]
        assert [line.replace(f"{tmp_path}/", "") for line in said] == plain.stderr.splitlines()


_RAISING: Final = """
import json
import torch
from torch import nn
class Network(nn.Module):
    def forward(self, x):
        return json.loads("?") if WHERE == "forward" else x
class Samples(torch.utils.data.Dataset):
    def __len__(self):
        return 2
    def __getitem__(self, at):
        return json.loads("?") if WHERE == "sample" else 0.0
network = Network()
for x in torch.utils.data.DataLoader(Samples()):
    network(x)
torch.ones(2).sum().backward()
"""


@pytest.mark.parametrize("where", ["forward", "sample", "library"])
def test_an_error_of_the_script_shows_no_frame_of_trueline(tmp_path: Path, where: str) -> None:
    name = script(tmp_path, f"WHERE = {where!r}\n{_RAISING}")
    plain = python(name, cwd=tmp_path, forked="torch")
    done = trueline("run", "-o", "run", name, cwd=tmp_path, forked="torch")
    assert (done.returncode, plain.returncode) == (1, 1)
    assert "src/trueline/" not in done.stderr
    assert done.stderr.split("\ntrueline: ")[0].splitlines()[-1] == plain.stderr.splitlines()[-1]


_CAUGHT: Final = """
import traceback
import torch
from torch import nn
class Layer(nn.Module):
    def forward(self, x):
        raise KeyError("mine")
class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.layer = nn.Linear(2, 1), Layer()
    def forward(self, x):
        return self.layer(self.fc(x))
network = Network()
optimizer = torch.optim.SGD(network.parameters(), 0.1)
for hooked in (False, True):
    if hooked:
        network.layer.register_forward_hook(lambda *_: None)
    try:
        network(torch.ones(2, 2))
    except KeyError:
        traceback.print_exc()
network(torch.ones(2, 2))
"""


@pytest.mark.parametrize("verb", [("run", "-o", "run"), ("watch",)], ids=["run", "watch"])
def test_an_error_in_a_forward_shows_the_frames_of_the_plain_script_and_no_other(
    tmp_path: Path, verb: tuple[str, ...]
) -> None:
    name = script(tmp_path, _CAUGHT)
    plain = python(name, cwd=tmp_path)
    assert plain.stderr.count("Traceback") == 3
    done = trueline(*verb, name, cwd=tmp_path, forked="torch")
    said = [line for line in done.stderr.splitlines() if not line.startswith("trueline: ")]
    assert [line.replace(f"{tmp_path}/", "") for line in said] == plain.stderr.replace(f"{tmp_path}/", "").splitlines()


def _wrapper(text: str) -> Callable[..., Any]:
    """A function in a file of TrueLine's own."""
    names: dict[str, Any] = {"json": json}
    exec(compile(text, str(Path(launch.__file__).with_name("made_up.py")), "exec"), names)
    found: Callable[..., Any] = names["wrapper"]
    return found


@pytest.mark.parametrize(
    ("text", "shown"),
    [("return original('?')", False), ("return json.JSONDecoder().decode('?')", True), ("raise ValueError('?')", True)],
    ids=["hands on", "calls by itself", "raises"],
)
def test_frames_of_trueline_show_where_it_is_at_fault(
    capsys: pytest.CaptureFixture[str], text: str, shown: bool
) -> None:
    try:
        _wrapper(f"def wrapper(original):\n    {text}")(json.loads)
    except ValueError as error:
        assert launch._shown(error, 1) == 1
    said = capsys.readouterr().err
    assert "test_frames.py" in said
    assert ("made_up.py" in said) is shown


class Hostile(dict[str, Any]):
    """As MindSpore hands to callbacks: what is not in it is a KeyError, also where Python asks."""

    def __getattr__(self, name: str) -> Any:
        return self[name]

    @property
    def __class__(self) -> Any:
        raise KeyError("__class__")


def test_values_beside_an_error_are_asked_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        _wrapper("def wrapper(hostile, original):\n    return original('?')")(Hostile(), json.loads)
    except ValueError as error:
        assert launch._shown(error, 1) == 1
    said = capsys.readouterr().err
    assert "JSONDecodeError" in said and "made_up.py" not in said


_HOOKS = {
    "raises": "def hook(*_):\n    raise ValueError('hook')\nsys.excepthook = hook",
    "interrupts": "def hook(*_):\n    raise KeyboardInterrupt\nsys.excepthook = hook",
    "exits": "sys.excepthook = lambda *_: sys.exit(7)",
    "is none": "sys.excepthook = None",
    "is missing": "del sys.excepthook",
}
_ERRORS = {
    "without a traceback": "@property\n    def __traceback__(self): raise ValueError",
    "that takes none": "def with_traceback(self, trace): raise ValueError",
}


@pytest.mark.parametrize("verb", [("run", "-o", "run"), ("watch",)], ids=["run", "watch"])
@pytest.mark.parametrize(
    "text",
    [*(f"{hook}\nraise KeyError('mine')" for hook in _HOOKS.values())]
    + [f"class Mine(Exception):\n    {body}\nraise Mine('mine')" for body in _ERRORS.values()],
    ids=[*_HOOKS, *_ERRORS],
)
def test_an_error_of_the_script_is_shown_as_python_shows_it(tmp_path: Path, text: str, verb: tuple[str, ...]) -> None:
    name = script(tmp_path, f"import sys\n{text}\n")
    plain = python(name, cwd=tmp_path)
    done = trueline(*verb, name, cwd=tmp_path)
    assert done.returncode == plain.returncode
    *said, last = done.stderr.splitlines()
    assert (said, last[:10]) == (plain.stderr.splitlines(), "trueline: ")


_DEEP: Final = """
import sys
import torch

def deep(level=0):
    try:
        return deep(level + 1)
    except RecursionError:
        return level

def computing(level=0):
    try:
        torch.add(x, 1)
        return computing(level + 1)
    except RecursionError:
        return level

class Backward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, gradient):
        found.append(deep())
        return gradient

class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, index):
        found.append(deep())
        return torch.ones(2)

found = []
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
def closure():
    optimizer.zero_grad()
    loss = Backward.apply(net(x)).sum()
    found.append(deep())
    loss.backward()
    return loss
for limit in (150, 400, 1000):
    sys.setrecursionlimit(limit)
    for x in torch.utils.data.DataLoader(Data(), batch_size=2):
        found += [sys.getrecursionlimit(), deep(), computing()]
        optimizer.step(closure)
        found.append(deep())
print("FOUND", found)
"""


def test_the_stack_ends_where_it_does_plainly_and_never_before(tmp_path: Path) -> None:
    name = script(tmp_path, _DEEP)
    plain = _found(python(name, cwd=tmp_path).stdout)
    for verb in (("run", "-o", "run"), ("watch",)):
        done = trueline(*verb, name, cwd=tmp_path, forked="torch")
        assert "6 " in done.stderr, done.stderr
        levels = _found(done.stdout)
        assert len(levels) == len(plain)
        assert [(own, now) for own, now in zip(plain, levels, strict=True) if not own <= now <= own + 20] == []


def _found(output: str) -> list[int]:
    line = next(line for line in output.splitlines() if line.startswith("FOUND "))
    found: list[int] = json.loads(line.removeprefix("FOUND "))
    return found
