"""Every usual way of writing a training loop in MindSpore, unchanged, becomes the steps and events of the contract.

Each style runs plainly, all in one process, and recorded in a process of its own: the losses it prints must not change.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import warm
from launching import IN_ORDER, python, script, trueline

from trueline.formats.run_folder.reader import RankFolder, open_run
from trueline.model.events import LOOKS, BatchEvent, ModeEvent, NoticeEvent, ScaleEvent, StepEvent
from trueline.model.key import Key

SCRIPT = str(Path(__file__).with_name("mindspore_loops.py"))
# Those in graph mode last: a process stays in it.
STYLES = (
    *("value_and_grad", "scaled", "model", "one_step_cell", "two_optimizers", "jitted", "jitted_without_data"),
    *("scheduled", "model_graph", "one_step_cell_graph"),
)
ALL = """
import runpy, sys
script, *styles = sys.argv[1:]
for style in styles:
    print("#", style, flush=True)
    sys.argv = [script, style]
    runpy.run_path(script, run_name="__main__")
"""
Recorded = Callable[..., tuple[list[float], RankFolder]]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each style prints where nothing is recorded."""
    folder = tmp_path_factory.mktemp("plain")
    done = python(script(folder, ALL), SCRIPT, *STYLES, cwd=folder, env=IN_ORDER, forked="mindspore")
    assert done.returncode == 0, done.stderr[-2000:]
    printed = [part.partition("\n") for part in done.stdout.split("# ")[1:]]
    return {style: losses for style, _, losses in printed}


@pytest.fixture
def recorded(plain: dict[str, str], tmp_path: Path) -> Recorded:
    """Record a style: the losses that it prints, and its run."""

    def found(style: str, *options: str) -> tuple[list[float], RankFolder]:
        run = trueline("run", "-o", "run", *options, SCRIPT, style, cwd=tmp_path, forked="mindspore")
        assert run.returncode == 0, run.stderr[-2000:]
        assert run.stdout == plain[style]
        assert "recording is off" not in run.stderr
        return [float(line) for line in run.stdout.split()], open_run(tmp_path / "run").rank(0)

    return found


def names(rank: RankFolder, step: int, phase: str = "train") -> list[str]:
    return [event.name for event in rank.events(step=step, phase=phase) if event.name not in LOOKS]


def test_a_value_and_grad_loop(recorded: Recorded) -> None:
    seen, rank = recorded("value_and_grad", "--tensors", "--inputs", "--grads", "--weights", "--steps", "0:2")
    assert list(rank.curve("loss").values) == seen
    assert names(rank, 1) == ["batch", "loss", "backward", "clip", "step", "end"]
    assert list(rank.curve("lr").values) == [pytest.approx(0.05)] * 4
    assert all(value <= 1.0001 for value in rank.curve("grad_norm").values)
    assert len(rank.curve("loss", "eval")) == 4
    assert [event.training for event in rank.events(ModeEvent)] == [True, False]
    assert [one.path for one in rank.calls if one.phase == "train"] == ["", "conv", "bn", "relu", "fc", "loss_fn"]
    conv = next(one for one in rank.modules if one.path == "conv")
    assert conv.arguments is not None
    assert (conv.arguments["pad_mode"], conv.arguments["padding"], conv.arguments["has_bias"]) == ("pad", 1, True)
    assert conv.built_at is not None
    assert "nn.Conv2d" in Path(SCRIPT).read_text().splitlines()[conv.built_at.line - 1]
    table = {one.name: one for one in rank.params}
    assert (table["bn.moving_mean"].buffer, table["bn.gamma"].optimizer) == (True, 0)
    first, second = rank.tensors(0), rank.tensors(1)
    for kind, index in (("out", 0), ("in", 0), ("grad", "weight"), ("param", "weight")):
        assert Key.of("conv", kind, index) in first
    assert np.array_equal(first[Key.of("relu", "out")], np.maximum(first[Key.of("bn", "out")], 0))
    assert not np.array_equal(first[Key.of("fc", "param", "weight")], second[Key.of("fc", "param", "weight")])
    batch = next(rank.events(BatchEvent)).batch()
    assert (batch.size, [one.shape for one in batch.fields]) == (8, [(1, 8, 8), ()])


def test_a_scaled_loss_is_told_unscaled_and_a_skipped_step_is_marked(recorded: Recorded) -> None:
    seen, rank = recorded("scaled")
    found = list(rank.curve("loss").values)
    assert found[:2] == seen[:2]
    assert not np.isfinite(found[2])
    events = names(rank, 0)
    assert events.index("scale") < events.index("backward") < events.index("unscale") < events.index("step")
    assert [event.value for event in rank.events(ScaleEvent, step=0)] == [1024]
    assert "overflow" in names(rank, 2) or "step" not in names(rank, 2)


@pytest.mark.parametrize("style", ["model", "one_step_cell"])
def test_the_frameworks_own_training_cells(recorded: Recorded, style: str) -> None:
    seen, rank = recorded(style, "--stats")
    assert list(rank.curve("loss").values) == seen
    assert names(rank, 1) == ["batch", "loss", "backward", "step", "end"]
    assert Key.of("conv", "out") in rank.keys
    assert {one.path for one in rank.modules} >= {"", "conv", "bn", "relu", "fc"}


@pytest.mark.parametrize("style", ["model_graph", "one_step_cell_graph"])
def test_graph_mode_keeps_the_losses_and_says_what_it_could_not_see(recorded: Recorded, style: str) -> None:
    seen, rank = recorded(style, "--stats")
    assert list(rank.curve("loss").values) == seen
    assert [event.message.id for event in rank.events(NoticeEvent)] == ["mindspore.graph_mode"]
    assert {one.path for one in rank.modules} >= {"", "conv", "bn", "relu", "fc"}
    assert {one.optimizer for one in rank.params if not one.buffer} == {0}


def test_graph_mode_tensors_come_from_the_frameworks_dump(tmp_path: Path) -> None:
    run = trueline("run", "-o", "run", "--graph-dump", "--steps", "1", SCRIPT, "one_step_cell_graph", cwd=tmp_path)
    assert run.returncode == 0, run.stderr[-2000:]
    rank = open_run(tmp_path / "run").rank(0)
    assert list(rank.tensor_steps) == [1]
    tensors = rank.tensors(1)
    assert tensors[Key.of("conv", "out")].shape == (8, 4, 8, 8)
    assert np.array_equal(tensors[Key.of("relu", "out")], np.maximum(tensors[Key.of("bn", "out")], 0))
    assert not (tmp_path / "run" / "graph-dump").exists()


def test_two_optimizers_are_told_apart(recorded: Recorded) -> None:
    seen, rank = recorded("two_optimizers")
    assert list(rank.curve("loss").values) == seen
    assert [(event.optimizer, event.kind) for event in rank.events(StepEvent, step=0)] == [
        (0, "SGD"),
        (1, "Adam"),
    ]
    held = {one.name: one.optimizer for one in rank.params}
    assert (held["conv.weight"], held["fc.weight"], held["bn.gamma"]) == (0, 1, None)


@pytest.mark.parametrize("style", ["jitted", "jitted_without_data"])
def test_a_jitted_step_keeps_its_loss_and_says_what_it_could_not_see(recorded: Recorded, style: str) -> None:
    seen, rank = recorded(style)
    assert list(rank.curve("loss").values) == seen
    assert "mindspore.jit" in [event.message.id for event in rank.events(NoticeEvent)]


def test_learning_rates_and_scales_of_the_optimizer_are_its_own_matter(recorded: Recorded) -> None:
    seen, rank = recorded("scheduled")
    assert list(rank.curve("loss").values) == seen
    assert {one.path for one in rank.modules} == {"", "conv", "bn", "relu", "fc", "loss_fn"}
    assert all(one.optimizer == 0 for one in rank.params if not one.buffer)
    assert max(rank.curve("grad_norm").values) < 50, "unscaled, as the loss is"
    assert len(set(rank.curve("lr").values)) > 1


def test_deterministic_is_reproducible_with_dropout(tmp_path: Path) -> None:
    line, env = ("run", "--deterministic", "5", SCRIPT, "dropped"), warm.restarted(5)
    runs = [
        trueline(*line[:3], "-o", f"r{at}", *line[3:], cwd=tmp_path, env=env, forked="mindspore").stdout
        for at in range(2)
    ]
    assert runs[0] == runs[1]
    assert len(runs[0].split()) == 4
