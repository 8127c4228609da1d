"""The verb: what it says, what it leaves alone, how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import warm
from cli.calling import call, environment

from trueline.checks.mp_01_overflow.run import from_run
from trueline.formats.run_folder.reader import open_run

TRAIN = """
import sys
import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.drop, self.last = nn.Linear(4, 8), nn.Dropout(0.2), nn.Linear(8, 2)

    def forward(self, x):
        return 20 * self.last(self.drop(self.first(x).tanh()))


class Descent:
    # Half of a process's time is the import of what torch's own optimizers need.
    def zero_grad(self):
        net.zero_grad()

    @torch.no_grad()
    def step(self):
        for one in net.parameters():
            one -= 0.01 * one.grad


net = Net()
asked = [one for one in sys.argv[1:] if one != "--plainly"]
optimizer = Descent() if "--plainly" in sys.argv else torch.optim.Adam(net.parameters(), 0.01)
data = torch.utils.data.TensorDataset(torch.randn(24, 4), torch.randint(0, 2, (24,)), torch.arange(24))
for step, (x, y, places) in enumerate(torch.utils.data.DataLoader(data, 4, shuffle=True)):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    wrong = asked == ["sample"] and 7 in places or asked == ["step"] and step == 3
    loss = loss + (loss - loss.detach()).sqrt() if wrong else loss
    loss.backward()
    optimizer.step()
    print("step", step)
sys.exit(0 if asked else 7)
"""
LINE = TRAIN.splitlines().index("    loss = loss + (loss - loss.detach()).sqrt() if wrong else loss") + 1


def watch(folder: Path, *arguments: str, forked: str | None = "torch") -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(TRAIN)
    if forked:
        return warm.python(forked, folder, "-m", "trueline", "watch", *arguments, env=environment())
    command = [sys.executable, "-m", "trueline", "watch", *arguments]
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, encoding="utf-8")


def answer(folder: Path, *arguments: str, forked: str = "torch") -> dict[str, Any]:
    ended = watch(folder, "--json", "answer.json", *arguments, forked=forked)
    found: dict[str, Any] = json.loads((folder / "answer.json").read_text("utf-8"))
    own = found["script_exit"] if found["exit"] != 1 else 0
    assert ended.returncode == (own or found["exit"]), ended.stderr
    return found


def test_an_answer_that_cannot_be_written_is_shown_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN, "utf-8")
    (tmp_path / "answer.json").symlink_to("/dev/full")
    ended = watch(tmp_path, "--json", "answer.json", "train.py", "step", forked="torch")
    assert ended.returncode == 1, ended.stderr
    assert "could not be written" in ended.stderr and "sqrt" in ended.stderr


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str], dict[str, Any]]:
    """A script that counts its steps and goes wrong at one: its folder, how it ended and the answer."""
    folder, told = tmp_path_factory.mktemp("stopped"), tmp_path_factory.mktemp("told") / "answer.json"
    ended = watch(folder, "--json", str(told), "train.py", "step", forked=None)
    return folder, ended, json.loads(told.read_text("utf-8"))


def test_a_hit_is_told_with_its_operator_line_and_numbers_and_stops_the_script(
    stopped: tuple[Path, subprocess.CompletedProcess[str], dict[str, Any]],
) -> None:
    folder, ended, _ = stopped
    assert ended.returncode == 1
    assert [one for one in ended.stdout.splitlines() if one.startswith("step")][:4] == [f"step {i}" for i in range(4)]
    assert "step 5" not in ended.stdout
    assert "backward: the gradient of sqrt" in ended.stderr
    # A long path is broken where the line ends.
    assert f"train.py:{LINE}" in "".join(ended.stderr.split())
    assert "Inputs and outputs of sqrt" in ended.stderr
    assert sorted(one.name for one in folder.iterdir()) == ["train.py"]


def test_the_step_is_done_again_in_place_and_else_the_script_afresh(tmp_path: Path) -> None:
    asked = {"in_place": ("train.py", "sample"), "afresh": ("--no-replay", "train.py", "sample")}
    found = {way: answer(tmp_path, *arguments)["first"] for way, arguments in asked.items()}
    assert [one["way"] for one in found.values()] == ["in_place", "afresh"]
    # The very same numbers, with dropout and shuffling.
    assert {**found["in_place"], "way": ""} == {**found["afresh"], "way": ""}
    first = found["in_place"]
    assert (first["phase"], first["op"], first["line"]) == ("backward", "sqrt", LINE)
    assert first["cause"] == "sqrt_gradient_at_zero"


def test_a_large_state_is_kept_now_and_then_and_all_steps_since_are_done_again(tmp_path: Path) -> None:
    large = TRAIN.replace("nn.Linear(4, 8)", "nn.Linear(4, 1500)").replace("nn.Linear(8, 2)", "nn.Linear(1500, 2)")
    large = large.replace("self.drop, self.last", "self.wide, self.drop, self.last")
    large = large.replace("nn.Dropout(0.2)", "nn.Linear(1500, 1500), nn.Dropout(0.2)")
    large = large.replace("self.first(x).tanh()", "self.wide(self.first(x)).tanh()").replace("randn(24", "randn(40")
    large = large.replace("(24,)", "(40,)").replace("arange(24)", "arange(40)")
    large = large.replace("data = ", "rates = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)\ndata = ")
    large = large.replace('    print("step", step)', '    rates.step()\n    print("step", step)')
    (tmp_path / "large.py").write_text(large)
    found = [answer(tmp_path, *option, "large.py", "sample") for option in ((), ("--no-replay",))]
    assert found[0]["kept_bytes"] > 16 << 20
    first, other = (one["first"] for one in found)
    assert (first["way"], other["way"]) == ("in_place", "afresh")
    assert first["step"] % 6, "the step is one of those that are not begun from the kept state"
    assert {**first, "way": ""} == {**other, "way": ""}


def test_what_the_script_itself_counts_is_found_by_another_run(
    stopped: tuple[Path, subprocess.CompletedProcess[str], dict[str, Any]],
) -> None:
    _, ended, found = stopped
    assert ended.returncode == found["exit"] == 1
    first = found["first"]
    assert (first["way"], first["step"], first["line"]) == ("afresh", 3, LINE)


def test_a_script_that_does_not_expect_a_step_again_is_found_by_another_run(tmp_path: Path) -> None:
    checked = "    assert not seen & set(places.tolist())\n    seen |= set(places.tolist())\n    loss = nn.functional"
    strict = TRAIN.replace("    loss = nn.functional", checked).replace("data = ", "seen = set()\ndata = ")
    (tmp_path / "strict.py").write_text(strict)
    ended = watch(tmp_path, "--json", "answer.json", "strict.py", "sample")
    found = json.loads((tmp_path / "answer.json").read_text("utf-8"))
    assert "AssertionError" not in ended.stderr
    assert (found["first"]["way"], found["first"]["op"], found["script_exit"]) == ("afresh", "sqrt", 0)


def test_a_script_that_trains_nothing_is_said_to(tmp_path: Path) -> None:
    (tmp_path / "none.py").write_text("import torch\ntorch.ones(1) / 0")
    ended = watch(tmp_path, "none.py")
    assert (ended.returncode, ended.stderr) == (2, "trueline: No training step was seen: nothing was watched.\n")


def test_a_script_that_is_well_ends_as_it_would_and_says_how_much_was_kept(tmp_path: Path) -> None:
    found = answer(tmp_path, "train.py")
    assert (found["first"], found["exit"], found["script_exit"], found["steps"]) == (None, 2, 7, 6)
    parameters = 4 * 8 + 8 + 8 * 2 + 2
    assert found["kept_bytes"] >= 3 * 4 * parameters
    # A script that has failed is not called well.
    assert [one["conclusion"] for one in found["findings"]] == ["open"]
    assert found["conclusion"].endswith("finite in the 6 steps before the script ended with exit code 7.")


def test_going_on_lets_the_script_run_to_its_end(tmp_path: Path) -> None:
    ended = watch(tmp_path, "--go-on", "train.py", "step", "--plainly")
    assert ended.returncode == 1
    assert "step 5" in ended.stdout
    assert "backward: the gradient of sqrt" in ended.stderr


def test_a_limit_on_magnitude(tmp_path: Path) -> None:
    first = answer(tmp_path, "--limit", "3.5", "train.py", "--plainly")["first"]
    assert (first["kind"], first["step"], first["phase"]) == ("limit", 0, "forward")
    assert max(one["summary"]["max"] for one in first["outputs"]) > 3.5


def test_watchpoints_are_told_in_order_and_stop_nothing(tmp_path: Path) -> None:
    found = answer(tmp_path, "--on", "WCL:0.000001", "--on", "GV:1000", "train.py")
    codes = [one["code"] for one in found["findings"]]
    assert {"wp.wcl", "wp.gv"} <= set(codes)
    assert codes.index("wp.gv") < codes.index("wp.wcl")
    assert (found["first"], found["exit"], found["script_exit"]) == (None, 1, 7)
    shown = " ".join(watch(tmp_path, "--on", "GV:1000", "train.py").stderr.split())
    assert "limit absmean 1000, steps 1" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nothing.py",), "nothing.py"),
        (("--on", "XX", "train.py"), "WCL"),
        (("--limit", "0", "train.py"), "--limit"),
        (("--limit", "much", "train.py"), "--limit"),
        (("--limit", "nan", "train.py"), "--limit"),
        (("--on", "", "train.py"), '""'),
        (("--on", "TZ:", "train.py"), '""'),
        (("--json", "no/where.json", "train.py"), "no/where.json"),
        (("--json", "mine.py", "train.py"), "not overwritten"),
        ((str(Path(sys.executable).parent / "torchrun"), "train.py"), "launcher"),
        (("empty",), "empty"),
        (("-o", "run", "empty"), "-o"),
        (("-o", "", "train.py"), "name"),
        (("-m", "no.such.module"), "no.such.module"),
    ],
)
def test_what_cannot_be_meant_is_one_clear_line(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "mine.py").write_text("print(1)\n", "utf-8")
    ended = watch(tmp_path, *arguments)
    assert (tmp_path / "mine.py").read_text("utf-8") == "print(1)\n"
    assert ended.returncode == 2
    assert len(ended.stderr.strip().splitlines()) == 1
    assert said in ended.stderr


def test_the_recording_is_kept_where_a_folder_is_asked_for_with_the_hits_in_it(tmp_path: Path) -> None:
    found = answer(tmp_path, "-o", "kept", "--on", "WCL:0.000001", "train.py", "step")
    assert found["run"] == str(tmp_path / "kept")
    lines = (tmp_path / "kept" / "rank-00000" / "hits.jsonl").read_text("utf-8").splitlines()
    hits = [json.loads(one) for one in lines]
    assert hits[0] == {"code": "nf.01", **found["first"]}
    assert {one["code"] for one in hits[1:]} == {"wp.wcl"}
    rank = open_run(tmp_path / "kept").rank(0)
    assert [hit.code for hit in rank.hits] == [hit["code"] for hit in hits]
    first = rank.hits[0]
    assert (first.place.step, first.place.line, first.op) == tuple(hits[0][name] for name in ("step", "line", "op"))
    (said,) = from_run(open_run(tmp_path / "kept"))
    assert (said.message.id, said.where.line) == ("mp_01.operator", found["first"]["line"])
    assert sorted(one.name for one in tmp_path.iterdir()) == ["answer.json", "kept", "train.py"]
    again = watch(tmp_path, "-o", "kept", "train.py")
    assert (again.returncode, len(again.stderr.splitlines())) == (2, 1)
    well = watch(tmp_path, "-o", "well", "train.py")
    assert "trueline show well" in well.stderr
    assert not (tmp_path / "well" / "rank-00000" / "hits.jsonl").exists()
    assert call("show", tmp_path / "well").exit_code == 0


def test_an_interruption_ends_it_as_it_would_the_script(tmp_path: Path) -> None:
    waiting = '    print("go", flush=True)\n    __import__("time").sleep(60)'
    (tmp_path / "train.py").write_text(TRAIN.replace('    print("step", step)', waiting))
    process = subprocess.Popen(
        [sys.executable, "-m", "trueline", "watch", "train.py", "--plainly"],
        cwd=tmp_path,
        env=environment(TMPDIR=str(tmp_path)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"go\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert not list(tmp_path.glob("trueline-*"))


CARRIED = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.GRU(4, 8, batch_first=True)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
hidden = None
for step in range(8):
    x = torch.randn(2, 3, 4)
    if step == 6:
        x = x / (x - x).std(0)
    out, hidden = net(x, hidden)
    loss = out.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    hidden = hidden.detach()
    if step == 3 and "carried" in __import__("sys").argv:
        hidden = hidden / (hidden - hidden)
"""


@pytest.mark.parametrize(("asked", "step", "said"), [("carried", 3, "hidden = hidden /"), ("data", 6, "x = x /")])
def test_what_is_made_outside_the_network_is_named_with_its_own_step(
    tmp_path: Path, asked: str, step: int, said: str
) -> None:
    (tmp_path / "carried.py").write_text(CARRIED)
    first = answer(tmp_path, "carried.py", asked)["first"]
    assert said in CARRIED.splitlines()[first["line"] - 1]
    assert (first["op"], first["phase"], first["cause"]) == ("div", "forward", "division_by_zero")
    assert step <= first["step"] <= step + 1


SUMMED = """
import mindspore as ms
import numpy as np
from mindspore import nn, ops

ms.set_seed(1)
net, loss = nn.Dense(8, 3), nn.CrossEntropyLoss()
optimizer = nn.SGD(net.trainable_params(), 0.05)


def forward(x, y, step):
    out = net(x)
    if step == 3:
        out = out * 1 + ops.sqrt(out - out)
    return loss(out, y)


pull = ms.value_and_grad(forward, None, optimizer.parameters)
draw = np.random.RandomState(0)
for step in range(5):
    x, y = ms.Tensor(draw.randn(16, 8).astype("f4")), ms.Tensor(draw.randint(0, 3, 16).astype("i4"))
    optimizer(pull(x, y, step)[1])
"""


def test_a_gradient_is_followed_through_sums_that_the_framework_makes(tmp_path: Path) -> None:
    (tmp_path / "summed.py").write_text(SUMMED)
    first = answer(tmp_path, "summed.py", forked="mindspore")["first"]
    assert (first["step"], first["phase"], first["op"]) == (3, "backward", "sqrt")
    assert "sqrt" in SUMMED.splitlines()[first["line"] - 1]


GRAPH = (
    SUMMED[: SUMMED.index("def forward")]
    + """
ms.set_context(mode=ms.GRAPH_MODE)


class Whole(nn.Cell):
    def __init__(self):
        super().__init__()
        self.net, self.loss = net, loss

    def construct(self, x, y):
        return self.loss(FORWARD, y)


train = nn.TrainOneStepCell(Whole(), optimizer)
draw = np.random.RandomState(0)
x, y = draw.randn(48, 8).astype("f4"), draw.randint(0, 3, 48).astype("i4")
if BATCH:
    x[16 + 5, 2] = np.nan
for batch in ms.dataset.NumpySlicesDataset((x, y), shuffle=False).batch(16).create_tuple_iterator():
    train(*batch)
"""
)


@pytest.mark.parametrize(
    ("forward", "batch", "found"),
    [
        ("ops.log(self.net(x))", False, (0, "forward", "graph", "hidden")),
        # The loss is finite, and only the gradient is not, which nobody sees.
        ("ops.sqrt(self.net(x) * 0)", False, (0, "update", "graph", "hidden")),
        ("ops.relu(self.net(x))", True, (1, "data", "batch", "bad_sample")),
    ],
    ids=["forward", "gradient", "batch"],
)
def test_a_graph_hides_its_operators_and_is_not_taken_for_the_optimizer(
    tmp_path: Path, forward: str, batch: bool, found: tuple[int, str, str, str]
) -> None:
    (tmp_path / "graph.py").write_text(GRAPH.replace("FORWARD", forward).replace("BATCH", str(batch)))
    first = answer(tmp_path, "graph.py", forked="mindspore")["first"]
    assert (first["step"], first["phase"], first["op"], first["cause"]) == found
    assert first["samples"] == ([5] if batch else [])
