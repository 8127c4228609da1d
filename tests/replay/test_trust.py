"""A run folder is replayed unasked only where it is plainly the user's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli.calling import environment
from replay.replaying import recorded

from trueline.model.message import message
from trueline.replay.trust import foreign

NOW = {"PATH": "/usr/bin", "OMP_NUM_THREADS": "1"}


def started(folder: Path, **other: Any) -> dict[str, Any]:
    own = {"script": "train.py", "args": ["--lr", "0.1"], "as_module": False, "cwd": str(folder)}
    return {**own, "executable": sys.executable, "environment": {"PATH": "/usr/bin"}, "withheld": [], **other}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "train.py").touch()
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "train.py").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_one_s_own_run_needs_no_question(here: Path) -> None:
    assert foreign(started(here), NOW) is None
    assert foreign(started(here, as_module=True, script="pkg.train"), NOW) is None
    assert foreign(started(here / "pkg"), NOW) is None
    threads = {"PATH": "/usr/bin", "OMP_NUM_THREADS": "8", "CUDA_VISIBLE_DEVICES": "1", "LANG": "C"}
    assert foreign(started(here, environment=threads), NOW) is None


@pytest.mark.parametrize(
    "other",
    [
        {"executable": "/opt/evil/python3"},
        {"script": "../train.py"},
        {"script": "/tmp/train.py"},
        {"cwd": "/"},
        {"as_module": True, "script": "timeit", "args": ["print(1)"]},
        {"environment": {"PATH": "/usr/bin", "LD_PRELOAD": "evil.so"}},
        {"environment": {"PATH": "/opt/evil:/usr/bin"}},
        {"environment": {"PYTHONPATH": "/opt/evil"}},
        {"environment": {"PYTHONSTARTUP": "evil.py"}},
        {"environment": {"TORCH_SOMETHING": "evil"}},
    ],
)
def test_anything_else_is_asked_for(here: Path, other: dict[str, Any]) -> None:
    found = foreign(started(here, **other), NOW)
    assert found is not None
    told = message("replay.untrusted", **found.said("run")).text("en")
    assert all(name in told for name in other.get("environment", {}) if name not in NOW)
    assert ("other values of" in told) == ("environment" in other) and "-." not in told


def test_a_link_does_not_lead_out_of_the_folder(here: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "train.py"
    outside.touch()
    (here / "linked.py").symlink_to(outside)
    assert foreign(started(here, script="linked.py"), NOW) is not None


PROGRAM = """
import os, torch
with open("ran", "a") as file:
    file.write(os.environ.get("PLANTED", "-") + "\\n")
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
data = torch.utils.data.DataLoader(torch.ones(8, 2), batch_size=2)
for x in data:
    optimizer.zero_grad()
    net(x).mean().backward()
    optimizer.step()
"""


def test_a_foreign_run_is_not_run_unasked(tmp_path: Path) -> None:
    run = recorded(tmp_path, PROGRAM, ["--keep-state", "2"])
    (place,) = [one for one in (tmp_path / "run").rglob("*.json") if "environment" in one.read_text("utf-8")]
    told = json.loads(place.read_text("utf-8"))
    planted = json.dumps(told).replace('"environment": {', '"environment": {"PLANTED": "here", ', 1)
    place.write_text(planted, "utf-8")

    def replay(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "trueline", "replay", "run", *options],
            cwd=run.folder,
            env=environment(OMP_NUM_THREADS="1"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    before = (tmp_path / "ran").read_text()
    refused = replay()
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1
    assert all(part in refused.stderr for part in (sys.executable, "train.py", "PLANTED", "--trust"))
    assert replay("--bisect").returncode == 2
    assert (tmp_path / "ran").read_text() == before
    trusted = replay("--trust")
    assert trusted.returncode == 0, trusted.stderr
    assert (tmp_path / "ran").read_text() == before + "here\n"
    assert "PLANTED" not in os.environ
