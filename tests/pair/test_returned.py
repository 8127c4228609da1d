"""Networks that return the same tensors otherwise put together, and networks that return another number of them."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueline
from trueline.pair.blame import Stage
from trueline.pair.pairing import Paired
from trueline.pair.report import result

NETS = """
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
import torch
from torch import nn

@dataclass
class Record:
    logits: torch.Tensor
    hidden: torch.Tensor

Both = namedtuple("Both", "logits hidden")
FORMS = {
    "tensor": lambda logits, hidden: logits,
    "one": lambda logits, hidden: {"logits": logits},
    "tuple": lambda logits, hidden: (logits, hidden),
    "list": lambda logits, hidden: [logits, hidden],
    "named": Both,
    "dict": lambda logits, hidden: {"logits": logits, "hidden": hidden},
    "ordered": lambda logits, hidden: OrderedDict(logits=logits, hidden=hidden),
    "record": Record,
}

class Net(nn.Module):
    def __init__(self, form, eps=1e-5):
        super().__init__()
        self.body, self.norm, self.head = nn.Linear(8, 8), nn.LayerNorm(8, eps=eps), nn.Linear(8, 4)
        self.form = form

    def forward(self, x):
        hidden = self.norm(self.body(x))
        return FORMS[self.form](self.head(hidden), hidden)
"""


def _paired(folder: Path, bench: str, port: str, **more: object) -> tuple[Paired, str]:
    """The stages, and the forward stage's sentence."""
    (folder / "nets.py").write_text(NETS, "utf-8")
    kwargs = {"bench_kwargs": {"form": bench}, "port_kwargs": {"form": port, **more}}
    found = trueline.pair("nets:Net", "nets:Net", "4x8", folder=folder, steps=0, **kwargs)  # type: ignore[arg-type]
    (said,) = [str(one.message) for one in found.stages if one.stage is Stage.FORWARD]
    return found, said


@pytest.mark.parametrize(("bench", "port"), [("tuple", "list"), ("named", "tuple"), ("dict", "record")])
def test_what_is_put_together_alike_is_not_spoken_of(tmp_path: Path, bench: str, port: str) -> None:
    found, said = _paired(tmp_path, bench, port)
    assert found.blames == []
    assert "returns" not in said


@pytest.mark.parametrize(
    ("bench", "port", "words"),
    [
        ("tensor", "one", "the benchmark returns a tensor, the port 1 tensor (dict: logits)"),
        ("record", "tuple", "the benchmark returns 2 tensors (Record: logits, hidden), the port 2 tensors (tuple)"),
    ],
)
def test_the_same_tensors_put_together_otherwise_are_no_finding(
    tmp_path: Path, bench: str, port: str, words: str
) -> None:
    found, said = _paired(tmp_path, bench, port)
    assert found.blames == []
    assert words in said


@pytest.mark.parametrize(
    ("bench", "port", "words"),
    [
        ("tensor", "dict", "the port returns 2 tensors (dict: logits, hidden); the benchmark returns a tensor"),
        ("tuple", "tensor", "the port returns a tensor; the benchmark returns 2 tensors (tuple)"),
    ],
)
def test_another_number_of_tensors_is_the_one_finding(tmp_path: Path, bench: str, port: str, words: str) -> None:
    found, _ = _paired(tmp_path, bench, port)
    assert [str(one.message) for one in found.blames] == [words]
    assert result(found).exit == 1


def test_beside_a_module_that_differs_it_is_said_in_the_stage_alone(tmp_path: Path) -> None:
    found, said = _paired(tmp_path, "tensor", "dict", eps=0.1)
    assert [(one.module, one.cause) for one in found.blames] == [("norm", "eps")]
    assert "the benchmark returns a tensor, the port 2 tensors (dict: logits, hidden)" in said
