"""Scripts are followed as they would run: through functions, classes, files, settings and trainers."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from trueline.script.loops import evaluation_loops, training_loops
from trueline.script.roles import Role
from trueline.script.script import Script, read_script
from trueline.script.values import Const, Made, ancestry, constant, options


def read(folder: Path, **files: str) -> Script:
    """A project of files, ``train`` being train.py and ``pkg__model`` pkg/model.py."""
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), "utf-8")
    return read_script([folder / "train.py"])


def order(script: Script) -> list[str]:
    """The roles of what the one training loop does, in order, without the network's calls."""
    (loop,) = training_loops(script.trace)
    return [one.role.value for one in loop.events if one.role not in (None, Role.FORWARD)]


STEP = ["zero_grad", "loss", "backward", "step"]


def test_a_flat_script(tmp_path: Path) -> None:
    script = read(
        tmp_path,
        train="""
        import torch
        import torch.nn.functional as F
        from torch import nn
        net = nn.Sequential(nn.Linear(4, 2))
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for epoch in range(3):
            for x, y in torch.utils.data.DataLoader([], batch_size=8, shuffle=True):
                opt.zero_grad()
                loss = F.cross_entropy(net(x), y)
                loss.backward()
                opt.step()
        """,
    )
    assert order(script) == STEP
    assert script.frameworks == {"torch"}
    (loop,) = training_loops(script.trace)
    assert isinstance(loop.loader, Made)
    assert constant(loop.loader.event.arg(None, "batch_size")) == 8
    assert loop.scope.place.line == 8


def test_classes_helpers_and_files(tmp_path: Path) -> None:
    script = read(
        tmp_path,
        pkg__model="""
        from torch import nn
        class Net(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.blocks = nn.ModuleList([nn.Linear(width, width) for _ in range(2)])
                self.head = nn.Linear(width, 3)
            def forward(self, x):
                for block in self.blocks:
                    x = block(x).relu()
                return self.head(x)
        """,
        pkg__loop="""
        from .model import Net
        class Trainer:
            def __init__(self, model, optimizer, loss_fn):
                self.model, self.optimizer, self.loss_fn = model, optimizer, loss_fn
            def _update(self, loss):
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            def fit(self, loader, epochs):
                for _ in range(epochs):
                    for batch in loader:
                        self._update(self.loss_fn(self.model(batch[0]), batch[1]))
        """,
        train="""
        import torch
        from pkg.model import Net
        from pkg import loop
        def main():
            net = Net(8)
            trainer = loop.Trainer(net, torch.optim.AdamW(net.parameters(), 1e-3), torch.nn.CrossEntropyLoss())
            trainer.fit(torch.utils.data.DataLoader(data()), 2)
        def data():
            return [1, 2, 3]
        if __name__ == "__main__":
            main()
        """,
    )
    assert order(script) == ["loss", "zero_grad", "backward", "step"]
    (loop,) = training_loops(script.trace)
    (loss,) = loop.of(Role.LOSS)
    layers = {one.name for one in ancestry(loss.args[0]) if isinstance(one, Made)}
    assert "torch.nn.Linear.__call__" in layers
    (step,) = loop.of(Role.STEP)
    assert step.name == "torch.optim.AdamW.step"
    assert [str(one).rpartition("/")[2] for one in step.callers()] == ["train.py:12", "train.py:8", "loop.py:13"]


@pytest.mark.parametrize(
    "settings",
    [
        """
        import argparse
        def settings():
            parser = argparse.ArgumentParser()
            group = parser.add_argument_group("training")
            group.add_argument("--learning-rate", "-l", type=float, default="0.25")
            parser.add_argument("--amp", action="store_true")
            return parser.parse_args()
        args = settings()
        rate, amp = args.learning_rate, args.amp
        """,
        """
        from dataclasses import dataclass, field
        @dataclass
        class Config:
            rate: float = 0.5
            amp: bool = False
            sizes: list = field(default_factory=lambda: [1, 2])
        config = Config(rate=0.25)
        rate, amp = config.rate, config.amp
        """,
        """
        CONFIG = {"optim": {"lr": 0.5, "amp": False}}
        CONFIG["optim"].update(lr=0.25)
        rate, amp = CONFIG["optim"]["lr"], CONFIG["optim"].get("amp")
        """,
        """
        import yaml
        with open("config.yaml") as file:
            config = yaml.safe_load(file)
        rate, amp = config["optim"]["lr"], config["optim"]["amp"]
        """,
        """
        import json
        from pathlib import Path
        config = json.loads((Path(__file__).parent / "config.json").read_text())
        rate, amp = config["lr"], config["amp"]
        """,
        """
        from types import SimpleNamespace
        options = SimpleNamespace(lr=0.5 / 2, amp=not True)
        rate, amp = options.lr, options.amp
        """,
        """
        class Settings:
            lr = 0.25
            @property
            def amp(self):
                return self.lr > 1
        rate, amp = Settings().lr, Settings().amp
        """,
    ],
)
def test_where_settings_come_from(tmp_path: Path, settings: str) -> None:
    (tmp_path / "config.yaml").write_text("optim:\n  lr: 0.25\n  amp: false\n")
    (tmp_path / "config.json").write_text('{"lr": 0.25, "amp": false}')
    use = """
    import torch
    if amp:
        optimizer = torch.optim.Adam([], rate)
    else:
        optimizer = torch.optim.SGD([], rate)
    optimizer.step()
    """
    script = read(tmp_path, train=dedent(settings) + dedent(use))
    (built,) = script.trace.of_role(Role.BUILD_OPTIMIZER)
    assert built.name == "torch.optim.SGD"
    assert constant(built.arg(1, "lr")) == 0.25


def test_what_cannot_be_known_goes_both_ways(tmp_path: Path) -> None:
    script = read(
        tmp_path,
        train="""
        import os
        import torch
        if os.environ.get("WORLD_SIZE", 1) != 1:
            optimizer = torch.optim.Adam([], 0.1)
        else:
            optimizer = torch.optim.SGD([], 0.1)
        step = 0
        while True:
            step += 1
            if step % 4 == 0:
                optimizer.step()
        """,
    )
    (step, other) = script.trace.of_role(Role.STEP)
    assert {step.name, other.name} == {"torch.optim.Adam.step", "torch.optim.SGD.step"}
    assert step.conditional_within(step.loops()[-1])


def test_what_nothing_calls_is_read_too(tmp_path: Path) -> None:
    script = read(
        tmp_path,
        train="""
        def train_epoch(model, loader, optimizer, loss_fn):
            model.train()
            for x, y in loader:
                optimizer.zero_grad()
                loss_fn(model(x), y).backward()
                optimizer.step()
        """,
    )
    (loop,) = training_loops(script.trace)
    assert not loop.is_certain
    assert [one.role.value for one in loop.events if one.role] == ["zero_grad", "backward", "step"]


def test_lightning_does_the_loop(tmp_path: Path) -> None:
    script = read(
        tmp_path,
        train="""
        import pytorch_lightning as pl
        import torch
        from torch import nn
        class Lit(pl.LightningModule):
            def __init__(self):
                super().__init__()
                self.net = nn.Linear(3, 2)
            def training_step(self, batch, i):
                x, y = batch
                return nn.functional.cross_entropy(self.net(x), y)
            def validation_step(self, batch, i):
                self.log("acc", self.net(batch[0]).argmax(1))
            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), 0.1)
        train, val = torch.utils.data.DataLoader([1]), torch.utils.data.DataLoader([2])
        pl.Trainer(max_epochs=3).fit(Lit(), train, val)
        """,
    )
    assert order(script) == ["loss", "zero_grad", "backward", "step"]
    (loop,) = evaluation_loops(script.trace)
    assert [one.event.place.line for one in options(loop.loader) if isinstance(one, Made)] == [16]


MINDSPORE = """
import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn, ops
net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 2))
loss_fn = nn.CrossEntropyLoss()
opt = nn.Momentum(net.trainable_params(), learning_rate=0.1, momentum=0.9)
data = ds.NumpySlicesDataset(([], []), ["x", "y"], shuffle=True).batch(8)
"""


@pytest.mark.parametrize(
    "loop",
    [
        """
        def forward(x, y):
            logits = net(x)
            return loss_fn(logits, y), logits
        grad_fn = ms.value_and_grad(forward, None, opt.parameters, has_aux=True)
        for epoch in range(3):
            for x, y in data.create_tuple_iterator():
                (loss, _), grads = grad_fn(x, y)
                opt(grads)
        """,
        """
        step = nn.TrainOneStepCell(nn.WithLossCell(net, loss_fn), opt)
        for epoch in range(3):
            for batch in data.create_dict_iterator():
                step(batch["x"], batch["y"])
        """,
        """
        model = ms.Model(net, loss_fn=loss_fn, optimizer=opt, metrics={"acc"})
        model.train(3, data)
        """,
        """
        class Step(nn.TrainOneStepCell):
            def construct(self, x, y):
                loss = self.network(x, y)
                grads = self.grad(self.network, self.weights)(x, y)
                return ops.depend(loss, self.optimizer(grads))
        step = Step(nn.WithLossCell(net, loss_fn), opt)
        for x, y in data:
            step(x, y)
        """,
        """
        @ms.jit
        def update(x, y):
            grads = ops.GradOperation(get_by_list=True)(nn.WithLossCell(net, loss_fn), opt.parameters)(x, y)
            return opt(grads)
        for x, y in data:
            update(x, y)
        """,
    ],
)
def test_the_ways_in_which_mindspore_trains(tmp_path: Path, loop: str) -> None:
    script = read(tmp_path, train=MINDSPORE + dedent(loop))
    done = order(script)
    assert done[-2:] == ["backward", "step"]
    assert "loss" in done
    (found,) = training_loops(script.trace)
    assert isinstance(found.loader, Made)
    assert found.loader.name == "mindspore.dataset.NumpySlicesDataset.batch"
    assert script.frameworks == {"mindspore"}


def test_a_file_that_is_no_python_does_not_stop_the_rest(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "train.py").write_text("import broken\nimport torch\ntorch.manual_seed(1)\n")
    script = read_script([tmp_path])
    assert [one.name for one in script.trace.named("torch.manual_seed")] == ["torch.manual_seed"]
    (broken,) = [one for one in script.files if one.trouble]
    assert "line 1" in str(broken.trouble)


def test_a_script_without_end_is_given_up_and_says_so(tmp_path: Path) -> None:
    calls = "\n".join(f"def f{n}():\n    f{n + 1}(); f{n + 1}(); f{n + 1}(); f{n + 1}()" for n in range(12))
    script = read(tmp_path, train=calls + "\ndef f12():\n    pass\nf0()\n")
    assert script.trace.cut_short


def test_comments_that_ask_to_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "a = 1  # trueline: ignore[dp.03] read in order\n"
        "# trueline: ignore[mp]\nb = 2\nc = 3  # trueline: ignore\nd = 4\n"
    )
    script = read_script([tmp_path / "train.py"])
    (source,) = script.files
    left_out = {(line, code) for line in range(1, 6) for code in ("dp.03", "mp.02") if source.leaves_out(line, code)}
    assert left_out == {(1, "dp.03"), (2, "mp.02"), (3, "mp.02"), (4, "dp.03"), (4, "mp.02")}


def test_constants_know_where_they_were_written(tmp_path: Path) -> None:
    script = read(tmp_path, train="import torch\nRATE = 3.0\n\n\ntorch.optim.SGD([], lr=RATE)\n")
    (built,) = script.trace.of_role(Role.BUILD_OPTIMIZER)
    rate = built.arg(1, "lr")
    assert isinstance(rate, Const)
    assert rate.origin is not None
    assert rate.origin.line == 2
