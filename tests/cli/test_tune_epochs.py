"""``trueline tune epochs`` on a recorded run and on logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli.calling import call
from docs.json_schema import faults
from launching import script, trueline

ROOT = Path(__file__).resolve().parent.parent.parent
SCHEMA: dict[str, Any] = json.loads((ROOT / "docs" / "schema" / "trueline-1.schema.json").read_text("utf-8"))

# More weights than samples, and labels that nothing explains: what is learned is of no use elsewhere.
OVERFITTING = """
import torch
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x = torch.randn(96, 8)
y = (x[:, 0] + 2 * torch.randn(96) > 0).long()
train = DataLoader(TensorDataset(x[:32], y[:32]), 16, shuffle=True)
valid = DataLoader(TensorDataset(x[32:], y[32:]), 24)
net = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))
optimizer = torch.optim.Adam(net.parameters(), 0.01)
for epoch in range(12):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        functional.cross_entropy(net(inputs), labels).backward()
        optimizer.step()
    net.eval()
    left = right = 0
    with torch.no_grad():
        for inputs, labels in valid:
            logits = net(inputs)
            left += functional.cross_entropy(logits, labels).item() * len(labels)
            right += (logits.argmax(1) == labels).sum().item()
    print(f"Epoch {epoch}: val_loss {left / 64:.6f} val_acc {right / 64:.4f}")
"""


def _answer(*asked: str | Path) -> dict[str, Any]:
    ended = call("tune", "epochs", *asked, "--json")
    found: dict[str, Any] = json.loads(ended.stdout)
    assert list(faults(found, SCHEMA, SCHEMA)) == []
    assert ended.exit_code == found["exit"]
    return found


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the run, and with what it printed."""
    folder = tmp_path_factory.mktemp("epochs")
    script(folder, OVERFITTING)
    done = trueline("run", "-o", "run", "train.py", cwd=folder, forked="torch")
    assert done.returncode == 0, done.stderr
    (folder / "train.log").write_text(done.stdout, "utf-8")
    return folder


def test_a_run_past_its_best_is_found_with_its_best_epoch(recorded: Path, tmp_path: Path) -> None:
    found = _answer(recorded / "run", "-o", tmp_path / "page.html")
    assert found["way"] == "past"
    assert found["exit"] == 1
    assert found["evaluations"] == 12
    (finding,) = found["findings"]
    assert (finding["code"], finding["conclusion"]) == ("hp.02", "found")
    assert finding["advice"] == f"Stop after evaluation {found['best']['evaluation']}, or keep the weights of that one."
    assert f"best: evaluation {found['best']['evaluation']}" in (tmp_path / "page.html").read_text("utf-8")


def test_the_recorded_losses_are_those_that_the_script_prints(recorded: Path) -> None:
    by_run, by_log = _answer(recorded / "run"), _answer(recorded / "train.log")
    assert by_run["curves"][0]["values"] == pytest.approx(by_log["curves"][0]["values"], abs=1e-5)
    assert by_run["curves"][0]["steps"] == [2 * epoch for epoch in range(1, 13)]
    assert by_log["way"] == by_run["way"]
    assert [one["name"] for one in by_log["curves"]] == ["val_loss", "val_acc"]
    assert _answer(recorded / "train.log", "--metric", "val_acc")["metric"] == "val_acc"


def _log(folder: Path, losses: list[float], name: str = "val_loss") -> Path:
    path = folder / "some.log"
    lines = [f"epoch {place} train loss {1 / (place + 1):.4f} {name} {loss}" for place, loss in enumerate(losses)]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def test_logs_still_falling_settled_and_too_short(tmp_path: Path) -> None:
    falling = _answer(_log(tmp_path, [1.0, 0.8, 0.65, 0.55, 0.47, 0.4]))
    assert (falling["way"], falling["findings"][0]["advice"]) == ("falling", "Train longer.")
    settled = _answer(_log(tmp_path, [1.0, 0.6, 0.5, 0.48, 0.48, 0.479]))
    assert (settled["way"], settled["exit"], settled["findings"][0]["conclusion"]) == ("settled", 0, "none")
    short = _answer(_log(tmp_path, [1.0, 0.6, 0.5]))
    assert (short["way"], short["exit"], short["findings"][0]["conclusion"]) == ("too_few", 0, "open")
    assert "3 evaluations" in short["conclusion"]


def test_a_log_without_evaluations_says_so(tmp_path: Path) -> None:
    found = _answer(_log(tmp_path, [1.0, 0.8, 0.65, 0.55, 0.47, 0.4], "lr"))
    assert (found["way"], found["metric"], found["findings"][0]["conclusion"]) == (None, None, "open")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("nothing",), "nothing"),
        (("some.log", "--metric", "val_f1"), "there is no validation curve val_f1; there are: val_loss"),
        (("weights.npz",), "weights.npz"),
    ],
)
def test_what_cannot_be_meant_is_one_clear_line(
    asked: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _log(tmp_path, [1.0, 0.8, 0.7])
    (tmp_path / "weights.npz").write_bytes(b"PK")
    ended = call("tune", "epochs", *asked)
    assert ended.exit_code != 0
    assert said in ended.stderr + str(ended.exception or "")
