"""The ResNet-50 tutorial, run from start to end with the commands on its page."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import warm
from click.testing import CliRunner
from launching import IN_ORDER

from trueline.cli.verbs import trueline

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "resnet50"
PAGES = {"en": ROOT / "docs" / "resnet50.md", "zh": ROOT / "docs" / "resnet50.zh.md"}
# Fewer steps say the same; where TRUELINE_WHOLE is set, it is the page's own numbers.
FEWER = {"--noise-runs 2 --noise-steps 12": "--noise-runs 1 --noise-steps 4", "--steps 12": "--steps 4"}
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[str]:
    """The lines that a reader types, in order."""
    return [
        line for kind, text in BLOCK.findall(page.read_text("utf-8")) if kind == "bash" for line in text.splitlines()
    ]


def free_port() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


class Reader:
    """Someone who types the page's commands, in a copy of the example."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", "images"))
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        own = {"PATH": path, "OMP_NUM_THREADS": "1", "PORT": free_port(), "TRUELINE_LANG": "en"}
        self.env = {**os.environ, **IN_ORDER, **own}
        self.left = commands(PAGES["en"])

    def next(self, wanted: str, code: int = 0) -> str:
        """Type what comes next on the page, and return what it prints, in one line."""
        command = self.left.pop(0)
        assert wanted in command
        for many, few in {} if os.environ.get("TRUELINE_WHOLE") else FEWER.items():
            command = command.replace(many, few)
        printed, told, ended = self._typed(command)
        assert ended == code, f"{command}\n{printed}{told}"
        return " ".join(printed.split())

    def _typed(self, command: str) -> tuple[str, str, int]:
        """What a command prints and tells, and how it ends; it begins with its framework imported."""
        program, *arguments = shlex.split(command)
        if arguments[0] == "pair" and not os.environ.get("TRUELINE_WHOLE"):
            with warm.guests(), contextlib.chdir(self.folder):
                called = CliRunner().invoke(trueline, arguments, env=self.env)
            return called.stdout, called.stderr, called.exit_code
        typed = {"python": [sys.executable], "trueline": [sys.executable, "-m", "trueline"]}.get(program)
        framework = "mindspore" if "pytest" in arguments else warm.framework_of(arguments, self.folder)
        if typed is not None and framework and not os.environ.get("TRUELINE_WHOLE"):
            done = warm.python(framework, self.folder, *typed[1:], *arguments, env=self.env)
        else:
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=self.folder,
                env=self.env,
                capture_output=True,
                text=True,
                timeout=800,
                check=False,
            )
        return done.stdout, done.stderr, done.returncode

    def settle(self) -> None:
        """Where to be and what to set, which no command of its own can do for the next."""
        assert self.left.pop(0) == "cd examples/resnet50"
        name, _, value = self.left.pop(0).removeprefix("export ").partition("=")
        self.env[name] = value


def losses(printed: str) -> list[float]:
    return [float(found) for found in re.findall(r"step \d+ loss ([\d.]+)", printed)]


def finds_the_four_differences(printed: str) -> None:
    assert "nn.Conv2d: pad_mode='same', padding=0; benchmark: pad_mode='pad', padding=3" in printed
    assert "nn.MaxPool2d: pad_mode='same', padding=0; benchmark: pad_mode='pad', padding=1" in printed
    assert re.search(r"nn.Conv2d: stride=1; benchmark: stride=2 .*module layer2.0.e2.0", printed)
    assert "extra op before `layer2.0.conv3`: max_pool (not in the benchmark)" in printed
    smoothing = "0.1 over the other K-1 classes in the port, 0.1 over all K classes in the benchmark"
    assert f"different label smoothing: {smoothing}" in printed
    assert re.search(r"Xavier \(Glorot\) uniform, std \S+; benchmark: Kaiming \(He\) normal, std \S+", printed)
    assert "initialisation of linear weight: normal, std 0.01; benchmark: uniform" in printed
    assert "passed data, parameters, weights, backward, update, metrics" in printed


@pytest.mark.timeout(1500)
def test_the_tutorial_from_start_to_end(tmp_path: Path) -> None:
    reader = Reader(tmp_path / "resnet50")
    reader.settle()
    reader.next("images.py")
    trained = losses(reader.next("train_torch.py"))
    assert trained[-1] < 0.6 * trained[0]
    judged = reader.next("eval_torch.py")

    finds_the_four_differences(reader.next("--port resnet_seed:", code=1))
    silent = reader.next("--port resnet_mindspore:")
    assert "agree within rounding" in silent and "found" not in silent
    assert re.search(r"\b13 passed", reader.next("pytest"))

    reader.next("trueline convert")
    torch, port = losses(reader.next("train_torch.py")), losses(reader.next("train_mindspore.py"))
    assert port == pytest.approx(torch, rel=1e-4)
    assert "differ by no more than rounding" in reader.next("trueline compare")

    assert reader.next("eval_mindspore.py") == judged
    both = losses(reader.next("two_processes_torch")), losses(reader.next("two_processes_mindspore"))
    assert len(both[0]) == 3 and both[1] == pytest.approx(both[0], rel=1e-4)
    assert not reader.left


def test_both_languages_show_the_same_commands_and_sections() -> None:
    texts = {lang: page.read_text("utf-8") for lang, page in PAGES.items()}
    assert commands(PAGES["en"]) == commands(PAGES["zh"])
    shapes = {lang: re.findall(r"^(#+ |\||```\w*|\*\*)", text, re.MULTILINE) for lang, text in texts.items()}
    assert shapes["en"] == shapes["zh"]
