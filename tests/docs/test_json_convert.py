"""What ``convert --json`` prints is what the schema and its page say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from cli.converted_files import convert

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
THE_SCHEMA: dict[str, Any] = json.loads((DOCS / "schema" / "trueline-1.schema.json").read_text("utf-8"))
PAGE = (DOCS / "json.md").read_text("utf-8")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights of a network, and a file of other names."""
    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 2))
    torch.save(net.state_dict(), tmp_path / "net.pth")
    np.savez(tmp_path / "other.npz", **{"0.weight": np.zeros((3, 4), np.float32), "9.weight": np.zeros(7, np.float32)})
    monkeypatch.chdir(tmp_path)


def test_a_conversion_and_its_table() -> None:
    dry = convert("net.pth", "net.ckpt", "--dry-run")
    assert (dry["written"], dry["names"]) == (None, "mindspore")
    assert {"1.gamma", "1.moving_mean"} <= {one["other_name"] for one in dry["mapped"]}
    assert [one["name"] for one in dry["dropped"]] == ["1.num_batches_tracked"]
    done = convert("net.pth", "net.ckpt")
    assert (done["written"], done["mapped"]) == ("net.ckpt", dry["mapped"])
    assert "verified" not in done


def test_what_is_left_over() -> None:
    left = convert("net.pth", "left.npz", "--like", "other.npz", exit=1)
    assert (left["exit"], left["written"]) == (1, None)
    assert [one["name"] for one in left["missing"]] == ["9.weight"]
    assert "2.weight" in {one["name"] for one in left["unexpected"]}
    allowed = convert("net.pth", "left.npz", "--like", "other.npz", "--allow-missing")
    assert (allowed["exit"], allowed["written"]) == (0, "left.npz")
    assert [(one["code"], one["conclusion"]) for one in allowed["findings"]] == [("cmp.06", "suspect")]


def test_every_field_is_on_the_page() -> None:
    output = THE_SCHEMA["$defs"]["verified"]["properties"]["outputs"]["items"]["properties"]
    named = {name for part in ("convert", "mapped_array", "lacking_name", "verified") for name in fields(part)}
    assert {name for name in {*named, *output} if f"`{name}`" not in PAGE} == set()


def fields(part: str) -> set[str]:
    return set(THE_SCHEMA["$defs"][part]["properties"])
