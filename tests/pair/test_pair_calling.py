"""`trueline.pair(...)`: the same from Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trueline
from trueline.model.trouble import Trouble

PROJECT = Path(__file__).parent.parent / "cli" / "pair_project"


def test_arrays_in_and_causes_out(capfd: pytest.CaptureFixture[str]) -> None:
    images = np.random.default_rng(1).standard_normal((3, 3, 12, 12)).astype(np.float32)
    found = trueline.pair("net_torch:net", "net_torch:faulty", [images], kwargs={"width": 4}, folder=PROJECT, steps=0)
    assert (found.bench, found.port) == ("net_torch:net", "net_torch:faulty")
    assert np.array_equal(found.inputs[0], images)
    confirmed = {one.module: one for one in found.blames if one.confirmed}
    assert {path: one.cause for path, one in confirmed.items()} == {"block": "residual", "block.norm": "eps"}
    norm = confirmed["block.norm"]
    assert norm.line is not None and norm.line.file == str(PROJECT / "net_torch.py")
    assert norm.edit is not None and "1e-05" in norm.edit.text()
    assert norm.left is not None and norm.measured is not None and norm.left < norm.measured
    # What the networks print, and how the work goes on, is not this process's to show.
    assert capfd.readouterr() == ("", "")


def test_the_same_seed_gives_the_same_answer_and_each_side_may_have_arguments_of_its_own() -> None:
    options = {"input": "2x3x12x12", "folder": PROJECT, "steps": 2}
    own = {"bench_kwargs": {"width": 4}, "port_kwargs": {"width": 4, "classes": 5}}
    first, again = (trueline.pair("net_torch:net", "net_torch:net", **options, **own, seed=7) for _ in range(2))
    assert np.array_equal(first.inputs[0], again.inputs[0])
    assert [one.message for one in first.stages] == [one.message for one in again.stages]
    assert first.blames == []


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (("broken_sides", "broken_sides:linear"), {}, ("broken_sides", "module:factory")),
        (("broken_sides:linear", "broken_sides:linear", "2,4"), {}, ("2,4", "sizes")),
        (("broken_sides:raises", "broken_sides:linear"), {}, ("broken_sides:raises", "no such depth")),
        (("broken_sides:raises", "broken_sides:linear"), {"port_python": "/nowhere/python"}, ("/nowhere/python",)),
        (("broken_sides:raises", "broken_sides:linear"), {"map": "nowhere.txt"}, ("nowhere.txt",)),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    arguments: tuple[str, ...], options: dict[str, str], words: tuple[str, ...]
) -> None:
    with pytest.raises(Trouble) as caught:
        trueline.pair(*arguments, folder=PROJECT, **options)
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)
