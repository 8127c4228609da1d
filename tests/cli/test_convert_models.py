"""`trueline convert --model` and `--verify`: real models of both frameworks, each built in a process of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from cli.broken_files import is_one_line
from cli.calling import call
from cli.converted_files import convert, loaded, renamed
from torch import nn

pytestmark = pytest.mark.usefixtures("warm_guests")
NETS = """
{imports}

class Net(nn.{base}):
    def __init__(self, eps=1e-5, width=6):
        super().__init__()
        self.table = {table}
        self.scale = {norm}
        self.first = {dense}(6, 6)
        self.second = {dense}(6, width)

    def {forward}(self, x):
        return self.second(self.first(self.scale(self.table(x))))

def net():
    return Net()

def other_eps():
    return Net(eps=1e-2)

def wider():
    return Net(width=7)

def broken():
    raise RuntimeError("no such\\nmodel today")
"""
TORCH = {
    "imports": "from torch import nn",
    "base": "Module",
    "table": "nn.Embedding(9, 6)",
    "norm": "nn.LayerNorm(6, eps=eps)",
    "dense": "nn.Linear",
    "forward": "forward",
}
MINDSPORE = {
    "imports": "from mindspore import nn",
    "base": "Cell",
    "table": "nn.Embedding(9, 6)",
    "norm": "nn.LayerNorm((6,), epsilon=eps)",
    "dense": "nn.Dense",
    "forward": "construct",
}
IN_MINDSPORE = {
    "table.weight": "table.embedding_table",
    "scale.weight": "scale.gamma",
    "scale.bias": "scale.beta",
    **{name: name for name in ("first.weight", "first.bias", "second.weight", "second.bias")},
}
FED = ("--input", "5:int32:0-9")


class Net(nn.Module):
    """The network that the user's modules build."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.scale = nn.Embedding(9, 6), nn.LayerNorm(6)
        self.first, self.second = nn.Linear(6, 6), nn.Linear(6, 6)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with both models and a file of the benchmark's weights."""
    torch.manual_seed(2)
    state = {name: torch.randn_like(one) for name, one in Net().state_dict().items()}
    torch.save(state, tmp_path / "bench.pth")
    (tmp_path / "bench.py").write_text(NETS.format(**TORCH))
    (tmp_path / "port.py").write_text(NETS.format(**MINDSPORE))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder: Path) -> Any:
    return loaded(folder / "port.ckpt")


def test_a_model_of_the_source_says_what_its_layers_are(here: Path) -> None:
    told = convert("bench.pth", "port.ckpt", "--model", "bench:net")
    assert renamed(told) == IN_MINDSPORE
    assert {one["certainty"] for one in told["mapped"]} == {"certain"}
    assert any("Embedding" in one["reason"] for one in told["mapped"])
    assert set(written(here)) == set(IN_MINDSPORE.values())


def test_a_model_that_does_not_fit_leaves_names_over(here: Path) -> None:
    told = convert("bench.pth", "port.ckpt", "--model", "port:wider", exit=1)
    assert {one["name"] for one in told["missing"]} == {"second.weight", "second.bias"}
    assert {one["name"] for one in told["unexpected"]} == {"second.weight", "second.bias"}
    assert not (here / "port.ckpt").exists()


def test_a_model_that_cannot_be_built_is_one_line(here: Path) -> None:
    is_one_line(
        call("convert", "bench.pth", "port.ckpt", "--model", "port:broken"), "port:broken", "no such", "port.py:25"
    )
    assert not (here / "port.ckpt").exists()


def test_a_right_conversion_is_verified(here: Path) -> None:
    told = convert("bench.pth", "port.ckpt", "--verify", "bench:net", "port:net", *FED)
    assert told["verified"]["verdict"] in ("equal", "noise")
    assert told["verified"]["outputs"][0]["distance"]["count"] == 5 * 6
    assert told["findings"] == []
    assert renamed(told) == IN_MINDSPORE
    state = torch.load("bench.pth", weights_only=True)
    assert np.array_equal(written(here)["table.embedding_table"], state["table.weight"].numpy())


def test_a_port_with_another_eps_is_found(here: Path) -> None:
    answer = call("convert", "bench.pth", "port.ckpt", "--verify", "bench:net", "port:other_eps", *FED)
    assert answer.exit_code == 1
    assert "x what rounding explains" in " ".join(answer.stdout.split())
    # The file is whole: it is the network that differs.
    assert set(written(here)) == set(IN_MINDSPORE.values())


def test_a_swapped_pair_of_one_shape_is_found(here: Path) -> None:
    Path("names.txt").write_text("first = second\nsecond = first\n")
    told = convert("bench.pth", "port.ckpt", "--map", "names.txt", "--verify", "bench:net", "port:net", *FED, exit=1)
    assert renamed(told)["first.bias"] == "second.bias"
    assert told["verified"]["verdict"] == "differs"
    assert [one["code"] for one in told["findings"]] == ["pr.01"]


def test_a_file_that_is_not_the_benchmarks_is_told(here: Path) -> None:
    answer = call("convert", "bench.pth", "port.ckpt", "--verify", "bench:wider", "port:net", *FED)
    is_one_line(answer, "bench:wider", "bench.pth", "second.weight", "6x6", "7x6")


def test_what_is_fed_is_looked_at_before_the_work(here: Path) -> None:
    for wrong in ("much", "5:int32:9-0", "5:text"):
        answer = call("convert", "bench.pth", "port.ckpt", "--verify", "bench:net", "port:net", "--input", wrong)
        is_one_line(answer, wrong)
    assert not (here / "port.ckpt").exists()
