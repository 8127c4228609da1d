"""A script beside its benchmark's: written otherwise it is the same, and one changed line is one finding."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trueline.checks.checklist import fill_in
from trueline.checks.listing import all_checks
from trueline.model.finding import Conclusion, Finding
from trueline.script.script import Script, read_script

PAIRS = Path(__file__).parent / "pairs"
PROJECTS = Path(__file__).parent.parent / "eval" / "checked" / "projects"
REWRITTEN = sorted(PAIRS.glob("*.py"))
BOTH = "script + bench_script"


def asked(script: Script, bench: Script) -> list[Finding]:
    ways = [one for one in all_checks() if set(one.evidence) <= {"script", "bench_script"}]
    return list(fill_in(ways, {"script": script, "bench_script": bench}).findings)


def told(script: Script, bench: Script) -> list[str]:
    return [
        f"{one.code} {one.where.file}:{one.where.line} {one.message.text('en')}"
        for one in asked(script, bench)
        if one.conclusion is Conclusion.FOUND or one.error is not None
    ]


def project_of(path: Path) -> Path:
    framework, _, name = path.stem.partition("_")
    folder = PROJECTS / framework / name
    entry = json.loads((folder / "project.json").read_text("utf-8"))["entry"]
    return folder / entry if isinstance(entry, str) else folder


@pytest.mark.parametrize("path", REWRITTEN, ids=lambda one: one.stem)
def test_a_project_that_is_written_otherwise_breaks_nothing(path: Path) -> None:
    assert told(read_script([path]), read_script([project_of(path)])) == []
    assert told(read_script([project_of(path)]), read_script([path])) == []


FLAT = PROJECTS / "torch" / "flat_blobs" / "train.py"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "optimizer = torch.optim.SGD(net.parameters(), lr=0.02",
            "optimizer = torch.optim.SGD(net.parameters(), lr=2e-2",
        ),
        ("lr=0.02, momentum=0.9)", "lr=0.02, momentum=0.9, weight_decay=0, nesterov=False)"),
        ("nn.Dropout(0.1)", "nn.Dropout(p=0.1, inplace=False)"),
        ("batch_size=BATCH, shuffle=True)", "batch_size=BATCH, shuffle=True, num_workers=2, pin_memory=True)"),
        ("batch_size=128)", "batch_size=64, shuffle=False)"),
        ("out = net(xb)\n        loss", "out = net(xb.to('cpu'))\n        loss"),
        ("optimizer.zero_grad()\n        out = net(xb)", "out = net(xb)\n        optimizer.zero_grad()"),
        ("centers[labels] + torch.randn(1100, DIM)", "torch.randn(1100, DIM) + centers[labels]"),
        ("torch.manual_seed(7)", "torch.manual_seed(8)\ntorch.set_num_threads(1)"),
        ("range(EPOCHS)", "range(1, EPOCHS + 1)"),
        ("out.argmax(dim=1)", "out.argmax(1)"),
        ("running = 0.0", "running = 0.0\n    print('epoch', epoch)"),
        ("criterion = nn.CrossEntropyLoss()", "criterion = nn.CrossEntropyLoss(reduction='mean')"),
        ("mu = x_train.mean(dim=0)\nsigma = x_train.std(dim=0)", "sigma = x_train.std(0)\nmu = x_train.mean(0)"),
        ("loss = criterion(out, yb)", "loss = nn.functional.cross_entropy(input=out, target=yb)"),
    ],
)
def test_an_honest_change_of_a_line_breaks_nothing(tmp_path: Path, before: str, after: str) -> None:
    text = FLAT.read_text("utf-8")
    assert before in text
    path = tmp_path / "train.py"
    path.write_text(text.replace(before, after, 1), "utf-8")
    assert told(read_script([path]), read_script([FLAT])) == []


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("nn.Dropout(0.1)", "nn.Dropout(0.9)", "api.01"),
        ("    nn.ReLU(),\n    nn.Dropout(0.1),\n", "    nn.Dropout(0.1),\n", "cg.03"),
        ("lr=0.02, momentum", "lr=0.2, momentum", "hp.01"),
        ("EPOCHS = 4", "EPOCHS = 1", "hp.02"),
        ("BATCH = 32", "BATCH = 256", "hp.03"),
        ("x_val = (x_val - mu) / sigma", "x_val = x_val", "dp.02"),
        ("torch.softmax(out, dim=1)", "torch.softmax(out, dim=0)", "tr.11"),
        ("x_train, y_train = points[:800], labels[:800]", "x_train, y_train = points[:600], labels[:600]", "ds.04"),
    ],
)
def test_a_changed_line_breaks_one_item_at_that_line(tmp_path: Path, before: str, after: str, code: str) -> None:
    text = FLAT.read_text("utf-8")
    assert before in text
    path = tmp_path / "train.py"
    path.write_text(text.replace(before, after, 1), "utf-8")
    line = text[: text.index(before)].count("\n") + 1
    found = [one for one in asked(read_script([path]), read_script([FLAT])) if one.conclusion is Conclusion.FOUND]
    assert [one.code for one in found if one.because is None] == [code]
    assert abs((found[0].where.line or 0) - line) <= 1
    assert BOTH in found[0].extra["by"]
