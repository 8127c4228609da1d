"""``trueline demo``: the planted mistake is found at its layer, and the corrected port is silent."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import warm
from cli.calling import call
from click.testing import Result
from launching import IN_ORDER

from trueline.cli import demo as demo_verb
from trueline.cli.demo import find_examples
from trueline.compare.runs import compare_runs
from trueline.formats.run_folder.reader import open_run


def demo(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "trueline", "demo", *arguments]
    env = {**os.environ, "PYTHONIOENCODING": "utf-8", **IN_ORDER, **environment}
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=env, timeout=280, check=False)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, warm_guests: None) -> tuple[Result, Path]:
    folder = tmp_path_factory.mktemp("demo") / "runs"
    with warm.started_by(demo_verb):
        return call("demo", "--keep", folder, "--lang", "en", **IN_ORDER), folder


def test_the_demo_names_layer_lines_and_cure(told: tuple[Result, Path]) -> None:
    done, _ = told
    assert done.exit_code == 0, done.output
    text = " ".join(done.stdout.split())
    assert "The first difference is in layer2.conv1" in text
    assert "same inputs, different output" in text
    assert "The losses diverge suddenly at step 0" in text
    assert "model_torch.py:" in text and "model_mindspore.py:" in text
    assert "self.conv1 = nn.Conv2d(channels_in, channels_out, 3, stride=stride)" in text
    assert "pad_mode='pad', padding=1" in text
    assert "Traceback" not in done.stderr
    assert "recorded: the MindSpore port" in done.stderr


def test_the_corrected_port_takes_one_line(told: tuple[Result, Path]) -> None:
    done, _ = told
    lines = [line for line in done.stdout.splitlines() if "corrected port" in line]
    assert len(lines) == 1
    assert "no more than rounding" in lines[0]


def test_the_kept_runs_compare_as_told(told: tuple[Result, Path]) -> None:
    _, folder = told
    runs = {name: open_run(folder / name) for name in ("torch", "fault", "fixed")}
    port = compare_runs(runs["fault"], runs["torch"])
    assert port.first is not None and port.first.pair.a.module == "layer2.conv1"
    assert not port.weights.apart and port.weights.compared >= 20
    step = port.differing
    assert step is not None and step.step == 0 and step.inputs_agree is True
    assert not compare_runs(runs["fixed"], runs["torch"]).differs


def test_a_missing_package_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util, sys\n"
        "found = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *more: None if name == 'sklearn' else found(name, *more)\n"
    )
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = demo("--lang", "en", PYTHONPATH=path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.strip().splitlines() == [
        "trueline: The demo needs scikit-learn; install with: pip install scikit-learn"
    ]


def test_a_folder_with_files_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    done = demo("--keep", str(tmp_path), "--lang", "en")
    assert done.returncode == 2
    assert "is not empty" in done.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["mine.txt"]


def test_the_examples_are_where_the_demo_looks() -> None:
    assert {"train_torch.py", "train_mindspore.py", "digits_data.py"} <= {one.name for one in find_examples().iterdir()}


def test_help_in_both_languages_needs_no_numpy() -> None:
    code = (
        "import sys\nfrom trueline.cli.main import main\n"
        "try:\n  main()\nexcept SystemExit: pass\nprint('numpy' in sys.modules)"
    )
    for lang, word in (("en", "planted mistake"), ("zh", "预设错误")):
        command = [sys.executable, "-c", code, "demo", "--lang", lang, "--help"]
        env = {**os.environ, "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=env, check=False)
        shown = "".join(done.stdout.split()) if lang == "zh" else " ".join(done.stdout.split())
        assert word in shown, done.stdout + done.stderr
        assert shown.endswith("False")
