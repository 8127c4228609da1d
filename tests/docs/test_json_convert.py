"""What ``convert --json`` prints is what the schema and its page say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.calling import environment
from docs.json_schema import faults

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
THE_SCHEMA: dict[str, Any] = json.loads((DOCS / "schema" / "trueline-1.schema.json").read_text("utf-8"))
PAGE = (DOCS / "json.md").read_text("utf-8")
NETWORK = """
import torch

def build():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 2))
"""


def convert(*arguments: str, cwd: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "trueline", "convert", *arguments, "--json"]
    done = subprocess.run(command, cwd=cwd, env=environment(), capture_output=True, text=True, encoding="utf-8")
    answer: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == answer["exit"], done.stderr
    assert list(faults(answer, THE_SCHEMA, THE_SCHEMA)) == []
    return answer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network, its weights, and a file of other names."""
    folder = tmp_path_factory.mktemp("convert")
    (folder / "network.py").write_text(NETWORK, "utf-8")
    making = "import torch, network; torch.save(network.build().state_dict(), 'net.pth')"
    subprocess.run([sys.executable, "-c", making], cwd=folder, env=environment(), check=True)
    np.savez(folder / "other.npz", **{"0.weight": np.zeros((3, 4), np.float32), "9.weight": np.zeros(7, np.float32)})
    return folder


def test_a_conversion_and_its_table(folder: Path) -> None:
    dry = convert("net.pth", "net.ckpt", "--dry-run", cwd=folder)
    assert (dry["written"], dry["names"]) == (None, "mindspore")
    assert {"1.gamma", "1.moving_mean"} <= {one["other_name"] for one in dry["mapped"]}
    assert [one["name"] for one in dry["dropped"]] == ["1.num_batches_tracked"]
    done = convert("net.pth", "net.ckpt", cwd=folder)
    assert (done["written"], done["mapped"]) == ("net.ckpt", dry["mapped"])
    assert "verified" not in done


def test_what_is_left_over(folder: Path) -> None:
    left = convert("net.pth", "left.npz", "--like", "other.npz", cwd=folder)
    assert (left["exit"], left["written"]) == (1, None)
    assert [one["name"] for one in left["missing"]] == ["9.weight"]
    assert "2.weight" in {one["name"] for one in left["unexpected"]}
    allowed = convert("net.pth", "left.npz", "--like", "other.npz", "--allow-missing", cwd=folder)
    assert (allowed["exit"], allowed["written"]) == (0, "left.npz")
    assert [(one["code"], one["conclusion"]) for one in allowed["findings"]] == [("cmp.06", "suspect")]


def test_a_verification(folder: Path) -> None:
    done = convert("net.pth", "net.safetensors", "--verify", "network:build", "network:build", cwd=folder)
    assert (done["exit"], done["verified"]["verdict"]) == (0, "equal")
    assert done["verified"]["outputs"][0]["distance"]["count"] == 4


def test_every_field_is_on_the_page() -> None:
    output = THE_SCHEMA["$defs"]["verified"]["properties"]["outputs"]["items"]["properties"]
    named = {name for part in ("convert", "mapped_array", "lacking_name", "verified") for name in fields(part)}
    assert {name for name in {*named, *output} if f"`{name}`" not in PAGE} == set()


def fields(part: str) -> set[str]:
    return set(THE_SCHEMA["$defs"][part]["properties"])
