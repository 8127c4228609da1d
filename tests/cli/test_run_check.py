"""``trueline run --check``: problems are told while the script runs, the checklist when it has ended."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import warm
from cli.calling import environment
from docs.json_schema import faults

SCHEMA = json.loads(
    (Path(__file__).resolve().parent.parent.parent / "docs/schema/trueline-1.schema.json").read_text("utf-8")
)
TORCH = """
import sys
print("numpy" in sys.modules)
import torch
torch.manual_seed(1)
x = torch.randn(48, 4)
data = torch.utils.data.TensorDataset(x, (x[:, 0] > 0).long())
loader = torch.utils.data.DataLoader(data, 8, shuffle=True)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(4):
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
print(sum(one.double().sum() for one in net.parameters()).item())
"""
MINDSPORE = """
import numpy as np
import mindspore as ms
from mindspore import nn
ms.set_seed(1)
x = np.random.default_rng(1).normal(size=(48, 4)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int32)
data = ms.dataset.NumpySlicesDataset({"x": x, "y": y}, shuffle=True).batch(8)
net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 2))
optimizer = nn.SGD(net.trainable_params(), 0.1)
loss_of = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda x, y: loss_of(net(x), y), None, optimizer.parameters)
for epoch in range(4):
    for x, y in data.create_tuple_iterator():
        loss, gradients = step(x, y)
        optimizer(gradients)
"""
SCRIPTS = {"torch": TORCH, "mindspore": MINDSPORE}
# A fault of each, and the line where the run shows it.
UNSHUFFLED = {
    "torch": TORCH.replace("shuffle=True", "shuffle=False"),
    "mindspore": MINDSPORE.replace("shuffle=True", "shuffle=False"),
}


def run(folder: Path, text: str, *options: str, framework: str = "torch") -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(text, "utf-8")
    line = ("-m", "trueline", "run", "--check", "-o", "run", *options, "train.py")
    return warm.python(framework, folder, *line, env=environment())


@pytest.mark.parametrize("framework", ["torch", "mindspore"])
def test_a_healthy_training_is_told_nothing_and_ends_well(tmp_path: Path, framework: str) -> None:
    done = run(tmp_path, SCRIPTS[framework], "--quiet", framework=framework)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("framework", ["torch", "mindspore"])
def test_a_run_decides_what_it_has_seen_and_says_what_would_decide_the_rest(tmp_path: Path, framework: str) -> None:
    run(tmp_path, SCRIPTS[framework], "--quiet", "--json", "answer.json", framework=framework)
    items = {item["code"]: item for item in json.loads((tmp_path / "answer.json").read_text("utf-8"))["check"]["items"]}
    cleared = ("ds.01", "hp.03", "mp.01", "tr.10")
    absent = ("dp.02", "dp.05", "mp.02", "tr.03", "tr.04", "tr.07", "tr.08", "wi.02")
    # Labels of known classes, and a rate at which the loss falls, are no proof.
    undecided = {"ds.02": "trueline data sheet", "hp.01": "trueline tune lr", "cg.01": "--bench"}
    concluded = {code: items[code]["conclusion"] for code in (*cleared, *absent, *undecided)}
    assert concluded == {
        **dict.fromkeys(cleared, "none"),
        **dict.fromkeys(absent, "na"),
        **dict.fromkeys(undecided, "open"),
    }
    assert [code for code, command in undecided.items() if command not in items[code]["decided_by"]] == []


def test_what_a_training_that_failed_did_not_come_to_is_not_decided(tmp_path: Path) -> None:
    run(tmp_path, f"{TORCH}\nraise SystemExit(3)\n", "--quiet")
    line = ("-m", "trueline", "check", "run", "--select", "tr.07,tr.09,dp.02", "--json")
    told = json.loads(warm.python("torch", tmp_path, *line, env=environment()).stdout)
    assert {item["conclusion"] for item in told["items"]} == {"open"}


@pytest.mark.parametrize("framework", ["torch", "mindspore"])
def test_a_fault_is_told_in_the_first_steps_and_in_the_checklist(tmp_path: Path, framework: str) -> None:
    done = run(tmp_path, UNSHUFFLED[framework], "--json", "answer.json", framework=framework)
    assert done.returncode == 1, done.stderr
    during, _, after = done.stderr.partition("The checklist")
    (line,) = [one for one in during.splitlines() if re.match(r"trueline: after (2|5|20) steps:", one)]
    assert "dp.03" in line and "train.py:" in line
    assert "Problem found" in after and "tr.13" in after
    answer: dict[str, Any] = json.loads((tmp_path / "answer.json").read_text("utf-8"))
    assert list(faults(answer, SCHEMA, SCHEMA)) == []
    assert (answer["exit"], answer["script_exit"]) == (1, 0)
    assert {one["code"] for one in answer["check"]["items"] if one["conclusion"] == "found"} == {"dp.03"}


def test_layers_that_are_frozen_for_an_epoch_are_no_alarm(tmp_path: Path) -> None:
    thawed = TORCH.replace("    for x, y in loader:", "    net[0].requires_grad_(epoch > 0)\n    for x, y in loader:")
    assert thawed != TORCH
    done = run(tmp_path, thawed, "--quiet")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_training_is_the_same_and_its_output_its_own(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text(TORCH, "utf-8")
    plain = warm.python("torch", tmp_path, "plain.py", env=environment())
    assert run(tmp_path, TORCH).stdout == plain.stdout


def test_nothing_is_loaded_before_the_script_loads_it(tmp_path: Path) -> None:
    names = "('numpy', 'rich', 'trueline.checks.engine.checklist')"
    text = f"import sys\nprint([one for one in {names} if one in sys.modules])\n"
    (tmp_path / "train.py").write_text(text, "utf-8")
    import sys

    line = [sys.executable, "-m", "trueline", "run", "--check", "-o", "run", "train.py"]
    done = subprocess.run(line, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "[]\n"), done.stderr
    assert "nothing to fill in the checklist from" in done.stderr


def test_the_scripts_own_failure_stays_its_own(tmp_path: Path) -> None:
    done = run(tmp_path, UNSHUFFLED["torch"] + "\nsys.exit(7)\n", "--quiet")
    assert done.returncode == 7 and "dp.03" in done.stderr


def test_a_comment_is_heard_during_the_run_too(tmp_path: Path) -> None:
    spared = UNSHUFFLED["torch"].replace("shuffle=False)", "shuffle=False)  # trueline: ignore[dp.03] on purpose")
    spared = spared.replace("in loader:", "in loader:  # trueline: ignore[dp.03] on purpose")
    done = run(tmp_path, spared, "--quiet")
    assert (done.returncode, done.stderr) == (0, "")


def test_settings_are_the_projects_and_nonsense_in_them_is_told(tmp_path: Path) -> None:
    settings = tmp_path / "pyproject.toml"
    settings.write_text('[tool.trueline.check]\nignore = ["dp"]\n', "utf-8")
    assert run(tmp_path, UNSHUFFLED["torch"], "--quiet").returncode == 0
    settings.write_text('[tool.trueline.check]\nselect = ["xx"]\n', "utf-8")
    done = run(tmp_path, TORCH.replace('print("numpy"', 'print("begun"'), "--quiet", "-o", "other")
    # The training itself is not lost for it.
    assert done.returncode == 2 and done.stdout.startswith("False") and done.stderr.count("xx") == 1
    settings.write_text("[tool.trueline.check\n", "utf-8")
    done = run(tmp_path, TORCH, "--quiet", "-o", "third")
    assert (done.returncode, done.stdout) == (2, "") and "pyproject.toml" in done.stderr
