"""Watching changes no bit of a training, in PyNative and in graph mode, in processes of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from adapters.mindspore.programs import run_program


@pytest.fixture(scope="module")
def graph_runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    folder = tmp_path_factory.mktemp("graph")
    return run_program("graph_mode", "plain", cwd=folder), run_program("graph_mode", "watched", cwd=folder)


def test_a_watched_convolution_net_trains_as_the_unwatched_one(tmp_path: Path) -> None:
    first, second = (run_program("conv_net", "plain", cwd=tmp_path) for _ in range(2))
    watched = run_program("conv_net", "watched", cwd=tmp_path)
    # The first calls of MindSpore's CPU kernels may differ in the last bit from one process to the next.
    same = [one == other for one, other in zip(first["losses"], second["losses"], strict=True)]
    assert any(same)
    assert [one for one, kept in zip(watched["losses"], same, strict=True) if kept] == [
        one for one, kept in zip(first["losses"], same, strict=True) if kept
    ]
    if first == second:
        assert watched["weights"] == first["weights"]
    assert len(watched["losses"]) == 25


@pytest.mark.parametrize("way", ["jit", "cell", "function", "model"])
def test_compiled_losses_are_the_same_with_hooks_and_are_told(graph_runs: tuple[Any, Any], way: str) -> None:
    plain, watched = graph_runs
    assert watched["losses"][way] == plain["losses"][way]
    assert watched["told"][way]["losses"] == pytest.approx(watched["losses"][way], rel=1e-6)
    assert plain["told"][way]["story"] == []


def test_what_cannot_be_seen_is_noticed_once_for_each_function_and_network(graph_runs: tuple[Any, Any]) -> None:
    notices = {way: told["notices"] for way, told in graph_runs[1]["told"].items()}
    graph = "mindspore.graph_mode"
    assert notices == {"jit": ["mindspore.jit"], "cell": [graph], "function": [graph], "model": []}


def test_a_training_cell_in_graph_mode_is_a_call_with_a_step_and_the_model_s_loss(graph_runs: tuple[Any, Any]) -> None:
    told = graph_runs[1]["told"]["cell"]
    once = ["called", "step_began", "loss", "step_ended", "returned"]
    assert told["story"] == ["notice", *once * 4]
    assert told["sources"] == ["model"]


def test_a_gradient_function_in_graph_mode_leaves_the_gradients_to_be_seen(graph_runs: tuple[Any, Any]) -> None:
    told = graph_runs[1]["told"]["function"]
    assert told["story"][:8] == [
        *("notice", "scale", "loss", "backward_began", "backward_ended"),
        *("unscaled", "step_began", "step_ended"),
    ]
    assert told["sources"] == ["value_and_grad"]
    assert told["gradients"] == [6] * 4


def test_model_train_in_graph_mode_tells_its_batches(graph_runs: tuple[Any, Any]) -> None:
    told = graph_runs[1]["told"]["model"]
    assert told["story"].count("fetched") == told["story"].count("step_ended") == 4
    assert told["sources"] == ["model"]
