"""The checklist as SARIF: the standard's shape, and a place for everything that was found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from docs.json_schema import faults
from report.sarif_shape import SARIF

from trueline.checks.engine.check import found, suspect
from trueline.checks.engine.checklist import Checklist, Row, fill_in
from trueline.checks.engine.listing import all_checks
from trueline.checks.engine.report import report
from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import message
from trueline.report.sarif import render_sarif
from trueline.script.script import read_script

SAID = "tr_02.script.cut"


def written(*findings: Finding, ignored: tuple[Finding, ...] = (), notes: tuple[str, ...] = ()) -> dict[str, Any]:
    rows = [
        Row("dp.03", "a title", Conclusion.NA, findings[0], {}),
        Row("tr.02", "a title", Conclusion.NA, findings[0], {}),
    ]
    told: dict[str, Any] = json.loads(
        render_sarif(report(Checklist(rows, findings, ignored, {}, [message(one) for one in notes])))
    )
    assert list(faults(told, SARIF, SARIF)) == []
    run: dict[str, Any] = told["runs"][0]
    return run


def test_a_script_with_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "my train.py"
    path.write_text(
        "import torch\ndata = torch.utils.data.TensorDataset(torch.randn(64, 2))\n"
        "loader = torch.utils.data.DataLoader(data, 8)\nnet = torch.nn.Linear(2, 2)\n"
        "optimizer = torch.optim.SGD(net.parameters(), 0.1)\nfor epoch in range(2):\n    for x, y in loader:\n"
        "        optimizer.zero_grad()\n        torch.nn.functional.cross_entropy(net(x), y).backward()\n"
        "        optimizer.step()\n"
    )
    filled = fill_in(all_checks(), {"script": read_script([path])})
    told = json.loads(render_sarif(report(filled)))
    assert list(faults(told, SARIF, SARIF)) == []
    (result,) = [one for one in told["runs"][0]["results"] if one["kind"] == "fail"]
    rules = told["runs"][0]["tool"]["driver"]["rules"]
    assert result["ruleId"] == rules[result["ruleIndex"]]["id"] == "dp.03"
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "my%20train.py"},
        "region": {"startLine": 3},
    }


def test_how_grave_it_is_follows_from_how_sure_it_is() -> None:
    place = Location(file="/away/train.py", line=3)
    results = written(
        found(SAID, place),
        found(SAID, place, certainty=Certainty.LIKELY),
        found(SAID, place, because="dp.03"),
        suspect(SAID, place),
    )["results"]
    kinds = [(one["kind"], one["level"]) for one in results]
    assert kinds == [("fail", "error"), ("fail", "warning"), ("fail", "note"), ("review", "none")]
    assert results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "file:///away/train.py"


def test_what_a_run_found_has_its_step_and_module() -> None:
    (result,) = written(found(SAID, Location(module="net.fc", step=4), measured=float("nan")))["results"]
    assert result["locations"] == [{"logicalLocations": [{"fullyQualifiedName": "net.fc", "kind": "module"}]}]
    assert (result["properties"]["step"], result["properties"]["measured"]) == (4, "nan")


def test_what_is_left_out_is_suppressed_and_notes_and_crashes_are_told() -> None:
    crashed = Finding("tr.02", Conclusion.NA, message("failed"), error="ValueError: no")
    left_out = found(SAID, Location(file="train.py", line=3))
    run = written(crashed, ignored=(left_out,), notes=("a note",))
    assert [one["suppressions"] for one in run["results"]] == [[{"kind": "inSource"}]]
    told = run["invocations"][0]["toolExecutionNotifications"]
    assert [one["level"] for one in told] == ["error", "warning"] and "ValueError: no" in told[0]["message"]["text"]


def test_the_same_fault_keeps_its_fingerprint_when_it_moves() -> None:
    first, second = (found(SAID, Location(file="train.py", line=line)) for line in (3, 30))
    results = written(first, second)["results"]
    assert results[0]["partialFingerprints"] == results[1]["partialFingerprints"]
