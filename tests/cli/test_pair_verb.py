"""`trueline pair` on the command line: every planted cause with its line and edit, and no finding on a right port."""

from __future__ import annotations

import contextlib
import json
import re
import runpy
import shutil
import subprocess
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import warm
from cli.calling import call, environment, process
from docs.json_schema import faults

pytestmark = pytest.mark.usefixtures("warm_guests")
PROJECT = Path(__file__).parent / "pair_project"
SCHEMA = json.loads(
    (Path(__file__).resolve().parent.parent.parent / "docs" / "schema" / "trueline-1.schema.json").read_text("utf-8")
)
IMAGES = ("--input", "2x3x16x16")
STAGES = ["data", "parameters", "weights", "forward", "initial", "loss", "backward", "update", "curve", "metrics"]

MakeFolder = Callable[[], Path]


@pytest.fixture(scope="module")
def new_folder(tmp_path_factory: pytest.TempPathFactory) -> MakeFolder:
    """A copy of the project for each that asks, so that what a run leaves behind is seen."""

    def copied() -> Path:
        folder = tmp_path_factory.mktemp("project") / "mine"
        shutil.copytree(PROJECT, folder, ignore=shutil.ignore_patterns("__pycache__"))
        return folder

    return copied


def paired(folder: Path, *arguments: str | Path) -> tuple[int, dict[str, Any]]:
    """The exit code and the JSON of a run in this folder, which is as the schema says."""
    with contextlib.chdir(folder):
        ended = call("pair", *arguments, "--json")
    assert ended.exception is None or isinstance(ended.exception, SystemExit), ended.exception
    assert ended.exit_code in (0, 1), ended.output
    answer = json.loads(ended.stdout)
    assert answer["exit"] == ended.exit_code
    assert list(faults(answer, SCHEMA, SCHEMA)) == []
    return ended.exit_code, answer


def line_with(folder: Path, name: str, text: str) -> int:
    """The number of the one line of a file that has this text."""
    lines = (folder / name).read_text("utf-8").splitlines()
    (found,) = [number for number, line in enumerate(lines, 1) if text in line]
    return found


def causes(answer: dict[str, Any]) -> dict[str, str]:
    """Which cause is named for which module, of what stands by itself."""
    roots = [one for one in answer["findings"] if one["conclusion"] == "found" and one["because"] is None]
    return {one["module"]: one["cause"] for one in roots}


def left_behind(folder: Path) -> set[str]:
    """What lies in the folder that the project does not have; Python's own compiled files aside."""
    return {one.name for one in folder.iterdir()} - {one.name for one in PROJECT.iterdir()} - {"__pycache__"}


def under_pytest(framework: str, folder: Path, file: str) -> subprocess.CompletedProcess[str]:
    """A written test file under pytest, with no TrueLine to import."""
    apart = {name: value for name, value in environment().items() if name != "PYTHONPATH"}
    line = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), file)
    return warm.python(framework, folder, *line, env={**apart, "PYTHONPATH": str(folder)})


def edited(folder: Path, name: str, *changes: tuple[str, str]) -> None:
    """Make small edits in a file."""
    text = (folder / name).read_text("utf-8")
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (folder / name).write_text(text, "utf-8")


# A benchmark in torch, its port in MindSpore


def test_three_options_name_every_cause_with_its_line_and_edit(new_folder: MakeFolder) -> None:
    folder = new_folder()
    with contextlib.chdir(folder):
        ended = process("pair", "--bench", "net_torch:net", "--port", "net_mindspore:faulty", *IMAGES)
    assert (ended.returncode, ended.stderr) == (1, "")
    text = " ".join(ended.stdout.split())
    assert "2 causes, all confirmed" in text
    pool = line_with(folder, "net_mindspore.py", 'pad_mode="same"')
    norm = line_with(folder, "net_mindspore.py", "nn.BatchNorm2d(width, eps=eps)")
    for line in (pool, norm):
        assert f"net_mindspore.py:{line}" in text
    assert "pass pad_mode='pad', padding=1 to nn.MaxPool2d" in text
    assert "pass eps=1e-05 to nn.BatchNorm2d" in text
    # The benchmark's lines stand beside the port's.
    assert f"net_torch.py:{line_with(folder, 'net_torch.py', 'nn.MaxPool2d(3, 2, padding=1)')}" in text
    assert not left_behind(folder)


@pytest.fixture(scope="module")
def right(new_folder: MakeFolder) -> tuple[Path, int, dict[str, Any]]:
    """The right port with all its parts, and tests written for it."""
    folder = new_folder()
    options = (*IMAGES, "--parts", "parts.py", "--write-tests", "test_port.py")
    return folder, *paired(folder, "--bench", "net_torch:net", "--port", "net_mindspore:net", *options)


def test_a_right_port_has_no_finding_in_any_stage(right: tuple[Path, int, dict[str, Any]]) -> None:
    folder, code, answer = right
    assert (code, answer["exit"], answer["findings"]) == (0, 0, [])
    assert "net_mindspore:net matches net_torch:net" in answer["conclusion"]
    verdicts = {one["name"]: one["verdict"] for one in answer["stages"]}
    # No dataset is given.
    assert verdicts == {**dict.fromkeys(STAGES, "passed"), "data": "skipped"}
    assert left_behind(folder) == {"test_port.py", "test_port.npz"}
    cases = (folder / "test_port.py").read_text("utf-8").count("\n    ('")
    assert answer["tests"] == {"file": "test_port.py", "arrays": "test_port.npz", "cases": cases}


def test_written_tests_hold_until_the_port_is_changed(right: tuple[Path, int, dict[str, Any]]) -> None:
    folder, _, _ = right
    passed = under_pytest("mindspore", folder, "test_port.py")
    assert passed.returncode == 0, passed.stdout
    edited(folder, "net_mindspore.py", ("eps: float = 1e-5", "eps: float = 1e-2"))
    failed = under_pytest("mindspore", folder, "test_port.py")
    assert failed.returncode == 1, failed.stdout + failed.stderr
    assert "FAILED test_port.py::test_sub_network[block]" in failed.stdout


def test_a_graft_says_what_of_the_difference_remains(new_folder: MakeFolder) -> None:
    sides = ("--bench", "net_torch:net", "--port", "net_mindspore:faulty", *IMAGES, "--steps", "0")
    folder = new_folder()
    code, answer = paired(folder, *sides, "--graft", "block")
    (graft,) = answer["graft"]
    assert code == 1 and graft["modules"] == graft["other_modules"] == ["block"]
    assert graft["after"]["within"] and not graft["before"]["within"] and graft["first"] is None
    with contextlib.chdir(folder):
        ended = call("pair", *sides, "--graft", "blok")
    assert ended.exit_code == 2
    assert "no module blok; did you mean block?" in ended.stderr


# A benchmark in MindSpore, its port in torch


@pytest.fixture(scope="module")
def backwards(new_folder: MakeFolder) -> tuple[Path, int, dict[str, Any]]:
    folder = new_folder()
    options = (*IMAGES, "-o", "page.html", "--write-tests", "test_port.py")
    return folder, *paired(folder, "--bench", "net_mindspore:net", "--port", "net_torch:faulty", *options)


def test_mindspore_may_be_the_benchmark(backwards: tuple[Path, int, dict[str, Any]]) -> None:
    folder, code, answer = backwards
    assert (code, answer["exit"]) == (1, 1)
    assert causes(answer) == {"block": "residual", "block.norm": "eps"}
    for one in answer["findings"]:
        if one["module"] == "block.norm":
            line = line_with(folder, "net_torch.py", "eps=1e-2")
            assert (one["where"]["file"], one["where"]["line"]) == (str(folder / "net_torch.py"), line)
            assert one["values"] == {"bench": 1e-5, "port": 1e-2}
            assert "eps=1e-05" in one["advice"]


def test_json_has_the_contract_s_fields(backwards: tuple[Path, int, dict[str, Any]]) -> None:
    _, _, answer = backwards
    assert list(answer)[:5] == ["schema", "verb", "conclusion", "exit", "findings"]
    assert (answer["schema"], answer["verb"]) == ("trueline/1", "pair")
    assert (answer["bench"], answer["port"]) == ("net_mindspore:net", "net_torch:faulty")
    assert answer["inputs"] == [{"shape": [2, 3, 16, 16], "dtype": "float32"}]
    assert [one["name"] for one in answer["stages"]] == sorted(
        (one["name"] for one in answer["stages"]), key=STAGES.index
    )
    for one in answer["stages"]:
        assert one.keys() == {"name", "verdict", "message", "rules_out", "causes"}
    more = {"stage", "cause", "values", "confirmed", "latent", "module", "other_module", "other_line", "left"}
    for one in answer["findings"]:
        assert more <= one.keys()
        assert one["code"].startswith("pr.")
        assert one["where"]["side"] == "port"
    assert "pair" in SCHEMA["$defs"]


def test_what_follows_from_a_cause_is_no_cause_of_its_own(backwards: tuple[Path, int, dict[str, Any]]) -> None:
    _, _, answer = backwards
    follows = [one for one in answer["findings"] if one["cause"] not in ("residual", "eps")]
    assert [one["stage"] for one in follows if one["because"] is None] == []


def test_the_page_is_whole_and_has_the_causes(backwards: tuple[Path, int, dict[str, Any]]) -> None:
    folder, _, _ = backwards
    page = (folder / "page.html").read_text("utf-8")
    assert page.lstrip().startswith("<!")
    assert page.rstrip().endswith("</html>")
    assert "block.norm" in page
    assert "eps=1e-05" in page
    assert left_behind(folder) == {"page.html", "test_port.py", "test_port.npz"}
    assert re.search(r"Tests written: \d+ cases in test_port\.py, arrays in test_port\.npz", page)


def test_written_tests_fail_until_the_edits_are_made(backwards: tuple[Path, int, dict[str, Any]]) -> None:
    folder, _, _ = backwards
    failed = under_pytest("torch", folder, "test_port.py")
    assert failed.returncode == 1, failed.stdout + failed.stderr
    assert "FAILED test_port.py::test_sub_network[block]" in failed.stdout
    edited(
        folder,
        "net_torch.py",
        ("eps=1e-2", "eps=1e-5"),
        ("torch.relu(self.norm(self.conv(x)))", "torch.relu(self.norm(self.conv(x)) + x)"),
    )
    passed = under_pytest("torch", folder, "test_port.py")
    assert passed.returncode == 0, passed.stdout


# torch against torch


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter that has everything but TrueLine."""
    home = tmp_path_factory.mktemp("elsewhere")
    venv.create(home, with_pip=False)
    packages = next((home / "lib").glob("python*/site-packages"))
    for one in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if "trueline" not in one.name.lower() and not (packages / one.name).exists():
            (packages / one.name).symlink_to(one)
    return home / "bin" / "python"


def test_arguments_real_weights_and_another_interpreter(
    new_folder: MakeFolder, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    folder = new_folder()
    made = runpy.run_path(str(folder / "net_torch.py"))["Net"](4, 3)
    torch.save(made.state_dict(), folder / "real.pth")
    code, answer = paired(
        folder,
        *("--bench", "net_torch:net", "--port", "net_torch.py:net", "--steps", "0", *IMAGES),
        *("--args", "[4]", "--kwargs", '{"classes": 9}'),
        *("--bench-kwargs", '{"classes": 3}', "--port-kwargs", '{"classes": 3}'),
        *("--weights", "real.pth", "--bench-python", elsewhere),
    )
    assert (code, answer["findings"]) == (0, [])
    told = {one["name"]: one["message"] for one in answer["stages"]}
    width, classes = 4, 3
    elements = 27 * width + width + 9 * width * width + 2 * width + width * classes + classes
    assert f"({elements} elements)" in told["parameters"]
    assert "real.pth" in told["weights"]
    assert "curve" not in told


@pytest.mark.parametrize(("module", "wanted"), [("block.norm", {"block.norm": "eps"}), ("head", {})])
def test_one_module_is_looked_at_alone(new_folder: MakeFolder, module: str, wanted: dict[str, str]) -> None:
    options = ("--bench", "net_torch:net", "--port", "net_torch:faulty", *IMAGES, "--module", module)
    code, answer = paired(new_folder(), *options)
    assert causes(answer) == wanted
    assert code == bool(wanted)
    assert [one["module"] for one in answer["findings"] if one["because"] is None] == list(wanted)


@pytest.mark.parametrize("name", ["half", "mixed"])
def test_bfloat16_against_float32_is_a_matter_of_types_alone(new_folder: MakeFolder, name: str) -> None:
    options = ("--bench", "net_torch:net", "--port", f"net_torch:{name}", *IMAGES, "--steps", "0")
    _, answer = paired(new_folder(), *options)
    assert set(causes(answer).values()) <= {"dtype"}
    # One decision, not one for each parameter.
    assert len([one for one in answer["findings"] if one["because"] is None]) <= 1


def test_a_compiled_network_is_the_eager_one(new_folder: MakeFolder) -> None:
    options = ("--bench", "net_torch:net", "--port", "net_torch:compiled", *IMAGES, "--steps", "0")
    code, answer = paired(new_folder(), *options)
    assert (code, answer["findings"]) == (0, [])
    assert answer["modules"] == 7
