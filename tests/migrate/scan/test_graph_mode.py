"""What is called refused MindSpore refuses, and only within reach of a forward pass."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from trueline.migrate.scan.graph_mode import LEVELS, Level, limits_of
from trueline.script.project import Project
from trueline.script.uses.found import FileUses, read_uses
from trueline.script.uses.imports import Imports

HEAD = """
import numpy as np
import mindspore as ms
from mindspore import nn, ops

STATE = 1

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.count = 0

    def parts(self, x):
        yield x

    def construct(self, x):
"""
BODIES = {
    "try": "try:\n    y = x + 1\nexcept ValueError:\n    y = x\nreturn y",
    "yield": "y = x\nfor part in self.parts(x):\n    y = y + part\nreturn y",
    "walrus": "if (n := x.shape[0]) > 1:\n    return x * n\nreturn x",
    "nonlocal": "c = x\ndef f():\n    nonlocal c\n    c = c + 1\nf()\nreturn c",
    "with": "with open('/dev/null') as file:\n    pass\nreturn x",
    "global": "global STATE\nSTATE = 2\nreturn x + STATE",
    "inplace": "x.add_(1.0)\nreturn x",
    "attribute_change": "self.count = self.count + 1\nreturn x",
    "host": "return ms.Tensor(x.asnumpy())",
    "numpy": "return x + ms.Tensor(np.ones((2, 2), np.float32))",
    "truth": "if x.sum() > 0:\n    x = x + 1\nreturn x",
    "item": "return x * x.sum().item()",
    "dynamic_shape": "return x[x > 0]",
    "slice_assign": "x[0] = 1.0\nreturn x",
    "dict_change": "d = {}\nd['a'] = x\nreturn d['a']",
    "isinstance": "if isinstance(x, ms.Tensor):\n    return x\nreturn x + 1",
    "print": "print(x.shape)\nreturn x",
    "lambda": "f = lambda a: a + 1\nreturn f(x)",
    "closure": "def f(a):\n    return a + x\nreturn f(x)",
}
REFUSED = sorted(kind for kind, level in LEVELS.items() if level is Level.REFUSED)
COMPILED = sorted(kind for kind, level in LEVELS.items() if level is Level.LIMITED)


def written(folder: Path, kind: str) -> Path:
    """A network whose forward pass does one thing."""
    path = folder / f"net_{kind}.py"
    path.write_text(HEAD + indent(BODIES[kind], " " * 8) + "\n")
    return path


def read(path: Path) -> FileUses:
    """What is found in it."""
    return read_uses(path, path.name, Imports(Project([path.parent], [])))


def test_every_kind_is_asked() -> None:
    assert BODIES.keys() == LEVELS.keys()


@pytest.mark.parametrize("kind", sorted(BODIES))
def test_every_kind_is_found(tmp_path: Path, kind: str) -> None:
    assert kind in {limit.kind for limit in limits_of(read(written(tmp_path, kind)))}


def compiles(path: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether MindSpore's graph mode compiles it at its lax level."""
    import importlib

    import mindspore as ms
    import numpy as np

    monkeypatch.syspath_prepend(path.parent)
    module = importlib.import_module(path.stem)
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        module.Net()(ms.Tensor(np.array([[1.0, -2.0], [3.0, 4.0]], np.float32)))
    except (RuntimeError, TypeError, ValueError):
        return False
    finally:
        ms.set_context(mode=before)
    return True


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_called_refused_is_refused(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not compiles(written(tmp_path, kind), monkeypatch)


@pytest.mark.parametrize("kind", COMPILED)
def test_what_is_called_limited_compiles_here(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiles(written(tmp_path, kind), monkeypatch)


def test_only_what_a_forward_pass_reaches_counts(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    source = """
    import torch
    from torch import nn

    def helper(x):
        if x.sum() > 0:
            return x
        return -x

    def train(x):
        print(x)

    class Net(nn.Module):
        def load(self):
            try:
                return open("a")
            except OSError:
                return None

        def forward(self, x):
            return self.inner(x)

        def inner(self, x):
            return helper(x)
    """
    path.write_text(dedent(source))
    assert [(limit.kind, limit.scope) for limit in limits_of(read(path))] == [("truth", "helper")]
