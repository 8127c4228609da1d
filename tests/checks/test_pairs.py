"""A script beside its benchmark's: written otherwise it is the same, and one changed line is one finding."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trueline.checks.engine.checklist import fill_in
from trueline.checks.engine.listing import all_checks
from trueline.model.finding import READING_BOTH, Conclusion, Finding
from trueline.script.script import Script, read_script

PAIRS = Path(__file__).parent / "pairs"
PROJECTS = Path(__file__).parent.parent / "eval" / "checked" / "projects"
REWRITTEN = sorted(PAIRS.glob("*.py"))


def asked(script: Script, bench: Script) -> list[Finding]:
    ways = [one for one in all_checks() if set(one.evidence) <= {"script", "bench_script"}]
    return list(fill_in(ways, {"script": script, "bench_script": bench}).findings)


def told(script: Script, bench: Script) -> list[str]:
    return [
        f"{one.code} {one.where.file}:{one.where.line} {one.message.text('en')}"
        for one in asked(script, bench)
        if one.conclusion is Conclusion.FOUND or one.error is not None
    ]


def lines_of(one: Finding) -> list[int]:
    """The lines that a finding names, those of other ways that came to the same too."""
    return [one.where.line or 0, *(other["where"]["line"] or 0 for other in one.extra.get("also", []))]


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
CELLS = PROJECTS / "mindspore" / "blob_mlp_flat" / "train.py"


def changed(original: Path, folder: Path, before: str, after: str) -> tuple[Script, Script]:
    """The script with one passage changed, and the original."""
    text = original.read_text("utf-8")
    assert before in text
    path = folder / "train.py"
    path.write_text(text.replace(before, after, 1), "utf-8")
    return read_script([path]), read_script([original])


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
    assert told(*changed(FLAT, tmp_path, before, after)) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("nn.Dense(DIM, 48)", "nn.Dense(in_channels=DIM, out_channels=48, has_bias=True)"),
        ("learning_rate=0.1, momentum=0.9", "learning_rate=1e-1, momentum=0.9, nesterov=False"),
        ("x_tr.mean(0), x_tr.std(0)", "x_tr.mean(axis=0), x_tr.std(axis=0)"),
        ("logits.argmax(axis=1)", "logits.argmax(1)"),
        ("ms.set_seed(11)\n", "ms.set_seed(12)\n"),
        ("net.set_train(True)", "net.set_train()"),
        ("range(EPOCHS)", "range(1, EPOCHS + 1)"),
        ("logits = net(x)\n    return loss_fn(logits, y), logits", "out = net(x)\n    return loss_fn(out, y), out"),
        (
            "centers[c] + 0.6 * rng.normal(size=(per_class, DIM))",
            "0.6 * rng.normal(size=(per_class, DIM)) + centers[c]",
        ),
    ],
)
def test_an_honest_change_of_a_line_of_mindspore_breaks_nothing(tmp_path: Path, before: str, after: str) -> None:
    assert told(*changed(CELLS, tmp_path, before, after)) == []


BROKEN = [
    (FLAT, "nn.Dropout(0.1)", "nn.Dropout(0.9)", "api.01"),
    (FLAT, "    nn.ReLU(),\n    nn.Dropout(0.1),\n", "    nn.Dropout(0.1),\n", "cg.03"),
    (FLAT, "lr=0.02, momentum", "lr=0.2, momentum", "hp.01"),
    (FLAT, "EPOCHS = 4", "EPOCHS = 1", "hp.02"),
    (FLAT, "BATCH = 32", "BATCH = 256", "hp.03"),
    (FLAT, "x_val = (x_val - mu) / sigma", "x_val = x_val", "dp.02"),
    (FLAT, "torch.softmax(out, dim=1)", "torch.softmax(out, dim=0)", "tr.11"),
    (FLAT, "points[:800], labels[:800]", "points[:600], labels[:600]", "ds.04"),
    (CELLS, "nn.Dropout(p=0.1)", "nn.Dropout(p=0.6)", "api.01"),
    (CELLS, "    nn.ReLU(),\n", "", "cg.03"),
    (CELLS, "learning_rate=0.1", "learning_rate=2.5", "hp.01"),
    (CELLS, "BS, EPOCHS = 5, 8, 32, 3", "BS, EPOCHS = 5, 8, 32, 30", "hp.02"),
    (CELLS, "return loss_fn(logits, y), logits", "return loss_fn(ops.stop_gradient(logits), y), logits", "tr.02"),
]


@pytest.mark.parametrize(
    ("original", "before", "after", "code"), BROKEN, ids=lambda one: one if isinstance(one, str) else ""
)
def test_a_changed_line_breaks_one_item_at_that_line(
    tmp_path: Path, original: Path, before: str, after: str, code: str
) -> None:
    text = original.read_text("utf-8")
    line = text[: text.index(before)].count("\n") + 1
    findings = asked(*changed(original, tmp_path, before, after))
    found = [one for one in findings if one.conclusion is Conclusion.FOUND and one.because is None]
    assert {one.code for one in found} == {code}, [one.message.text("en") for one in found]
    assert any(abs(place - line) <= 1 and READING_BOTH in one.seen_by for one in found for place in lines_of(one))


def test_a_port_is_held_against_the_numbers_of_its_benchmark(tmp_path: Path) -> None:
    text = CELLS.read_text("utf-8").replace("learning_rate=0.1", "learning_rate=0.02")
    text = text.replace("weight_decay=1e-4", "weight_decay=0.0")
    path = tmp_path / "port.py"
    path.write_text(text, "utf-8")
    assert told(read_script([path]), read_script([FLAT])) == []
    path.write_text(text.replace("5, 8, 32, 3", "5, 8, 512, 3"), "utf-8")
    assert [one.split()[0] for one in told(read_script([path]), read_script([FLAT]))] == ["hp.03"]
    path.write_text(text.replace("learning_rate=0.02", "learning_rate=2"), "utf-8")
    assert [one.split()[0] for one in told(read_script([path]), read_script([FLAT]))] == ["hp.01"]


def test_a_number_counts_from_the_same_factor_on_in_one_framework_and_across_two(tmp_path: Path) -> None:
    own = changed(FLAT, tmp_path, "lr=0.02, momentum", "lr=0.06, momentum")
    assert [one.split()[0] for one in told(*own)] == ["hp.01"]
    text = CELLS.read_text("utf-8").replace("learning_rate=0.1", "learning_rate=0.06")
    path = tmp_path / "port.py"
    path.write_text(text, "utf-8")
    assert [one.split()[0] for one in told(read_script([path]), read_script([FLAT]))] == ["hp.01"]
