"""``trueline tune lr`` on real scripts: the bounds, where the script's own rate lies, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import warm
from cli.calling import call
from docs.json_schema import faults
from launching import IN_ORDER, script, trueline

ROOT = Path(__file__).resolve().parent.parent.parent
PROBLEMS = ROOT / "tests" / "eval" / "tune"
SCHEMA: dict[str, Any] = json.loads((ROOT / "docs" / "schema" / "trueline-1.schema.json").read_text("utf-8"))

# Short, at a rate that is too high, with two optimizers of which one takes a closure, and two losses for each update.
SHORT = """
import torch
torch.manual_seed(0)
x = torch.randn(64, 8)
y = x.sum(1, keepdim=True)
first, second = torch.nn.Linear(8, 1), torch.nn.Linear(8, 1)
one = torch.optim.SGD(first.parameters(), lr=5.0)
other = torch.optim.SGD([{"params": [second.weight]}, {"params": [second.bias], "lr": 0.1}], lr=2.0)

def closure():
    one.zero_grad()
    for part in (slice(0, 32), slice(32, 64)):
        loss = ((first(x[part]) - y[part]) ** 2).mean()
        loss.backward()
    return loss

for step in range(40):
    one.step(closure)
    other.zero_grad()
    ((second(x) - y) ** 2).mean().backward()
    other.step()
    print("rates", one.param_groups[0]["lr"], other.param_groups[1]["lr"])
open("written", "w").close()
"""
SLOW = """
import os, time
import torch
open("pid", "w").write(str(os.getpid()))
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(16, 4)
for step in range(1000):
    loss = ((net(x) - 1) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.02 if step < 30 else 600)
"""


def _answer(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    assert list(faults(found, SCHEMA, SCHEMA)) == []
    return found


def test_bounds_of_least_squares_are_where_calculation_puts_them(tmp_path: Path) -> None:
    asked = ("--json", "answer.json", "-o", "page.html", "--keep", "kept", str(PROBLEMS / "torch" / "least_squares.py"))
    done = trueline("tune", "lr", *asked, cwd=tmp_path, env={"TRUELINE_LANG": "en"}, forked="torch")
    assert done.returncode == 0, done.stderr
    found = _answer(tmp_path / "answer.json")
    assert 0.04 < found["upper"] < 0.25
    assert 0.0089 <= found["suggestion"] <= 0.158
    assert 0.0009 < found["lower"] < 0.09
    assert (found["own"], found["metric"], found["ended"]) == (0.05, "loss", "diverged")
    (finding,) = found["findings"]
    assert (finding["code"], finding["conclusion"]) == ("hp.01", "none")
    assert "upper 0.2" in done.stdout
    page = (tmp_path / "page.html").read_text("utf-8")
    assert f"suggested {found['suggestion']:.2g}" in page
    # What was tried is recorded, the rates too.
    assert "SGD" in call("show", tmp_path / "kept" / "range-1").stdout


def test_a_short_script_is_tried_again_and_a_rate_far_too_high_is_found(tmp_path: Path) -> None:
    script(tmp_path, SHORT)
    (tmp_path / "temporary").mkdir()
    env = {"TMPDIR": str(tmp_path / "temporary"), "TRUELINE_LANG": "en"}
    done = trueline("tune", "lr", "--json", "answer.json", "train.py", cwd=tmp_path, env=env, forked="torch")
    assert done.returncode == 1, done.stderr
    found = _answer(tmp_path / "answer.json")
    (finding,) = found["findings"]
    assert (finding["conclusion"], finding["message_id"]) == ("found", "tune_lr.too_high")
    assert found["suggestion"] < found["upper"] < 1.5
    assert (found["tried"]["steps"], found["shorter_than"], found["losses_each"]) == (40, 100, 2)
    assert found["optimizers"] == [{"kind": "SGD", "lr": [5.0]}, {"kind": "SGD", "lr": [2.0, 0.1]}]
    assert "2 optimizers" in done.stdout
    assert list((tmp_path / "temporary").glob("trueline-*")) == []


def test_a_compiled_step_in_graph_mode_with_a_list_of_rates(tmp_path: Path) -> None:
    asked = ("tune", "lr", "--json", "answer.json", str(PROBLEMS / "mindspore" / "digits_softmax.py"))
    done = trueline(*asked, cwd=tmp_path, env=IN_ORDER, forked="mindspore")
    assert done.returncode in (0, 1), done.stderr
    found = _answer(tmp_path / "answer.json")
    # By the sweep 0.56 to 3.2 are good rates, and 18 is none.
    assert 0.056 < found["lower"] < 0.56 < found["suggestion"] < 3.2
    assert found["suggestion"] < found["upper"] < 13
    assert found["own"] == 0.1


def test_ctrl_c_gives_the_result_so_far(tmp_path: Path) -> None:
    script(tmp_path, SLOW)
    (tmp_path / "temporary").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary"), "TRUELINE_LANG": "en"}
    command = [sys.executable, "-m", "trueline", "tune", "lr", "--json", "answer.json", "train.py"]
    streams = {"stdout": subprocess.PIPE, "text": True}
    running = warm.Popen(command, framework="torch", cwd=tmp_path, env=environment, **streams)
    told = tmp_path / "temporary"
    while not any(one.read_text().count('"update"') > 25 for one in told.glob("*/*.jsonl")):
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Interrupted" in out
    found = _answer(tmp_path / "answer.json")
    assert found["ended"] == "interrupted"
    assert len(found["curve"]) > 20
    assert list(told.glob("trueline-*")) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--from", "0.1", "--to", "0.01", "train.py"), "--from 0.1 is not below --to 0.01"),
        (("--from", "nan", "train.py"), "--from"),
        (("--to", "0", "train.py"), "--to"),
        (("--steps", "3", "train.py"), "--steps"),
        (("-o", "page.txt", "train.py"), "page.txt"),
        (("nothing.py",), "nothing.py: no such script"),
        (("--keep", ".", "train.py"), "--keep"),
        (("train.py",), "before any optimizer had stepped: ValueError: no data"),
    ],
)
def test_what_cannot_be_meant_is_one_clear_line(
    asked: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path, "raise ValueError('no data')")
    monkeypatch.chdir(tmp_path)
    ended = call("tune", "lr", *asked)
    assert ended.exit_code == 2 or ended.exception is not None
    text = ended.stderr + str(ended.exception or "")
    assert said in text
