"""Every cause has a line on both sides: its own, else the line that built its module, else the module's class."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueline
from trueline.pair.blame import Blame, Cause
from trueline.pair.places import by_file, short_file

NET = """
import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.ones(8))

    def forward(self, x):
        return x * self.factor


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.scale = Scale()
        self.last = nn.Linear(8, 4)

    def forward(self, x):
        x = self.scale(self.first(x))
        return self.last(x)
"""
PORT = (
    NET.replace("        self.factor = nn.Parameter(torch.ones(8))\n", "")
    .replace("x * self.factor", "x")
    .replace("return self.last(x)", "return self.last(x.detach()) * 2")
)


@pytest.fixture(scope="module")
def blames(tmp_path_factory: pytest.TempPathFactory) -> list[Blame]:
    folder = tmp_path_factory.mktemp("nets")
    (folder / "bench_net.py").write_text(NET)
    (folder / "port_net.py").write_text(PORT)
    return trueline.pair("bench_net:Net", "port_net:Net", "4x8", folder=folder, steps=0).blames


def line(blame: Blame) -> tuple[int, int]:
    assert blame.line is not None and blame.other_line is not None
    return blame.line.line, blame.other_line.line


def test_no_cause_lacks_a_line(blames: list[Blame]) -> None:
    assert {Cause.MISSING_PARAMETER, Cause.DETACHED} <= {blame.cause for blame in blames}
    for blame in blames:
        assert blame.line is not None and blame.line.file.endswith("port_net.py"), blame
        assert blame.other_line is not None and blame.other_line.file.endswith("bench_net.py"), blame


def test_a_parameter_of_a_users_class_lacks_where_the_class_was_built(blames: list[Blame]) -> None:
    (missing,) = [blame for blame in blames if blame.cause is Cause.MISSING_PARAMETER]
    port, bench = ([text.strip() for text in net.splitlines()] for net in (PORT, NET))
    built = "self.scale = Scale()"
    assert line(missing) == (port.index(built) + 1, bench.index(built) + 1)


def test_a_detached_gradient_of_the_whole_network_stands_beside_the_benchmarks_class(blames: list[Blame]) -> None:
    (detached,) = [blame for blame in blames if blame.cause is Cause.DETACHED]
    port, bench = PORT.splitlines(), NET.splitlines()
    stops = next(place for place, text in enumerate(port, 1) if "detach()" in text)
    assert line(detached) == (stops, bench.index("class Net(nn.Module):") + 1)


def test_a_file_is_as_short_as_it_can_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "lib" / "nets" / "models"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    short_file.cache_clear()
    assert short_file(str(package / "net.py")) == "nets/models/net.py"
    assert short_file(str(tmp_path / "here" / "net.py")) == "net.py"
    assert short_file(str(tmp_path / "net.py")) == str(tmp_path / "net.py")
    assert short_file("net.py") == "net.py"
    assert by_file([]) == {}
    short_file.cache_clear()
