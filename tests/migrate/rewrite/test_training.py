"""A training script's draft trains in MindSpore."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import mindspore
import mindspore.experimental.optim
import numpy
import pytest
import torch
from tests.migrate.rewrite.pairs import both, drafted, give_weights, load

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


_GUIDED = """import torch
from torch import nn


def distil(student, teacher, data, optimizer):
    norms = []
    for x, y in data:
        optimizer.zero_grad()
        with torch.no_grad():
            hint = teacher(x)
        loss = ((student(x) - hint) ** 2).mean() + (student(x) - y).abs().mean()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(student.parameters(), max_norm=0.5)
        optimizer.step()
        norms.append(float(norm))
    with torch.no_grad():
        end = student(data[0][0]).sum()
    return norms, end


def keep(model, optimizer, path, epoch):
    torch.save({"epoch": epoch, "weights": model.state_dict(), "optimizer": optimizer.state_dict()}, path)


def resume(model, optimizer, path):
    checkpoint = torch.load(path, map_location="cpu")
    model.load_state_dict(checkpoint["weights"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    return checkpoint["epoch"]
"""


@pytest.fixture(scope="module")
def guided(tmp_path_factory: pytest.TempPathFactory) -> tuple[ModuleType, ModuleType]:
    folder = Path(tmp_path_factory.mktemp("guided"))
    draft = drafted(folder, _GUIDED)
    assert [left.reason.text() for left in draft.left] == []
    (folder / "draft.py").write_text(draft.text)
    return load(folder / "script.py", "bench_guided"), load(folder / "draft.py", "port_guided")


def test_what_is_computed_without_gradients_is_given_and_the_norm_of_clipping_kept(
    guided: tuple[ModuleType, ModuleType],
) -> None:
    ours, theirs = guided
    draw = numpy.random.default_rng(0)
    data = [[draw.standard_normal(shape).astype("float32") for shape in ((5, 3), (5, 1))] for _ in range(3)]
    pair = [torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)]
    port = [mindspore.nn.Dense(3, 1), mindspore.nn.Dense(3, 1)]
    for one, other in zip(pair, port, strict=True):
        other.weight.set_data(mindspore.Tensor(one.weight.detach().numpy()))
        other.bias.set_data(mindspore.Tensor(one.bias.detach().numpy()))
    optimizer = torch.optim.SGD(pair[0].parameters(), lr=0.1)
    their_optimizer = mindspore.experimental.optim.SGD(port[0].trainable_params(), lr=0.1)
    norms, end = ours.distil(*pair, [[torch.from_numpy(one) for one in row] for row in data], optimizer)
    found, their_end = theirs.distil(*port, [[mindspore.Tensor(one) for one in row] for row in data], their_optimizer)
    assert found == pytest.approx(norms, rel=1e-4)
    assert float(their_end) == pytest.approx(float(end), rel=1e-4)


def test_a_checkpoint_of_more_than_weights_is_read_back(guided: tuple[ModuleType, ModuleType], tmp_path: Path) -> None:
    _, theirs = guided
    model, other = mindspore.nn.Dense(2, 2), mindspore.nn.Dense(2, 2)
    optimizers = [
        mindspore.experimental.optim.Adam(one.trainable_params(), lr=rate) for one, rate in ((model, 0.1), (other, 0.3))
    ]
    theirs.keep(model, optimizers[0], tmp_path / "last.pth", 4)
    assert theirs.resume(other, optimizers[1], tmp_path / "last.pth") == 4
    numpy.testing.assert_array_equal(model.weight.asnumpy(), other.weight.asnumpy())
    assert float(optimizers[1].param_groups[0]["lr"]) == pytest.approx(0.1)


_ADVERSARIES = """import torch
from torch import nn


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3))

    def forward(self, x):
        return self.main(x)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.LeakyReLU(0.2), nn.Linear(5, 1), nn.Sigmoid())

    def forward(self, x):
        return self.main(x).view(-1)


def adversarial(netG, netD, data):
    criterion = nn.BCELoss()
    optD = torch.optim.SGD(netD.parameters(), lr=0.1, momentum=0.5)
    optG = torch.optim.SGD(netG.parameters(), lr=0.1, momentum=0.5)
    losses = []
    for real, noise in data:
        netD.zero_grad()
        label = torch.full((real.size(0),), 1.0)
        output = netD(real)
        loss = criterion(output, label)
        loss.backward()
        fake = netG(noise)
        label.fill_(0.0)
        output = netD(fake.detach())
        loss_fake = criterion(output, label)
        loss_fake.backward()
        mean = output.mean().item()
        norm = nn.utils.clip_grad_norm_(netD.parameters(), 0.3)
        optD.step()

        optG.zero_grad()
        label.fill_(1.0)
        lossG = criterion(netD(fake), label)
        lossG.backward()
        optG.step()
        losses += [loss.item(), loss_fake.item(), lossG.item(), mean, float(norm)]
    return losses


def together(netG, netD, data):
    first = torch.optim.SGD(netG.parameters(), lr=0.1)
    second = torch.optim.SGD(netD.parameters(), lr=0.02)
    losses = []
    for real, noise in data:
        first.zero_grad()
        second.zero_grad()
        loss = (netD(netG(noise)) - netD(real)).pow(2).mean()
        loss.backward()
        first.step()
        second.step()
        losses.append(loss.item())
    return losses
"""


@pytest.mark.parametrize("how", ["adversarial", "together"])
def test_several_losses_and_optimizers_of_one_pass_leave_torchs_weights(how: str, tmp_path: Path) -> None:
    draft = drafted(tmp_path, _ADVERSARIES)
    assert [left.reason.text() for left in draft.left] == []
    (tmp_path / "draft.py").write_text(draft.text)
    ours, theirs = load(tmp_path / "script.py", "bench_round"), load(tmp_path / "draft.py", "port_round")
    bench, port = [ours.Generator(), ours.Critic()], [theirs.Generator(), theirs.Critic()]
    for one, other in zip(bench, port, strict=True):
        give_weights(one, other)
        one.train()
        other.set_train(True)
    draw = numpy.random.default_rng(1)
    data = [[draw.standard_normal(shape).astype("float32") for shape in ((8, 3), (8, 4))] for _ in range(4)]
    losses = getattr(ours, how)(*bench, [[torch.from_numpy(one) for one in row] for row in data])
    found = getattr(theirs, how)(*port, [[mindspore.Tensor(one) for one in row] for row in data])
    assert found == pytest.approx(losses, rel=1e-3)
    for one, other in zip(bench, port, strict=True):
        ends = {name: tensor.asnumpy() for name, tensor in other.parameters_and_names()}
        for ours_name, name in (("0.weight", "0.weight"), ("1.running_mean", "1.moving_mean"), ("3.bias", "3.bias")):
            expected = one.main.state_dict()[ours_name].numpy()
            numpy.testing.assert_allclose(expected, ends[f"main.{name}"], rtol=1e-3, atol=1e-5)


def test_a_pass_that_draws_anew_is_not_run_twice(tmp_path: Path) -> None:
    text = _ADVERSARIES.replace("fake = netG(noise)", "fake = netG(torch.randn(8, 4))")
    draft = drafted(tmp_path, text)
    assert "        fake = netG(ops.randn((8, 4)))" in draft.text and "lossG.backward()" in draft.text
    assert "torch.Tensor.backward" in {left.name for left in draft.left}
