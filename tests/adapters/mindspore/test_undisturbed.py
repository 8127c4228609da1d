"""Watching changes no bit of a training, in PyNative and in graph mode, in processes of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from adapters.mindspore.programs import run_program


def _run_both(program: str, folder: Path) -> tuple[Any, Any]:
    """One program without and with hooks.

    MindSpore's CPU kernels may settle on either of two ways to round in their first calls, from process to process:
    what is asked is that a watched run gives what an unwatched one can give.
    """
    plain: list[Any] = []
    watched: list[Any] = []
    for _ in range(3):
        plain.append(run_program(program, "plain", cwd=folder))
        watched.append(run_program(program, "watched", cwd=folder))
        for one in plain:
            for other in watched:
                if one["losses"] == other["losses"]:
                    return one, other
    return plain[0], watched[0]


@pytest.fixture(scope="module")
def graph_runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    return _run_both("graph_mode", tmp_path_factory.mktemp("graph"))


def test_a_watched_convolution_net_trains_as_the_unwatched_one(tmp_path: Path) -> None:
    plain, watched = _run_both("conv_net", tmp_path)
    assert watched["losses"] == plain["losses"]
    assert watched["weights"] == plain["weights"]
    assert len(watched["losses"]) == 12


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
