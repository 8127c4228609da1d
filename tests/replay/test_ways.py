"""What a replay is good for, and when it is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from replay.replaying import Recorded, recorded, trueline

from trueline.replay.bisect import Bisection

TRAIN = """
import sys
from pathlib import Path
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
scale = 2 if Path("scale").exists() else 1
second = nn.Linear(2, 2) if Path("second").exists() else None
x = torch.randn(80, 4)
x[:, 0] = torch.linspace(0.1, 1, 80)
x[44, 0] = 0.0
network = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.2), nn.Linear(8, 1))
optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9)
average = sum(batch.sum() for batch, in DataLoader(TensorDataset(x), 8)) / x.numel()
for (batch,) in DataLoader(TensorDataset(x), 8):
    optimizer.zero_grad()
    loss = (network(batch - average).squeeze(-1) - torch.log(batch[:, 0])).pow(2).mean()
    (scale * loss).backward()
    optimizer.step()
    print(loss.item())
    if not loss.isfinite():
        sys.exit("bad")
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Goes bad in step 5; the loader was gone through once before."""
    return recorded(tmp_path_factory.mktemp("run"), TRAIN, ["--keep-state", "4"])


def test_the_last_step_is_reached_as_the_second_and_watched(run: Recorded) -> None:
    found, printed = run.replay("--watch")
    assert printed == run.lines[4:5]
    first = next(one for one in found["findings"] if one["code"] == "nf.01")
    line = TRAIN.splitlines().index(
        "    loss = (network(batch - average).squeeze(-1) - torch.log(batch[:, 0])).pow(2).mean()"
    )
    assert (first["where"]["line"], first["where"]["step"], first["op"]) == (line + 1, 5, "log")
    assert (found["bitwise"], found["from"], found["step"], found["exit"]) == (True, 4, 5, 1)


def test_the_debugger_stops_where_the_step_has_its_batch(run: Recorded) -> None:
    ended = trueline(run.folder, "replay", "run", "--step", "4", "--debug", stdin="p batch[4, 0].item()\nw\nq\n")
    assert "optimizer.zero_grad()" in ended.stdout
    assert f"{0.1 + 0.9 * 36 / 79:.4f}"[:5] in ended.stdout
    assert "trueline" not in ended.stdout
    assert ended.returncode == 0


def test_a_replay_can_be_kept_with_its_tensors(run: Recorded) -> None:
    found, _ = run.replay("--step", "4", "-o", "again", "--tensors", "--grads")
    assert found["replay"] == str(run.folder / "again")
    shown = trueline(run.folder, "show", "again", "--json")
    assert json.loads(shown.stdout)["steps"] == 2
    kept = sorted(one.name for one in (run.folder / "again" / "rank-00000" / "tensors").iterdir())
    assert kept == ["3.safetensors", "4.safetensors"]


def test_nothing_is_left_on_disk_otherwise(run: Recorded) -> None:
    before = sorted(run.folder.iterdir())
    # From another folder than the run was started in.
    ended = trueline(run.folder.parent, "replay", f"{run.folder.name}/run", "--step", "3")
    assert (ended.returncode, ended.stdout.splitlines()) == (0, run.lines[2:4])
    assert sorted(run.folder.iterdir()) == before


def test_a_changed_source_is_refused_by_name(run: Recorded, tmp_path: Path) -> None:
    script = run.folder / "train.py"
    try:
        script.write_text(TRAIN.replace("lr=0.01", "lr=0.02"))
        assert "train.py" in run.refused()
    finally:
        script.write_text(TRAIN)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--step", "1"], "step 1 was not kept: these were: 2-5"),
        (["--step", "99"], "step 99 was not kept"),
        (["--tensors"], "-o"),
        (["--json", "nowhere/answer.json"], "nowhere/answer.json"),
        (["-o", "run"], "run"),
        (["-o", "/proc/nowhere"], "could not be recorded in /proc/nowhere"),
        (["--bisect", "--step", "3"], "--bisect"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(run: Recorded, options: list[str], words: str) -> None:
    assert words in run.refused(*options)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("5/state.safetensors", "{}"),
        ("4/state.json", "{"),
        ("4/state.json", '{"format": 2}'),
        ("5/fetched.json", '{"fetched": [{}], "ended": []}'),
        ("command.json", '{"script": 5}'),
    ],
)
def test_a_damaged_state_is_one_clear_line(run: Recorded, file: str, text: str) -> None:
    damaged = run.folder / "run" / "rank-00000" / "state" / file
    before = damaged.read_bytes()
    try:
        damaged.write_text(text, "utf-8")
        ended = trueline(run.folder, "replay", "run")
    finally:
        damaged.write_bytes(before)
    assert (ended.returncode, ended.stdout) == (2, "")
    (line,) = ended.stderr.splitlines()
    assert file in line


def test_a_run_without_states_says_how_to_keep_them(tmp_path: Path) -> None:
    assert "--keep-state" in recorded(tmp_path, TRAIN, []).refused()


def test_a_batch_that_is_no_data_is_refused_by_name(tmp_path: Path) -> None:
    own = TRAIN.replace("TensorDataset(x), 8)", "TensorDataset(x), 8, collate_fn=Batch)")
    own = own.replace("batch.sum() for batch,", "batch.x.sum() for batch").replace("for (batch,) in", "for batch in")
    own = own.replace("    optimizer.zero_grad()", "    batch = batch.x\n    optimizer.zero_grad()")
    holder = "class Batch:\n    def __init__(self, rows):\n        self.x = torch.stack([row for row, in rows])\n"
    holder += "        self.how = print\n\n\n"
    own = own.replace("torch.manual_seed(0)", holder + "torch.manual_seed(0)")
    assert "batch/how (builtin_function_or_method)" in recorded(tmp_path, own, ["--keep-state", "2"]).refused()


def test_a_set_up_that_builds_something_else_is_refused(run: Recorded) -> None:
    (run.folder / "second").touch()
    try:
        assert "torch.nn.modules.linear.Linear" in run.refused()
    finally:
        (run.folder / "second").unlink()


def test_what_else_decides_about_a_step_is_told(run: Recorded) -> None:
    (run.folder / "scale").touch()
    try:
        found, _ = run.replay("--step", "4")
    finally:
        (run.folder / "scale").unlink()
    assert found["bitwise"] is False
    findings = [(one["code"], one["conclusion"], one["where"]["step"]) for one in found["findings"]]
    assert findings == [("tr.28", "found", 3)]


def test_random_cells_of_mindspore_need_fixed_randomness(tmp_path: Path) -> None:
    program = (Path(__file__).parent / "mindspore_program.py").read_text("utf-8")
    said = recorded(tmp_path, program, ["--keep-state", "2"]).refused()
    assert "drop (Dropout)" in said
    assert "--deterministic" in said


HALF = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(24, 4)
x[17] *= 30000
network = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 1))
optimizer = torch.optim.SGD(network.parameters(), lr=1e-12)
for (batch,) in DataLoader(TensorDataset(x), 4):
    optimizer.zero_grad()
    with torch.autocast("cpu", torch.float16):
        out = network(batch)
        loss = (out.half() * 2).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())
"""


HALF_CELLS = """
import mindspore as ms
import numpy as np
from mindspore import amp, dataset, nn

ms.set_device("CPU")
ms.set_seed(1)
x = np.random.RandomState(0).randn(24, 4).astype(np.float32)
x[17] *= 1e6
network = amp.auto_mixed_precision(nn.SequentialCell(nn.Dense(4, 8), nn.Dense(8, 1)).set_train(), "O3")
optimizer = nn.SGD(network.trainable_params(), 1e-12)
forward = ms.value_and_grad(lambda batch: network(batch).mean(), None, network.trainable_params())
for (batch,) in dataset.NumpySlicesDataset(x, ["x"], shuffle=False).batch(4).create_tuple_iterator():
    loss, gradients = forward(batch)
    optimizer(gradients)
    print(float(loss.asnumpy()))
"""


@pytest.mark.parametrize("program", [HALF, HALF_CELLS], ids=["torch", "mindspore"])
def test_another_precision_tells_whether_it_was_that(tmp_path: Path, program: str) -> None:
    run = recorded(tmp_path, program, ["--keep-state", "6"])
    assert run.lines[4] in ("inf", "-inf", "nan")
    found, printed = run.replay("--step", "4", "--fp32")
    assert abs(float(printed[-1])) < 1e6
    assert found["steps"][1]["loss_again"] == float(printed[-1])
    assert found["bitwise"] is None
    assert "float32" in found["conclusion"]


SLOW = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(32, 4)
network = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(network.parameters(), lr=0.02)
for step, (batch,) in enumerate(DataLoader(TensorDataset(x), 8)):
    if step == 2:
        optimizer.param_groups[0]["lr"] = 20.0
    optimizer.zero_grad()
    (network(batch) - batch.sum(1, keepdim=True)).pow(2).mean().backward()
    optimizer.step()
"""


def test_the_last_good_state_of_a_run_that_went_bad_is_named(tmp_path: Path) -> None:
    found, _ = recorded(tmp_path, SLOW, ["--keep-state", "2"]).replay("--bisect")
    # The rate is wrong in step 2, so that the state before step 3 is the first bad one.
    assert found["last_good"] == 2
    assert [(one["code"], one["where"]["step"]) for one in found["findings"]] == [("tr.29", 2)]


@pytest.mark.parametrize("first_bad", [1, 7, 30, 62, 63])
def test_bad_states_are_searched_for_by_halves(first_bad: int) -> None:
    asked = []

    def measure(step: int) -> float:
        asked.append(step)
        return 9.0 if step >= first_bad else 1.0 - step / 100

    found = Bisection("run", 0)
    found.search(range(64), measure)
    assert (found.good, found.bad) == (first_bad - 1, first_bad)
    assert len(asked) <= 5 + 5
    assert found.finding().conclusion == "found"


def test_states_that_stay_good_are_no_problem_and_a_limit_decides_otherwise() -> None:
    def measure(step: int) -> float:
        return 2.0 - step / 10

    fine = Bisection("run", 0)
    fine.search(range(9), measure)
    assert (fine.bad, fine.finding().conclusion) == (None, "none")
    bad = Bisection("run", 0, limit=0.5)
    bad.search(range(9), measure)
    assert (bad.good, bad.finding().conclusion) == (None, "found")
