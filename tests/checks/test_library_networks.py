"""Networks that a library's function builds: their modes are followed as those of a project's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from trueline.checks.engine.checklist import fill_in
from trueline.checks.engine.listing import all_checks
from trueline.script.script import read_script

PICTURES = """
import argparse
import timm
import torch
from torch import nn
from torchvision import datasets, models, transforms as T

def loaders(root, size):
    bring = [T.ToTensor(), T.Normalize((0.5, 0.4, 0.3), (0.2, 0.2, 0.2))]
    fit = datasets.ImageFolder(f"{root}/fit", T.Compose([T.RandomResizedCrop(224), *bring]))
    held = datasets.ImageFolder(f"{root}/held", T.Compose([T.Resize(256), T.CenterCrop(224), *bring]))
    make = torch.utils.data.DataLoader
    return make(fit, size, shuffle=True, num_workers=2), make(held, size, num_workers=2)

def fit(net, loader, optimizer):
    net.train()  # train
    for pictures, names in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(pictures.cuda()), names.cuda()).backward()
        optimizer.step()

def right(net, loader):
    net.eval()  # eval
    hits = seen = 0
    with torch.no_grad():
        for pictures, names in loader:
            hits += (net(pictures.cuda()).argmax(1) == names.cuda()).sum().item()
            seen += len(names)
    return hits / seen

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=64)
    asked = parser.parse_args()
    first, second = loaders("pictures", asked.size)
    net = models.resnet18(num_classes=9)  # net
    net.fc = nn.Linear(net.fc.in_features, 9)
    net = nn.DataParallel(net).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(20):
        fit(net, first, optimizer)
        print(epoch, right(net, second))

main()
"""
FROZEN = """
for weight in net.parameters():
        weight.requires_grad = False
    net.fc = nn.Linear(net.fc.in_features, 9)
"""
REVIEWS = """
import torch
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, AutoTokenizer

words = AutoTokenizer.from_pretrained("small")
texts = load_dataset("reviews").map(lambda row: words(row["text"], padding="max_length", truncation=True), batched=True)
net = AutoModelForSequenceClassification.from_pretrained("small", num_labels=2)
optimizer = torch.optim.AdamW(net.parameters(), lr=3e-5)
for epoch in range(3):
    net.train()  # train
    for batch in DataLoader(texts["train"], 8, shuffle=True):
        net(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    net.eval()  # eval
    hits = 0
    with torch.no_grad():
        for batch in DataLoader(texts["test"], 8):
            hits += (net(**batch).logits.argmax(-1) == batch["labels"]).sum().item()
"""


def _found(tmp_path: Path, text: str) -> list[tuple[str, str]]:
    script = tmp_path / "train.py"
    script.write_text(text)
    problems = fill_in(all_checks(), {"script": read_script([script])}).problems
    lines = text.splitlines()
    return [(one.code, lines[(one.where.line or 1) - 1].strip()) for one in problems]


def _without(text: str, mark: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.endswith(f"# {mark}"))


@pytest.mark.parametrize(
    "net",
    [
        "models.resnet18(num_classes=9)",
        "timm.create_model('efficientnet_b0', pretrained=True)",
        "models.vit_b_16()",
        "torch.hub.load('some/where', 'some_net')",
        "getattr(models, 'densenet121')(weights='DEFAULT')",
    ],
)
def test_healthy_scripts_are_silent(tmp_path: Path, net: str) -> None:
    assert _found(tmp_path, PICTURES.replace("models.resnet18(num_classes=9)", net)) == []


def test_a_frozen_network_with_a_new_head_is_silent(tmp_path: Path) -> None:
    frozen = PICTURES.replace("net.fc = nn.Linear(net.fc.in_features, 9)\n", FROZEN.lstrip())
    assert _found(tmp_path, frozen) == []
    assert _found(tmp_path, frozen.replace("SGD(net.parameters()", "SGD(net.module.fc.parameters()")) == []
    chosen = "SGD((one for one in net.parameters() if one.requires_grad)"
    assert _found(tmp_path, frozen.replace("SGD(net.parameters()", chosen)) == []


@pytest.mark.parametrize("net", ["models.resnet18(num_classes=9)", "timm.create_model('resnet50')"])
def test_modes_that_are_not_set_are_found(tmp_path: Path, net: str) -> None:
    text = PICTURES.replace("models.resnet18(num_classes=9)", net)
    assert _found(tmp_path, _without(text, "eval")) == [("api.02", "for pictures, names in loader:")]
    assert _found(tmp_path, _without(text, "train")) == [("api.02", "for pictures, names in loader:")]


def test_nothing_is_said_of_networks_that_may_have_no_such_layer(tmp_path: Path) -> None:
    text = PICTURES.replace("models.resnet18(num_classes=9)", "timm.create_model(name)")
    assert _found(tmp_path, _without(text, "eval")) == []


def test_networks_read_by_transformers_begin_in_evaluation_mode(tmp_path: Path) -> None:
    assert _found(tmp_path, REVIEWS) == []
    assert [code for code, _ in _found(tmp_path, _without(REVIEWS, "eval"))] == ["api.02"]
    assert [code for code, _ in _found(tmp_path, _without(_without(REVIEWS, "eval"), "train"))] == ["api.02"]


ACCELERATED = """
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 4)

    def forward(self, x):
        return ((self.net(x) - x) ** 2).mean()

class Training:
    def __init__(self, model, every):
        self.engine, self.every = Accelerator(), every
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        self.loader = DataLoader(TensorDataset(torch.randn(64, 4)), 8, shuffle=True)
        self.model, self.optimizer = self.engine.prepare(model, self.optimizer)

    def run(self, steps):
        batches = iter(self.loader)
        for _ in range(steps):
            for _ in range(self.every):
                loss = self.model(next(batches)[0]) / self.every
                self.engine.backward(loss)  # backward
            self.optimizer.step()
            self.optimizer.zero_grad()

Training(Denoiser(), 4).run(100)
"""
WRAPPED = """
import torch
from privacy import make_private
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Wrapper(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.add_module("inner", inner)

    def forward(self, x):
        return self.inner(x)

net, judge = nn.Linear(2, 4), nn.Linear(4, 1)
first, second = torch.optim.Adam(net.parameters(), 2e-4), torch.optim.Adam(judge.parameters(), 2e-4)
net = Wrapper(net)
judge, second = make_private(judge, second)
score = nn.BCEWithLogitsLoss()
for epoch in range(3):
    for (real,) in DataLoader(TensorDataset(torch.randn(64, 4)), 8, shuffle=True):
        second.zero_grad()
        fake = net(torch.randn(8, 2))
        loss = score(judge(real), torch.ones(8, 1)) + score(judge(fake.detach()), torch.zeros(8, 1))
        loss.backward()
        second.step()
        first.zero_grad()
        score(judge(fake), torch.ones(8, 1)).backward()
        first.step()
"""


def test_a_loss_given_to_what_calls_backward_is_followed(tmp_path: Path) -> None:
    assert _found(tmp_path, ACCELERATED) == []
    kept = ACCELERATED.replace("[0]) / self.every", "[0])")
    assert _found(tmp_path, kept) == [("tr.03", "self.engine.backward(loss)  # backward")]


def test_what_may_be_in_something_unknown_is_not_said_to_be_missing(tmp_path: Path) -> None:
    assert _found(tmp_path, WRAPPED) == []
