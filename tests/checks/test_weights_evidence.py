"""A weight file as evidence: does the network start from it?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from launching import trueline

from trueline.checks.wi_02_wrong_pretrained_weights.weights import from_weights
from trueline.formats.kinds import look
from trueline.formats.opening import open_weights
from trueline.formats.run_folder.reader import Run, open_run

SCRIPT = """
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
np.savez("start.npz", **{name: value.numpy().copy() for name, value in net.state_dict().items()})
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(torch.randn(16, 4)), torch.randn(16, 2)).backward()
    optimizer.step()
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    folder = tmp_path_factory.mktemp("weights")
    (folder / "train.py").write_text(SCRIPT)
    done = trueline("run", "--quiet", "-o", "run", "train.py", cwd=folder, forked="torch")
    assert done.returncode == 0, done.stderr
    return open_run(folder / "run"), folder / "start.npz"


def told(run: Run, file: Path) -> list[tuple[str, str]]:
    return [(one.conclusion.value, one.message.id) for one in from_weights(run, open_weights(look(file)))]


def test_a_network_that_starts_from_the_file(recorded: tuple[Run, Path]) -> None:
    assert told(*recorded) == [("none", "wi_02.as_file")]


def test_a_network_that_starts_from_other_values(recorded: tuple[Run, Path], tmp_path: Path) -> None:
    run, file = recorded
    arrays = dict(np.load(file))
    np.savez(tmp_path / "other.npz", **{**arrays, "0.weight": arrays["0.weight"] + 1})
    assert told(run, tmp_path / "other.npz") == [("found", "wi_02.other_values")]


def test_a_file_of_other_names(recorded: tuple[Run, Path], tmp_path: Path) -> None:
    run, file = recorded
    np.savez(tmp_path / "names.npz", **{f"module.{name}": value for name, value in np.load(file).items()})
    assert told(run, tmp_path / "names.npz") == [("found", "wi_02.other_names")]
