"""What ``pair --json`` prints is what the schema and its pages say."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli.calling import environment
from docs.json_schema import faults

from trueline.pair.blame import Cause, Stage, StageVerdict
from trueline.pair.report import CODES

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
THE_SCHEMA: dict[str, Any] = json.loads((DOCS / "schema" / "trueline-1.schema.json").read_text("utf-8"))
PAGE = (DOCS / "json.md").read_text("utf-8")
PAIR_PAGE = (DOCS / "pair.md").read_text("utf-8")
NETWORKS = """
from torch import nn

def bench():
    return nn.Sequential(nn.Linear(6, 5), nn.LayerNorm(5), nn.Linear(5, 3))

def port(eps=1e-5):
    return nn.Sequential(nn.Linear(6, 5), nn.LayerNorm(5, eps=eps), nn.Linear(5, 3))
"""


def pair(*arguments: str, cwd: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "trueline", "pair", "--bench", "networks:bench", "--port", "networks:port"]
    whole = [*command, "--input", "4x6", "--json", *arguments]
    done = subprocess.run(whole, cwd=cwd, env=environment(), capture_output=True, text=True, encoding="utf-8")
    answer: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == answer["exit"], done.stderr
    assert list(faults(answer, THE_SCHEMA, THE_SCHEMA)) == []
    return answer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two networks that differ in what they are built with."""
    folder = tmp_path_factory.mktemp("pair")
    (folder / "networks.py").write_text(NETWORKS, "utf-8")
    return folder


def test_a_port_with_a_fault(folder: Path) -> None:
    answer = pair("--port-kwargs", '{"eps": 0.1}', cwd=folder)
    found = answer["findings"][0]
    assert (found["cause"], found["confirmed"], found["values"]) == ("eps", True, {"bench": 1e-5, "port": 0.1})
    assert answer["exit"] == 1


def test_a_port_without(folder: Path) -> None:
    answer = pair("--steps", "0", cwd=folder)
    assert (answer["exit"], answer["findings"]) == (0, [])
    assert "curve" not in {one["name"] for one in answer["stages"]}


def test_the_schema_speaks_of_the_contract_as_the_code_has_it() -> None:
    defined = THE_SCHEMA["$defs"]
    assert defined["pair_stage"]["enum"] == [one.value for one in Stage]
    stage = defined["pair"]["properties"]["stages"]["items"]["properties"]
    assert set(stage["verdict"]["enum"]) == {one.value for one in StageVerdict}
    finding = defined["pair_finding"]["properties"]
    assert all(re.search(finding["code"]["pattern"], code) for code in CODES.values())
    assert all(re.search(finding["cause"]["pattern"], one.value) for one in Cause)


def test_every_field_cause_and_code_is_on_its_page() -> None:
    defined = THE_SCHEMA["$defs"]
    fields = {*defined["pair"]["properties"], *defined["pair_finding"]["properties"]}
    fields |= defined["pair"]["properties"]["stages"]["items"]["properties"].keys()
    assert {name for name in fields if f"`{name}`" not in PAGE} == {"findings"} & fields
    assert {one.value for one in Cause if f"`{one.value}`" not in PAIR_PAGE} == set()
    assert {code for code in CODES.values() if f"| {code} |" not in PAIR_PAGE} == set()
