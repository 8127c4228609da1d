"""``trueline data debug`` from the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from cli.calling import call
from docs.json_schema import faults

HERE = Path(__file__).parent
SCHEMA: dict[str, Any] = json.loads(
    (HERE.parent.parent / "docs" / "schema" / "trueline-1.schema.json").read_text("utf-8")
)

pytestmark = pytest.mark.usefixtures("warm_guests", "inside")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(HERE / "pipeline_project", root, dirs_exist_ok=True)
    return root


@pytest.fixture
def inside(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)


def line_of(marker: str, file: str = "broken.py") -> int:
    text = (HERE / "pipeline_project" / file).read_text("utf-8").splitlines()
    return next(place for place, line in enumerate(text, 1) if line.endswith(f"# {marker}"))


def test_a_healthy_pipeline_is_fine_and_its_operators_are_listed() -> None:
    ended = call("data", "debug", "broken.py:healthy", COLUMNS="120")
    assert ended.exit_code == 0, ended.output
    first, *_ = ended.stdout.splitlines()
    assert first == "broken.py:healthy: no problem in 20 samples."
    assert "TensorDataset" in ended.stdout
    assert "default_collate" in ended.stdout


def test_a_sample_that_fails_is_named_with_operator_and_line_and_the_user_s_prints_stay_out(project: Path) -> None:
    ended = call("data", "debug", "broken:fails", "--json", "-o", "page.html")
    assert ended.exit_code == 1, ended.output
    answer = json.loads(ended.stdout)
    assert list(faults(answer, SCHEMA, SCHEMA)) == []
    (finding,) = answer["findings"]
    assert (finding["kind"], finding["operator"], finding["samples"]) == ("raises", "fail", [5])
    assert finding["where"] | {} == finding["where"] | {"file": "broken.py", "line": line_of("fails"), "sample": 5}
    assert "five is too much" in (project / "page.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("entry", "marker"), [("broken.py:Endless", "counts"), ("broken.py:builds", "builds"), ("waiting.py:x", "imports")]
)
def test_the_time_that_a_user_gives_holds_before_the_first_sample_too(entry: str, marker: str) -> None:
    ended = call("data", "debug", entry, "--json", "--timeout", "1")
    assert ended.exit_code == 1, ended.output
    finding = json.loads(ended.stdout)["findings"][0]
    assert finding["kind"] == "hangs"
    assert finding["where"]["file"].endswith(entry.partition(":")[0])
    assert finding["where"]["line"] == line_of(marker, entry.partition(":")[0])


@pytest.mark.parametrize(
    ("factory", "kind", "sample", "marker"),
    [
        ("ends", "dies", 7, None),
        ("hangs", "hangs", 4, "waits"),
        ("raises", "not_built", None, "raises"),
        ("Sizeless", "not_built", None, "no length"),
        ("wordless", "raises", 0, "no words"),
    ],
)
def test_what_kills_or_stops_the_process_is_named_too(
    factory: str, kind: str, sample: int | None, marker: str | None
) -> None:
    ended = call("data", "debug", f"broken.py:{factory}", "--json", "--timeout", "1")
    assert ended.exit_code == 1, ended.output
    answer = json.loads(ended.stdout)
    assert list(faults(answer, SCHEMA, SCHEMA)) == []
    finding = answer["findings"][0]
    assert (finding["kind"], finding["where"]["sample"]) == (kind, sample)
    if marker is not None:
        assert finding["where"]["line"] == line_of(marker)
    if sample is not None:
        assert finding["operator"] in ("end", "wait", "refuse")


def test_a_worker_that_dies_is_told() -> None:
    ended = call("data", "debug", "broken.py:worker_ends", "--json")
    assert ended.exit_code == 1, ended.output
    kinds = {one["kind"]: one["message"] for one in json.loads(ended.stdout)["findings"]}
    assert "exited unexpectedly" in kinds["raises"]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("broken.py", "expected module:factory"),
        ("nothing.py:make", "there is no file nothing.py"),
        ("broken.py:heathy", "did you mean healthy?"),
        ("broken.py:NOTHING", "no pipeline but of type int"),
        ("broken.py:asks", "requires arguments: argument"),
        ("lacking.py:make", "not_there_at_all"),
    ],
)
def test_what_is_no_pipeline_is_one_clear_line(entry: str, said: str) -> None:
    ended = call("data", "debug", entry)
    assert ended.exit_code == 2
    (line,) = ended.stderr.splitlines()
    assert said in line


def test_an_option_that_cannot_be_meant_is_refused_before_anything_runs(project: Path) -> None:
    for arguments in (["--samples", "0"], ["-o", "page.txt"], ["--timeout", "0"], ["--epochs", "0"]):
        ended = call("data", "debug", "broken.py:healthy", *arguments)
        assert (ended.exit_code, len(ended.stderr.splitlines())) == (2, 1), arguments


def test_chinese_says_the_same() -> None:
    ended = call("data", "debug", "broken.py:fails", TRUELINE_LANG="zh", COLUMNS="120")
    assert ended.exit_code == 1
    assert "发现问题" in ended.stdout
    assert "样本 5" in ended.stdout
