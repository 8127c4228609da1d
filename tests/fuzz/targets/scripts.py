"""Foreign code that is read and never run: scripts, the configurations they load, and a project's settings."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from fuzz.case import Target
from fuzz.judging import CrashedCheck
from fuzz.mutators.python import PYTHON
from fuzz.mutators.text import JSON, TEXT, by_ending
from fuzz.targets.verbs import verb

_TORCH = """
import argparse
import json
import yaml
import torch
from torch import nn
from torch.utils.data import DataLoader
from config import SIZES, get

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--batch-size", type=int, default=32)
args = parser.parse_args()
with open("config.yaml") as file:
    config = yaml.safe_load(file)
more = json.load(open("config.json"))


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in zip(SIZES, SIZES[1:])])
        self.norm = nn.BatchNorm1d(width * 2, eps=config["model"]["eps"])
        self.drop = nn.Dropout(p=config.get("drop", 0.5))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return nn.functional.softmax(self.drop(self.norm(x)), dim=-1)


def train(model, loader, epochs=3):
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=more["momentum"])
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        for x, y in loader:
            out = model(x.view(-1, 784) / 255.0)
            loss = criterion(out, y)
            loss.backward()
            optimizer.step()
        scheduler.step()
    torch.save(model.state_dict(), f"net-{epoch}.pth")


if __name__ == "__main__":
    data = torch.utils.data.TensorDataset(torch.randn(100, 784), torch.randint(0, 10, (100,)))
    train(Net(get("width")), DataLoader(data, batch_size=args.batch_size, shuffle=False))
"""
_MINDSPORE = """
import mindspore as ms
from mindspore import nn, ops
import mindspore.dataset as ds

ms.set_seed(1)


def create(path, batch=32, repeat=1):
    data = ds.MnistDataset(path, shuffle=True)
    data = data.map(ds.vision.Rescale(1.0 / 255.0, 0.0), input_columns="image")
    return data.batch(batch, drop_remainder=True).repeat(repeat)


class Net(nn.Cell):
    def __init__(self, num=10):
        super(Net, self).__init__()
        self.conv = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.fc = nn.SequentialCell([nn.Dense(16 * 5 * 5, 120), nn.ReLU(), nn.Dense(120, num)])

    def construct(self, x):
        x = ops.relu(self.conv(x))
        return self.fc(x.reshape(x.shape[0], -1))


net = Net()
loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
opt = nn.Momentum(net.trainable_params(), learning_rate=0.01, momentum=0.9)
model = ms.Model(net, loss_fn, opt, metrics={"acc"}, amp_level="O2")
model.train(2, create("data"), callbacks=[ms.LossMonitor(10)], dataset_sink_mode=False)
"""
_CONFIG = """
SIZES = [784, 128, *[64 for _ in range(2)], 10]
TABLE = {"width": 8, **{f"k{n}": n for n in range(3)}}


def get(name, default=None):
    return TABLE.get(name, default)
"""
_YAML = "model: &m\n  eps: 1.0e-5\n  sizes: [1, 2, 3]\ndrop: 0.1\nbase:\n  <<: *m\n  lr: 0.1\nnames:\n  - a\n  - 'b'\ntext: |\n  x\n"


def _checked(*args: str) -> None:
    """``check``, whose items never end in errors of their own."""
    before = sys.stdout.tell()
    verb("check", *args, "--json")
    answer = json.loads(sys.stdout.getvalue()[before:])  # type: ignore[attr-defined]
    for one in answer["findings"]:
        if one.get("error"):
            raise CrashedCheck(f"{one['code']} {one['error']}")


def _read(folder: Path, whole: bool) -> None:
    """What check does with a project: every item is asked, and none ends in an error."""
    del whole
    _checked(str(folder))


def _scripts(folder: Path) -> None:
    _configured(folder)
    (folder / "2").mkdir()
    (folder / "2" / "train.py").write_text(_MINDSPORE)
    projects = Path(__file__).resolve().parents[2] / "eval" / "checked" / "projects"
    for path in sorted(projects.rglob("*.py")):
        if 500 < path.stat().st_size < 3000:
            place = folder / f"p-{path.parent.name}-{path.stem}"
            place.mkdir(exist_ok=True)
            (place / path.name).write_bytes(path.read_bytes())
        if sum(1 for _ in folder.iterdir()) > 8:
            break


def _configured(folder: Path) -> None:
    (folder / "1").mkdir()
    (folder / "1" / "train.py").write_text(_TORCH)
    (folder / "1" / "config.py").write_text(_CONFIG)
    (folder / "1" / "config.yaml").write_text(_YAML)
    (folder / "1" / "config.json").write_text(json.dumps({"momentum": 0.9, "a": [1, {"b": None}]}))


def _settings(folder: Path) -> None:
    (folder / "1").mkdir()
    (folder / "1" / "train.py").write_text("import torch\nprint(torch)\n")
    (folder / "1" / "pyproject.toml").write_text(
        '[project]\nname = "x"\n\n[tool.trueline.check]\nselect = ["dp", "tr.01"]\nignore = ["tr.02"]\n\n'
        '[tool.trueline.check.limits]\n"dp.03" = {min_repeat = 0.9}\n'
    )


def _read_settings(folder: Path, whole: bool) -> None:
    from trueline.checks.engine.checklist import chosen
    from trueline.checks.engine.settings import find_settings, read_settings

    if whole:
        verb("check", str(folder), "--json")
        return
    settings = read_settings(find_settings(folder))
    chosen(settings.select, settings.ignore)


TARGETS = (
    Target("script", _scripts, _read, by_ending({".py": PYTHON, ".json": JSON}, TEXT)),
    Target("config", _configured, _read, by_ending({".json": JSON}, TEXT), fixed=("train.py", "config.py")),
    Target("settings", _settings, _read_settings, lambda _: TEXT, fixed=("train.py",)),
)
