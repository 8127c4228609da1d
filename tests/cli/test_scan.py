"""`trueline scan`: what a project uses, what becomes of it, and the calls of two scripts."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from cli.broken_files import is_one_line
from cli.calling import call
from docs.json_schema import faults

SCHEMA = json.loads(
    (Path(__file__).resolve().parent.parent.parent / "docs" / "schema" / "trueline-1.schema.json").read_text("utf-8")
)
SCRIPT = """
import torch
import timm
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.GELU()

    def forward(self, x):
        try:
            return self.act(x).view(-1)
        except ValueError:
            return x

def step(y, batch):
    torch.save(y, "a")
    torch._foreach_add_(batch)
    return y.mean()

timm.create_model("resnet18")
"""
MAPPED = "import torch\nfrom torch import nn\nclass Net(nn.Module):\n    pass\n"
PORT = "from mindspore import nn\nlayer = nn.GELU()\n"
BENCH = "from torch import nn\nlayer = nn.GELU()\n"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A script with something of everything."""
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    return path


def test_the_answer_comes_first_and_the_rest_is_folded(script: Path) -> None:
    done = call("scan", script, "--style", "classic", COLUMNS="250")
    assert done.exit_code == 1
    assert "do not map as they are" in done.stdout.replace("\n", " ")
    assert "torch._foreach_add_" in done.stdout
    assert "approximate is left out" in " ".join(done.stdout.split())
    assert "try and except" in done.stdout
    assert "left out here" in done.stdout


def test_json_is_of_the_schema(script: Path) -> None:
    done = call("scan", "--json", script)
    answer = json.loads(done.stdout)
    assert list(faults(answer, SCHEMA, SCHEMA)) == []
    verdicts = {use["name"]: use["verdict"] for use in answer["uses"]}
    assert verdicts["torch.save"] == "way_out"
    assert verdicts["torch._foreach_add_"] == "missing"
    assert verdicts["timm.create_model"] == "outside"
    assert verdicts[".mean"] == "undecided"
    assert answer["summary"]["uses"] == answer["summary"]["decided"] + 1
    assert [one["name"] for one in answer["networks"]] == ["Net"]
    assert [one["level"] for one in answer["graph_mode"]] == ["refused"]
    assert {finding["code"] for finding in answer["findings"]} >= {"api.11", "api.15"}


def test_what_maps_ends_in_zero(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(MAPPED)
    assert call("scan", tmp_path / "net.py").exit_code == 0


@pytest.mark.parametrize("ending", [".html", ".md", ".csv", ".sarif", ".sarif.json"])
def test_the_report_is_written_as_the_file_is_called(script: Path, tmp_path: Path, ending: str) -> None:
    output = tmp_path / f"scan{ending}"
    assert call("scan", script, "-o", output).exit_code == 1
    text = output.read_text("utf-8")
    assert "torch._foreach_add_" in text.replace("\\", "")
    if ending == ".csv":
        assert {row["verdict"] for row in csv.DictReader(text.splitlines())} >= {"missing", "undecided"}
    if ending.startswith(".sarif"):
        assert {one["ruleId"] for one in json.loads(text)["runs"][0]["results"]} >= {"api.11", "api.15"}
    assert call("scan", script, "-o", output).exit_code == 2
    assert call("scan", script, "-o", output, "--force").exit_code == 1


def test_two_scripts_are_compared(tmp_path: Path) -> None:
    bench, port = tmp_path / "bench.py", tmp_path / "port.py"
    bench.write_text(BENCH)
    port.write_text(PORT)
    done = call("scan", "--diff", bench, port)
    assert done.exit_code == 1
    assert "approximate" in done.stdout
    answer = json.loads(call("scan", "--diff", "--json", bench, port).stdout)
    assert list(faults(answer, SCHEMA, SCHEMA)) == []
    (one,) = answer["disagreements"]
    assert (one["bench"]["value"], one["port"]["value"], one["port"]["line"]) == ("'none'", "True", 2)
    assert call("scan", "--diff", bench, bench).exit_code == 0
    output = tmp_path / "diff.csv"
    assert call("scan", "--diff", bench, port, "-o", output).exit_code == 1
    assert "bench_value" in output.read_text()


def test_both_directions_and_languages(tmp_path: Path) -> None:
    (tmp_path / "port.py").write_text(PORT)
    answer = json.loads(call("scan", "--json", tmp_path / "port.py").stdout)
    assert (answer["from"], answer["to"], answer["uses"][0]["counterpart"]) == ("mindspore", "torch", "torch.nn.GELU")
    assert call("scan", "--to", "mindspore", tmp_path / "port.py").exit_code == 0
    assert "依赖不同的默认值" in call("scan", "--lang", "zh", tmp_path / "port.py").stdout.replace("\n", "")


@pytest.mark.parametrize(
    "arguments",
    [("nowhere.py",), (), ("--diff", "."), (".", "-o", "a.txt"), ("--style", "other", ".")],
)
def test_bad_usage_is_one_line(arguments: tuple[str, ...]) -> None:
    is_one_line(call("scan", *arguments))


def test_files_that_cannot_be_read_are_named_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("def f(:")
    (tmp_path / "net.py").write_text(MAPPED)
    done = call("scan", tmp_path, COLUMNS="250")
    assert done.exit_code == 0
    assert "bad.py was left out" in done.stdout
    assert call("scan", "--diff", tmp_path / "bad.py", tmp_path / "net.py").exit_code == 2


def test_an_empty_folder_is_bad_input(tmp_path: Path) -> None:
    assert call("scan", tmp_path).exit_code == 2


def test_nothing_is_said_of_what_was_not_read(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("def f(:")
    is_one_line(call("scan", tmp_path / "bad.py"))
    cells = [{"cell_type": "code", "source": text} for text in ("import torch\ntorch.relu(torch.ones(2))", "def f(:")]
    (tmp_path / "book.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4, "metadata": {}}))
    answer = json.loads(call("scan", tmp_path / "book.ipynb", "--json").stdout)
    assert [skipped["file"].endswith("book.ipynb[2]") for skipped in answer["skipped"]] == [True]


def test_rewriting_takes_no_other_work(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(MAPPED)
    is_one_line(call("scan", "--rewrite", tmp_path / "out", "--diff", tmp_path / "net.py"))
    done = call("scan", "--rewrite", tmp_path / "out", tmp_path / "net.py", "--json")
    assert done.exit_code == 0
    answer = json.loads(done.stdout)
    assert list(faults(answer, SCHEMA, SCHEMA)) == []
    assert (tmp_path / "out" / "net.py").exists()


def test_files_of_the_framework_that_is_gone_to_are_said_to_be_written_already(tmp_path: Path) -> None:
    script = tmp_path / "net.py"
    script.write_text("import torch\n\nx = torch.ones(2)\n")
    done = call("scan", str(script), "--to", "torch")
    assert (done.exit_code, "written for PyTorch already" in " ".join(done.output.split())) == (0, True)
