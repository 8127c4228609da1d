"""A training script's draft trains in MindSpore."""

from __future__ import annotations

from pathlib import Path

import mindspore
import numpy
import pytest
import torch
from tests.migrate.rewrite.pairs import both, drafted, load

_STEP = """import torch
from torch import nn


def fit(model, data, optimizer, criterion, accumulate=2):
    optimizer.zero_grad()
    for index, (x, y) in enumerate(data):
        out = model(x)
        loss = criterion(out, y) / accumulate
        loss.backward()
        if (index + 1) % accumulate == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.05)
            optimizer.step()
            optimizer.zero_grad()
    return loss.item()


def one_step(model, x, y, optimizer):
    model.train()
    pred = model(x)
    loss = ((pred - y) ** 2).mean()  # squares
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


class Trainer:
    def __init__(self, model):
        self.model = model
        self.criterion = nn.MSELoss()
        self.optimizer = torch.optim.AdamW(
            [{"params": model.parameters(), "weight_decay": 0.1}], lr=0.01, betas=(0.8, 0.9)
        )
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=5)

    def run(self, data, epochs):
        for epoch in range(epochs):
            for x, y in data:
                self.optimizer.zero_grad(set_to_none=True)
                loss = self.criterion(self.model(x), y)
                loss.backward()
                self.optimizer.step()
            self.scheduler.step()
        return loss.item()
"""


def test_a_script_trains_for_two_epochs_and_its_loss_falls(tmp_path: Path) -> None:
    _, port = both(tmp_path, "train")
    losses = port.main(["--epochs", "2", "--save", str(tmp_path)])
    assert losses[1] < losses[0]
    assert (tmp_path / "model.ckpt").exists()


def test_every_epoch_has_another_order(tmp_path: Path) -> None:
    _, port = both(tmp_path, "train")
    mindspore.set_seed(3)
    source = port.Blobs(32)
    data = port.ds.GeneratorDataset(source, ["point", "label"], sampler=port.EpochOrder(len(source))).batch(32)
    first, second = (next(iter(data))[0].asnumpy() for _ in range(2))
    assert not numpy.array_equal(first, second)
    assert sorted(map(tuple, first)) == sorted(map(tuple, second))


@pytest.mark.parametrize("how", ["fit", "one_step", "Trainer"])
def test_steps_leave_the_weights_that_torch_leaves(how: str, tmp_path: Path) -> None:
    draft = drafted(tmp_path, _STEP)
    assert not draft.left
    (tmp_path / "draft.py").write_text(draft.text)
    ours, theirs = load(tmp_path / "script.py", f"bench_{how}"), load(tmp_path / "draft.py", f"port_{how}")
    draw = numpy.random.default_rng(0)
    arrays = [
        (draw.normal(size=(4, 3)).astype("float32"), draw.normal(size=(4, 2)).astype("float32")) for _ in range(5)
    ]
    bench, port = torch.nn.Linear(3, 2), mindspore.nn.Dense(3, 2)
    port.weight.set_data(mindspore.Tensor(bench.weight.detach().numpy().copy()))
    port.bias.set_data(mindspore.Tensor(bench.bias.detach().numpy().copy()))
    optimizer = torch.optim.SGD(bench.parameters(), lr=0.1, momentum=0.9)
    their_optimizer = mindspore.experimental.optim.SGD(port.trainable_params(), lr=0.1, momentum=0.9)
    data = [(torch.from_numpy(x), torch.from_numpy(y)) for x, y in arrays]
    their_data = [(mindspore.Tensor(x), mindspore.Tensor(y)) for x, y in arrays]
    if how == "fit":
        losses = (
            ours.fit(bench, data, optimizer, torch.nn.MSELoss()),
            theirs.fit(port, their_data, their_optimizer, mindspore.nn.MSELoss()),
        )
    elif how == "one_step":
        losses = ours.one_step(bench, *data[0], optimizer), theirs.one_step(port, *their_data[0], their_optimizer)
    else:
        losses = ours.Trainer(bench).run(data, 3), theirs.Trainer(port).run(their_data, 3)
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    numpy.testing.assert_allclose(bench.weight.detach().numpy(), port.weight.asnumpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "loop",
    [
        "    scaler.scale(loss).backward()\n    scaler.step(optimizer)\n",
        "    loss.backward()\n    other.backward()\n    optimizer.step()\n",
        "    loss.backward(retain_graph=True)\n    optimizer.step()\n",
    ],
)
def test_another_step_stays_and_says_the_pattern(loop: str, tmp_path: Path) -> None:
    head = "import torch\n\nmodel = torch.nn.Linear(2, 1)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    text = f"{head}for x in data:\n    optimizer.zero_grad()\n    loss = model(x).sum()\n{loop}"
    draft = drafted(tmp_path, text)
    assert all(line in draft.text for line in loop.splitlines())
    assert "mindspore.value_and_grad" in draft.text


_LONG = """import torch
import torch.nn.functional as F


def fit(model, data, optimizer):
    for x, y in data:
        optimizer.zero_grad()
        loss = F.nll_loss(
            F.log_softmax(model(x), dim=1),
            y,
        ) + 0.1 * torch.sum(x)
        loss = loss + sum(p.pow(2).sum() for p in model.parameters())
        for name, p in model.named_parameters():
            if "weight" in name:
                loss = loss + p.abs().sum()
        loss.backward()
        optimizer.step()
    return [p for name, p in model.named_parameters()]


def once(model, x, optimizer):
    out = model(x)
    loss = torch.special.entr(out) + torch.sum(out)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss
"""


def test_the_forward_pass_is_written_for_mindspore_where_it_moved(tmp_path: Path) -> None:
    draft = drafted(tmp_path, _LONG)
    fit, once = draft.text.split("def once")
    body = fit[fit.index("def forward_fn(x, y):") : fit.index("return loss\n")]
    assert "ops.nll_loss(" in body and "in parameters(model)" in body and "in named_parameters(model)" in body
    assert "torch.sum" not in draft.text and "F." not in draft.text
    assert "        loss, grads = grad_fn(x, y)\n" in fit
    lines = once.splitlines()
    left = next(place for place, line in enumerate(lines) if "= torch.special.entr(out) + out.sum()" in line)
    assert lines[left - 1].startswith("        # TrueLine: torch.special.entr")
    assert once.count("# TrueLine: torch.special.entr") == 1
    assert "import torch\n" in draft.text


def test_names_of_a_step_stay_in_its_function(tmp_path: Path) -> None:
    text = drafted(tmp_path, _LONG).text
    assert "def forward_fn(x, y):" in text and "        return loss\n" in text


_MODES = """from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout()


def load():
    net = Net()
    net.eval()
    return net


def use(net):
    return net


def main():
    def make():
        return nn.Sequential(nn.Dropout())
    a = make()  # mine
    b, c = Net(), load()
    d = Net()
    d.eval()
    e = use(Net())
    return a, b, c, d
"""


def test_a_network_begins_in_training_as_torchs_do(tmp_path: Path) -> None:
    text = drafted(tmp_path, _MODES).text
    assert "    a = make()  # mine\n    a.set_train(True)\n" in text
    assert "    b.set_train(True)\n" in text and "use(Net().set_train(True))" in text
    assert "c.set_train" not in text and text.count("net.set_train") == 1
    assert "    d = Net()\n    d.set_train(False)\n" in text


def test_a_network_of_the_function_is_not_handed_to_the_forward_pass(tmp_path: Path) -> None:
    source = (
        "import torch\n\n\ndef run(x):\n    net = torch.nn.Sequential(torch.nn.Linear(2, 2))\n"
        "    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n    loss = net(x).sum()\n"
        "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n    return loss\n"
    )
    assert "def forward_fn(x):" in drafted(tmp_path, source).text
