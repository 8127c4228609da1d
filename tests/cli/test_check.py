"""The checklist from the command line: what it takes, what it answers, and how it ends."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import warm
from cli.calling import call, environment
from click.testing import Result as Ended
from docs.json_schema import faults

TRAIN = """
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
x = torch.randn(64, 4)
data = TensorDataset(x, (x[:, 0] > 0).long())
loader = DataLoader(data, batch_size=8)
net = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
"""
SHUFFLED = TRAIN.replace("batch_size=8)", "batch_size=8, shuffle=True)")
LINE = 8
ROOT = Path(__file__).resolve().parent.parent.parent
SCHEMA = json.loads((ROOT / "docs/schema/trueline-1.schema.json").read_text("utf-8"))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a script whose training data is not shuffled."""
    (tmp_path / "train.py").write_text(TRAIN, "utf-8")
    monkeypatch.chdir(tmp_path)
    yield tmp_path


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same project, recorded into ``run``."""
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "train.py").write_text(TRAIN + 'torch.save(net.state_dict(), "last.pth")\n', "utf-8")
    options = ("-m", "trueline", "run", "--quiet", "-o", "run", "train.py")
    done = warm.python("torch", folder, *options, env=environment())
    assert done.returncode == 0, done.stderr
    return folder


def answer(*arguments: str | Path) -> dict[str, Any]:
    ended = call("check", *arguments, "--json")
    told: dict[str, Any] = json.loads(ended.stdout)
    assert ended.exit_code == told["exit"], ended.stderr
    assert list(faults(told, SCHEMA, SCHEMA)) == []
    return told


def lines(told: dict[str, Any], code: str) -> list[tuple[str, int]]:
    found = [one for one in told["findings"] if one["code"] == code and one["conclusion"] == "found"]
    return [(one["where"]["file"], one["where"]["line"]) for one in found]


def refused(ended: Ended, *words: str) -> None:
    """One line that has these words, and exit code 2."""
    assert (ended.exit_code, ended.stdout) == (2, ""), ended.output
    assert ended.stderr.count("\n") == 1
    for word in words:
        assert word in ended.stderr


def test_a_fault_is_found_on_its_line_with_what_to_do(project: Path) -> None:
    ended = call("check", "train.py", "--select", "dp.03", COLUMNS="80")
    assert ended.exit_code == 1
    assert "1 problem found: dp.03" in ended.stdout and f"train.py:{LINE}" in ended.stdout
    assert "shuffle=True" in ended.stdout
    assert max(len(line) for line in ended.stdout.splitlines()) <= 80


def test_without_a_path_the_scripts_here_are_read(project: Path) -> None:
    assert lines(answer(), "dp.03") == lines(answer("."), "dp.03") == [("train.py", LINE)]


def test_nothing_found_ends_with_0(project: Path) -> None:
    (project / "train.py").write_text(SHUFFLED, "utf-8")
    told = answer("train.py")
    assert told["exit"] == 0
    assert next(one for one in told["items"] if one["code"] == "dp.03")["conclusion"] == "none"


def test_codes_are_taken_in_capitals_too(project: Path) -> None:
    assert lines(answer("train.py", "--select", "DP.03"), "dp.03") == [("train.py", LINE)]


def test_every_item_ends_in_one_of_five_words(project: Path) -> None:
    ended = call("check", "train.py", "--lang", "zh", "--json")
    words = {one["word"] for one in json.loads(ended.stdout)["items"]}
    assert words <= {"发现问题", "疑似", "无问题", "待确认", "不涉及"} and {"发现问题", "待确认"} <= words


@pytest.mark.parametrize("options", [("--ignore", "dp.03"), ("--ignore", "dp"), ("--select", "tr,mp.02")])
def test_items_and_families_are_chosen(project: Path, options: tuple[str, str]) -> None:
    told = answer("train.py", *options)
    assert told["exit"] == 0
    assert "dp.03" not in {one["code"] for one in told["items"]}


@pytest.mark.parametrize(
    "text",
    [
        "loader = DataLoader(data, batch_size=8)  # trueline: ignore[dp.03] the order is part of it",
        "# trueline: ignore[dp] the order is part of it\nloader = DataLoader(data, batch_size=8)",
        "loader = DataLoader(data, batch_size=8)  # trueline: ignore",
        "loader = DataLoader(\n    data,\n    batch_size=8,  # trueline: ignore[dp.03]\n)",
    ],
)
def test_a_comment_asks_not_to_be_told(project: Path, text: str) -> None:
    (project / "train.py").write_text(TRAIN.replace("loader = DataLoader(data, batch_size=8)", text), "utf-8")
    told = answer("train.py", "--select", "dp.03")
    assert told["exit"] == 0
    assert [one["code"] for one in told["ignored"]] == ["dp.03"]
    assert told["items"][0]["conclusion"] == "na"


def test_a_comment_for_something_else_changes_nothing_and_one_for_nothing_is_told(project: Path) -> None:
    changed = TRAIN.replace("size=8)", "size=8)  # trueline: ignore[tr.01, dp.99]")
    (project / "train.py").write_text(changed, "utf-8")
    told = answer("train.py")
    assert lines(told, "dp.03") == [("train.py", LINE)]
    assert [f"train.py:{LINE}" in note and "dp.99" in note and "tr.01" not in note for note in told["notes"]] == [True]


def test_a_project_has_its_own_choice(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.trueline.check]\nignore = ["dp.03"]\n', "utf-8")
    assert answer("train.py")["exit"] == 0
    # What is asked for by name is asked.
    assert answer("train.py", "--select", "dp.03")["exit"] == 1
    (project / "pyproject.toml").write_text('[tool.trueline.check]\nselect = ["dp"]\n', "utf-8")
    assert {one["code"].partition(".")[0] for one in answer("train.py")["items"]} == {"dp"}


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ('select = "dp"', "select"),
        ('ignore = ["xx"]', "xx"),
        ('[tool.trueline.check.limits]\n"xx.01" = {a = 1}', "xx.01"),
        ('[tool.trueline.check.limits]\n"tr.05" = {no_such = 1}', "no_such"),
        ("chosen = 1", "chosen"),
        ("select = [", "pyproject.toml"),
    ],
)
def test_settings_that_make_no_sense_are_one_line(project: Path, settings: str, word: str) -> None:
    (project / "pyproject.toml").write_text(f"[tool.trueline.check]\n{settings}\n", "utf-8")
    refused(call("check", "train.py"), word)


def test_a_file_that_is_no_python_among_others_is_a_note(project: Path) -> None:
    (project / "broken.py").write_text("def f(:\n", "utf-8")
    told = answer("train.py", "broken.py")
    assert lines(told, "dp.03") == [("train.py", LINE)]
    assert len(told["notes"]) == 1 and "broken.py" in told["notes"][0] and "line 1" in told["notes"][0]


def test_bad_input_is_one_line(project: Path) -> None:
    (project / "broken.py").write_text("def f(:\n", "utf-8")
    (project / "zeros.py").write_bytes(b"\0\0\0")
    (project / "notes.txt").write_text("hello", "utf-8")
    (project / "empty").mkdir()
    refused(call("check", "broken.py"), "broken.py", "line 1")
    refused(call("check", "zeros.py"), "zeros.py")
    refused(call("check", "notes.txt"), "notes.txt", "--data")
    refused(call("check", "empty"), "empty")
    refused(call("check", ""), "no script")
    (project / "best.pth").write_bytes(b"nothing of the kind")
    refused(call("check", "best.pth"), "best.pth")
    refused(call("check", "missing.pth"), "missing.pth")
    refused(call("check", "missing.py"), "missing.py")
    refused(call("check", "train.py", "--select", "xx"), "xx")
    refused(call("check", "train.py", "--select", "dp", "--ignore", "dp"))
    refused(call("check", "train.py", "--bench"), "--bench")
    refused(call("check", "train.py", "--bench", "--json"), "--bench")
    refused(call("check", "train.py", "--data", "missing.csv"), "missing.csv")
    refused(call("check", "train.py", "-o", "list.pdf"), "list.pdf")


def test_links_that_lead_nowhere_or_in_a_circle_are_stepped_over(project: Path) -> None:
    (project / "circle.py").symlink_to("circle.py")
    (project / "nowhere.py").symlink_to("gone.py")
    assert lines(answer("."), "dp.03") == [("train.py", LINE)]


def test_a_run_that_never_trained_is_refused(project: Path) -> None:
    (project / "run" / "rank-00000").mkdir(parents=True)
    refused(call("check", "run"), "run", "training step")
    refused(call("check", "train.py", "run"), "run", "training step")


def test_two_runs_are_one_too_many_unless_one_is_the_benchmarks(recorded: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(recorded)
    refused(call("check", "run", "run"), "run")
    told = answer("train.py", "run", "--bench", "train.py", "run", "--select", "dp")
    assert told["looked_at"] == {"script": "train.py", "run": "run", "bench_script": "train.py", "bench_run": "run"}


def test_a_script_and_its_run_are_one_finding_with_line_and_step(recorded: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(recorded)
    told = answer("train.py", "run", "last.pth", "--select", "dp.03")
    (only,) = [one for one in told["findings"] if one["conclusion"] == "found"]
    assert (only["where"]["file"], only["where"]["line"], only["by"]) == ("train.py", LINE, "script, run")
    assert only["where"]["step"] is not None and only["also"][0]["by"] == "run"
    assert told["looked_at"]["weights"] == "last.pth"
    # The run alone names the line where it shows, in its own copy of the source.
    alone = answer("run", "--select", "dp.03")
    assert lines(alone, "dp.03") == [("train.py", 12)]


def test_a_script_that_is_another_by_now_is_told(recorded: Path, tmp_path: Path) -> None:
    changed = tmp_path / "train.py"
    changed.write_text(SHUFFLED, "utf-8")
    assert [str(changed) in note for note in answer(changed, recorded / "run")["notes"]] == [True]
    assert answer(recorded / "train.py", recorded / "run")["notes"] == []


def test_a_run_of_another_script_is_told(recorded: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text(SHUFFLED, "utf-8")
    (note,) = answer(other, recorded / "run")["notes"]
    assert "train.py" in note


@pytest.mark.parametrize("name", ["params.json", "modules.json"])
def test_a_damaged_run_is_one_line(recorded: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(recorded / "run", tmp_path / "run")
    damaged = tmp_path / "run" / "rank-00000" / name
    damaged.write_bytes(damaged.read_bytes()[:20])
    refused(call("check", tmp_path / "run"), name)


def test_a_script_that_leads_too_far_is_told_and_the_rest_is_read(project: Path) -> None:
    deep = "from torch import nn\n\nclass Net(nn.Module):\n    def __init__(self, deep):\n        super().__init__()\n"
    deep += "        self.parts = nn.ModuleList([Net(deep - 1), Net(deep - 1)] if deep else [])\n\nNet(30)\n"
    (project / "deep.py").write_text(deep, "utf-8")
    (note,) = answer("deep.py")["notes"]
    assert "deep.py" in note


def test_the_files_that_are_written(project: Path) -> None:
    for name in ("list.html", "list.md", "list.sarif", "list.sarif.json"):
        ended = call("check", "train.py", "-o", name)
        assert ended.exit_code == 1 and name in ended.stderr
        assert f"train.py:{LINE}" in (text := (project / name).read_text("utf-8")) or '"startLine": 8' in text
    refused(call("check", "train.py", "-o", "list.md"), "list.md")
    assert call("check", "train.py", "-o", "list.md", "--force").exit_code == 1


@pytest.mark.parametrize("example", ["digits", "resnet50"])
def test_the_examples_are_healthy(example: str) -> None:
    told = answer(ROOT / "examples" / example)
    assert [one["message"] for one in told["findings"] if one["conclusion"] == "found"] == []
    assert told["exit"] == 0


def test_explain_in_both_languages_and_as_json() -> None:
    assert "dp.03" in call("explain", "dp.03").stdout
    assert call("explain", "dp.03").stdout != call("explain", "dp.03", "--lang", "zh").stdout
    refused(call("explain", "xx.99"), "xx.99")
    for arguments in (("explain", "--json"), ("explain", "dp.03", "--json")):
        told = json.loads(call(*arguments).stdout)
        assert list(faults(told, SCHEMA, SCHEMA)) == []
