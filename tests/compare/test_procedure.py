"""Real trainings with one thing changed: the procedure stops at that thing, and says what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from compare.small_trainings import train

import trueline
from trueline.compare.floors import Floors
from trueline.compare.report.runs import conclusion, report, result
from trueline.compare.runs import compare_runs
from trueline.compare.stages import walk
from trueline.compare.tensors import How
from trueline.formats.run_folder.reader import Run


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return train(tmp_path_factory.mktemp("bench") / "bench")


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Run]:
    """A training with what is changed in it, done once for all that ask for it."""
    done: dict[str, Run] = {}

    def port(**change: Any) -> Run:
        name = repr(sorted(change.items()))
        if name not in done:
            done[name] = train(tmp_path_factory.mktemp("changed") / "port", **change)
        return done[name]

    return port


CHANGED: list[tuple[str, dict[str, Any], str, str]] = [
    ("weights", {"model_seed": 1}, "cmp.01", "weights"),
    ("data", {"data_seed": 1}, "cmp.07", "data"),
    ("order", {"shuffle_seed": 1}, "cmp.07", "data"),
    ("scaled", {"scale": 255.0}, "cmp.07", "data"),
    ("structure", {"width": 16}, "cmp.06", "structure"),
    ("lr", {"lr": 0.2}, "cmp.08", "hyper"),
    ("weight decay", {"weight_decay": 0.1}, "cmp.08", "hyper"),
    ("schedule", {"drop_lr_at": 3}, "cmp.08", "hyper"),
    ("optimizer", {"optimizer": "Adam", "lr": 0.1}, "cmp.08", "hyper"),
    ("forward", {"eps": 1e-2}, "cmp.03", "forward"),
    ("gradient", {"grad_scale": 2.0}, "cmp.04", "gradients"),
]


@pytest.mark.parametrize(("change", "code", "stage"), [one[1:] for one in CHANGED], ids=[one[0] for one in CHANGED])
def test_the_procedure_stops_at_what_was_changed(
    change: dict[str, Any], code: str, stage: str, bench: Run, changed: Callable[..., Run]
) -> None:
    found = result(compare_runs(changed(**change), bench)).to_json("en")
    assert (found["verdict"], found["exit"]) == ("differs", 1)
    assert (found["findings"][0]["code"], found["stopped_at"]) == (code, stage)
    assert found["findings"][0]["advice"]
    # Everything else follows from it.
    assert [one["because"] for one in found["findings"]] == [None] + [code] * (len(found["findings"]) - 1)


def test_another_precision_is_said_even_where_its_rounding_explains_all(bench: Run, tmp_path: Path) -> None:
    found = result(compare_runs(train(tmp_path / "port", dtype=torch.bfloat16), bench)).to_json("en")
    assert found["findings"][0]["code"] == "cmp.09" and found["stopped_at"] == "precision"
    assert "bfloat16" in found["conclusion"]


def test_an_equal_run_in_another_memory_layout_is_no_difference(bench: Run, tmp_path: Path) -> None:
    found = result(compare_runs(train(tmp_path / "port", channels_last=True), bench)).to_json("en")
    assert (found["verdict"], found["exit"], found["findings"]) in (("noise", 0, []), ("equal", 0, []))


def test_an_equal_run_is_equal_in_every_question(bench: Run, tmp_path: Path) -> None:
    compared = compare_runs(train(tmp_path / "port"), bench)
    assert {one.state.value for one in walk(compared)} == {"same"}
    assert "the benchmark has the same problem" in conclusion(compared).text("en")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"shuffle_seed": 1}, "a different order"),
        ({"scale": 255.0}, "255 times"),
        ({"data_seed": 1}, "get different data"),
        ({"lr": 0.2}, "optimizer.lr 0.2 / 0.1"),
        ({"drop_lr_at": 3}, "lr 0.01 / 0.1 (step 3)"),
        ({"optimizer": "Adam", "lr": 0.1}, "optimizer.kind Adam / SGD"),
        ({"width": 16}, "[16, 144]"),
    ],
)
def test_what_was_changed_is_in_the_sentence(
    change: dict[str, Any], word: str, bench: Run, changed: Callable[..., Run]
) -> None:
    page = report(compare_runs(changed(**change), bench))
    sentences = [page.conclusion.text("en"), *(one.message.text("en") for one in page.findings)]
    assert any(word in one for one in sentences), sentences


def test_samples_in_another_order_within_the_batch_are_told_from_other_samples(
    bench: Run, changed: Callable[..., Run]
) -> None:
    found = compare_runs(changed(shuffle_seed=1), bench).batches
    assert (found.step, found.field) == (0, "0")


def test_the_layer_at_fault_is_named_with_its_line_and_its_inputs_agree(
    bench: Run, changed: Callable[..., Run]
) -> None:
    found = result(compare_runs(changed(eps=1e-2), bench)).to_json("en")
    assert found["first"]["key"] == "train/bn#0/out/0" and found["first"]["inputs_agree"] is True
    where = found["findings"][0]["where"]
    assert where["file"].endswith("small_trainings.py") and where["module"] == "bn"


def test_dropout_is_random_by_design(tmp_path: Path) -> None:
    a = train(tmp_path / "a", drop=0.5)
    torch.rand(3)
    b = train(tmp_path / "b", drop=0.5, model_seed=0)
    assert not compare_runs(a, b).differs
    other = train(tmp_path / "c", drop=0.4)
    said = report(compare_runs(other, b)).findings[0]
    assert "random by design" in said.message.text("en")


def test_without_tensors_the_statistics_speak(tmp_path: Path) -> None:
    kept = {"stats": True, "inputs": True}
    b = train(tmp_path / "b", record=kept)
    same = result(compare_runs(train(tmp_path / "same", record=kept), b)).to_json("en")
    assert (same["verdict"], same["findings"]) == ("equal", [])
    found = result(compare_runs(train(tmp_path / "a", record=kept, eps=1e-2), b)).to_json("en")
    assert found["first"]["key"] == "train/bn#0/out/0"
    assert all(one["by_numbers"] for one in found["tensors"])


def test_two_runs_that_go_wrong_the_same_way_share_the_problem(tmp_path: Path) -> None:
    a, b = (train(tmp_path / name, poison_from=2) for name in ("a", "b"))
    found = result(compare_runs(a, b)).to_json("en")
    assert found["verdict"] == "equal" and found["findings"][0]["code"] == "cmp.10"
    assert "benchmark shares the problem" in found["conclusion"]


def test_two_runs_that_do_not_learn_share_the_problem(tmp_path: Path) -> None:
    a, b = (train(tmp_path / name, lr=0.0, steps=24, record={}) for name in ("a", "b"))
    found = result(compare_runs(a, b)).to_json("en")
    assert "neither learns" in found["conclusion"]
    assert found["exit"] == 0 and found["findings"][0]["conclusion"] == "suspect"


def test_a_user_s_tolerance_decides_where_it_is_given(bench: Run, tmp_path: Path) -> None:
    port = train(tmp_path / "port", eps=1.1e-5)
    wide = How(Floors(rtol=0.1, atol=0.1))
    assert not compare_runs(port, bench, how=wide).differs
    narrow = result(compare_runs(port, bench, how=How(Floors(rtol=0.0, atol=0.0)))).to_json("en")
    assert narrow["verdict"] == "differs" and narrow["floor"]["basis"] == "given"


def test_python_can_ask_too(bench: Run, changed: Callable[..., Run]) -> None:
    found = trueline.compare(changed(lr=0.2).path, bench.path)
    assert found.verdict == "differs"
    assert found.result.to_json()["stopped_at"] == "hyper"
    assert found.report().findings
