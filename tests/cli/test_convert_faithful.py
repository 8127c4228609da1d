"""What lies beside the weights stays what it is, or is named: schedulers, optimizers, averages, odd values."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from cli.calling import call, environment
from torch import nn


def _net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 3), nn.LayerNorm(3), nn.Linear(3, 2))


def _stepped(net: nn.Module, optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
    for _ in range(2):
        net(torch.ones(5, 4)).square().sum().backward()
        optimizer.step()
    return optimizer


def _convert(*arguments: str | Path) -> dict[str, Any]:
    ended = call("convert", *arguments, "--json")
    assert ended.exit_code == 0, ended.output
    return json.loads(ended.stdout)


def test_a_scheduler_fires_as_before(tmp_path: Path) -> None:
    net = _net()
    optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 4])
    held = {
        "model": net.state_dict(),
        "scheduler": scheduler.state_dict(),
        "plan": [[1, 2], {3: "three"}],
        "none": None,
    }
    torch.save(held, tmp_path / "in.pth")
    _convert(tmp_path / "in.pth", tmp_path / "out.pth", "--keep", "all")
    out = torch.load(tmp_path / "out.pth", weights_only=True)
    assert out["plan"] == [[1, 2], {3: "three"}] and out["none"] is None
    assert out["scheduler"]["milestones"] == {2: 1, 4: 1}
    scheduler.load_state_dict(out["scheduler"])
    rates = []
    for _ in range(5):
        optimizer.step()
        scheduler.step()
        rates.append(optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx([1.0, 0.1, 0.1, 0.01, 0.01])


def test_what_cannot_be_written_again_is_named_and_never_turned_into_a_text(tmp_path: Path) -> None:
    torch.save(
        {"state_dict": _net().state_dict(), "hist": np.arange(5.0), "raw": b"ab", "epoch": 3}, tmp_path / "in.pth"
    )
    for ending in ("pth", "ckpt"):
        found = _convert(tmp_path / "in.pth", tmp_path / f"out.{ending}", "--keep", "all")
        assert {one["name"] for one in found["dropped"]} == {"hist", "raw"}
    out = torch.load(tmp_path / "out.pth", weights_only=True)
    assert out.keys() == {"state_dict", "epoch"} and out["epoch"] == 3


def test_values_inside_the_model_s_dictionary_stay_there(tmp_path: Path) -> None:
    torch.save({"model": {**_net().state_dict(), "step": 7}, "optimizer": {"lr": 1.0}}, tmp_path / "in.pth")
    _convert(tmp_path / "in.pth", tmp_path / "out.pth", "--keep", "all")
    out = torch.load(tmp_path / "out.pth", weights_only=True)
    assert out["model"]["step"] == 7 and out["optimizer"] == {"lr": 1.0}


def test_averaged_weights_are_converted_by_their_section(tmp_path: Path) -> None:
    net = _net()
    averaged = {name: one + 1 for name, one in net.state_dict().items()}
    torch.save({"state_dict": net.state_dict(), "ema": averaged}, tmp_path / "in.pth")
    found = _convert(tmp_path / "in.pth", tmp_path / "out.npz", "--names", "mindspore", "--section", "ema")
    written = np.load(tmp_path / "out.npz")
    np.testing.assert_array_equal(written["1.gamma"], averaged["1.weight"].numpy())
    assert len(found["mapped"]) == len(averaged)
    ended = call("convert", tmp_path / "in.pth", tmp_path / "x.npz", "--section", "emma")
    assert ended.exit_code == 2 and "ema" in ended.output


def test_weights_before_vectors_as_decay_groups_have_them(tmp_path: Path) -> None:
    net = _net()
    groups = [[one for one in net.parameters() if one.ndim > 1], [one for one in net.parameters() if one.ndim <= 1]]
    optimizer = _stepped(net, torch.optim.AdamW([{"params": one} for one in groups]))
    torch.save({"state_dict": net.state_dict(), "optimizer": optimizer.state_dict()}, tmp_path / "in.pth")
    _convert(tmp_path / "in.pth", tmp_path / "out.npz", "--keep", "optimizer")
    ended = call("convert", tmp_path / "in.pth", tmp_path / "out.ckpt", "--keep", "optimizer")
    assert ended.exit_code == 0 and "in the order" in " ".join(ended.output.split())
    ended = call("convert", tmp_path / "out.ckpt", tmp_path / "flat.npz", "--names", "same", "--keep", "optimizer")
    written = np.load(tmp_path / "flat.npz")
    wanted = optimizer.state[net[2].weight]["exp_avg"].numpy()
    np.testing.assert_array_equal(written["optimizer.moment1.2.weight"], wanted)
    np.testing.assert_array_equal(
        written["optimizer.moment1.1.gamma"], optimizer.state[net[1].weight]["exp_avg"].numpy()
    )


def test_a_momentum_that_means_something_else_there_is_left_and_named(tmp_path: Path) -> None:
    net = _net()
    optimizer = _stepped(net, torch.optim.RMSprop(net.parameters(), momentum=0.9))
    torch.save({"state_dict": net.state_dict(), "optimizer": optimizer.state_dict()}, tmp_path / "in.pth")
    found = _convert(tmp_path / "in.pth", tmp_path / "out.ckpt", "--keep", "optimizer")
    assert {one["name"].rpartition(".")[2] for one in found["dropped"]} == {"momentum_buffer"}


def test_a_request_to_end_leaves_nothing_behind(tmp_path: Path) -> None:
    hole = tmp_path / "in.safetensors"
    size = 6 << 30
    header = json.dumps({"a.weight": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
    with hole.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + size)
    command = [sys.executable, "-m", "trueline", "convert", str(hole), str(tmp_path / "out.ckpt")]
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while process.poll() is None and not list(tmp_path.glob(".*.part")):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait() == 128 + signal.SIGTERM
    assert [one.name for one in tmp_path.iterdir()] == ["in.safetensors"]
