from __future__ import annotations

import json
import math
import os
import re
from pathlib import Path

import pytest
from cli.calling import call
from cli.sample_runs import info, losses, record

from trueline.cli.cells import columns


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    record(tmp_path / "good", losses(40))
    record(tmp_path / "deep" / "nan", [*losses(5), math.nan], about=info(started="2025-06-01T00:00:00+00:00"))
    record(tmp_path / "two", losses(3), ranks=2, about=info(world=2, exit_code=1))
    return tmp_path


def listed(folder: Path) -> dict[str, dict[str, object]]:
    answer = json.loads(call("runs", folder, "--json").stdout)
    assert (answer["schema"], answer["verb"], answer["exit"]) == ("trueline/1", "runs", 0)
    return {one["name"]: one for one in answer["runs"]}


def test_a_row_for_every_run_below_a_folder(runs: Path) -> None:
    found = listed(runs)
    assert set(found) == {"good", "deep/nan", "two"}
    assert found["good"]["framework"] == "torch"
    assert found["good"]["version"] == "2.13.0"
    assert found["good"]["steps"] == 40
    assert found["good"]["last_loss"] == pytest.approx(losses(40)[-1])
    assert found["good"]["seconds"] == 65
    assert found["deep/nan"]["last_loss"] == "nan"
    assert (found["two"]["ranks"], found["two"]["state"], found["two"]["exit_code"]) == (2, "failed", 1)


def test_the_oldest_first(runs: Path) -> None:
    assert next(iter(listed(runs))) == "deep/nan"


def test_the_table_for_people(runs: Path) -> None:
    page = call("runs", runs, COLUMNS="120").stdout
    assert page.startswith("There are 3 runs in ")
    row = next(line for line in page.splitlines() if line.startswith("good"))
    assert row.split() == ["good", "torch", "2.13.0", *row.split()[3:-5], "40", "0.050605", "1:05", "1", "finished"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_nothing_is_cut_off_in_eighty_columns(runs: Path, lang: str) -> None:
    record(runs / "a-rather-long-name-20260102-030405", losses(3))
    page = call("runs", runs, "--lang", lang, COLUMNS="80").stdout
    lines = page.splitlines()
    heading = next(line for line in lines if "framework" in line or "框架" in line)
    width = columns(re.split("framework|框架", heading)[0])
    # Folded, a cell is a column of pieces.
    assert "a-rather-long-name-20260102-030405" in "".join(line[:width].strip() for line in lines)
    assert all(word in page for word in (["finished", "failed"] if lang == "en" else ["已结束", "失败（1）"]))


def test_without_an_end_a_run_is_alive_while_its_files_change(tmp_path: Path) -> None:
    run = record(tmp_path / "run", losses(3), about=info(ended=None, exit_code=None))
    assert listed(tmp_path)["run"]["state"] == "running"
    for path in [run, *run.rglob("*")]:
        os.utime(path, (1, 1))
    assert listed(tmp_path)["run"]["state"] == "killed"


def test_an_unreadable_run_is_a_row_that_says_why(runs: Path) -> None:
    (runs / "good" / "run.json").write_text("{")
    assert listed(runs)["good"]["state"] == "unreadable"
    page = call("runs", runs, COLUMNS="200").stdout
    assert "unreadable" in page
    assert "run.json: not valid JSON" in page
    assert "two" in page


def test_an_empty_folder_is_no_trouble(tmp_path: Path) -> None:
    answer = call("runs", tmp_path)
    assert answer.exit_code == 0
    assert "There are no runs" in answer.stdout


def test_a_run_folder_itself_is_listed(runs: Path) -> None:
    assert set(listed(runs / "good")) == {"good"}


def test_the_default_is_the_folder_runs(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    record(tmp_path / "elsewhere" / "runs" / "mine", losses(2))
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert json.loads(call("runs", "--json").stdout)["runs"][0]["name"] == "mine"
