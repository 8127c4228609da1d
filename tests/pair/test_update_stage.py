"""The same gradients into both optimizers: correct ports are silent, and every fault is named and confirmed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pair.optimizer_parts import Sides, optimizers

from trueline.pair.blame import Cause, StageResult, StageVerdict
from trueline.pair.questions.model import GetWeights
from trueline.pair.update.stage import update_stage

SGD = "optim.SGD(params, 0.1, momentum=0.9, weight_decay=1e-4)"
ADAM = "optim.Adam(params, 1e-3)"
ALL = "[{'params': params, 'weight_decay': 1e-4}]"
SPLIT = "[{'params': decay, 'weight_decay': 1e-4}, {'params': others, 'weight_decay': 0.0}]"

SILENT = {
    "momentum": (SGD, f"nn.Momentum({ALL}, 0.1, 0.9)"),
    "sgd": (SGD, f"nn.SGD({ALL}, 0.1, 0.9)"),
    "nesterov": (
        "optim.SGD(params, 0.1, momentum=0.9, nesterov=True)",
        "nn.SGD(params, 0.1, 0.9, nesterov=True)",
    ),
    "groups": (f"optim.SGD({SPLIT}, 0.1, momentum=0.9)", f"nn.Momentum({SPLIT}, 0.1, 0.9)"),
    "adamw": ("optim.AdamW(params, 1e-3)", "optim.AdamW(params, 1e-3)"),
    "adam": (ADAM, "optim.AdamW(params, 1e-3, weight_decay=0.0)"),
    "rmsprop": ("optim.RMSprop(params, 1e-3)", "optim.RMSprop(params, 1e-3)"),
    "plain": ("optim.SGD(params, 1e-4)", "nn.SGD(params, 1e-4)"),
    "scaled_loss": (SGD, f"nn.Momentum({ALL}, 0.1, 0.9, loss_scale=1024.0)"),
    "rates_of_a_schedule": (SGD, f"nn.Momentum({ALL}, [0.0, 0.05, 0.1], 0.9)"),
}
FAULTS = {
    "eps_form": (ADAM, "nn.Adam(params, 1e-3)", [Cause.EPS_FORM]),
    "eps": ("optim.AdamW(params, 1e-3)", "optim.AdamW(params, 1e-3, eps=1e-3)", [Cause.OPTIMIZER_EPS]),
    "no_bias_correction": (
        "optim.AdamW(params, 1e-3, eps=1e-6)",
        "nn.AdamWeightDecay([{'params': params, 'weight_decay': 0.01}], 1e-3)",
        [Cause.OPTIMIZER],
    ),
    "betas": ("optim.AdamW(params)", "optim.AdamW(params, betas=(0.9, 0.99))", [Cause.BETAS]),
    "momentum": (SGD, f"nn.Momentum({ALL}, 0.1, 0.8)", [Cause.OPTIMIZER_MOMENTUM]),
    "nesterov_unheeded": (
        "optim.SGD(params, 0.1, momentum=0.9, nesterov=True)",
        "nn.Momentum(params, 0.1, 0.9, use_nesterov=True)",
        [Cause.NESTEROV],
    ),
    "dampening": (
        "optim.SGD(params, 0.1, momentum=0.9, dampening=0.1)",
        "nn.SGD(params, 0.1, 0.9)",
        [Cause.DAMPENING],
    ),
    "weight_decay": (SGD, f"nn.Momentum({ALL.replace('1e-4', '5e-4')}, 0.1, 0.9)", [Cause.WEIGHT_DECAY]),
    "no_weight_decay": (SGD, "nn.Momentum(params, 0.1, 0.9)", [Cause.WEIGHT_DECAY]),
    "decay_form": (
        "optim.AdamW(params, 1e-3, weight_decay=0.01)",
        "optim.Adam(params, 1e-3, weight_decay=0.01)",
        [Cause.DECAY_FORM, Cause.EPS_FORM],
    ),
    "decay_on_all": (
        f"optim.SGD({SPLIT}, 0.1, momentum=0.9)",
        f"nn.Momentum({ALL}, 0.1, 0.9)",
        [Cause.DECAY_GROUPS],
    ),
    "no_decay_on_norms": (SGD, "nn.Momentum(params, 0.1, 0.9, weight_decay=1e-4)", [Cause.DECAY_GROUPS]),
    "learning_rate": (SGD, f"nn.Momentum({ALL}, 0.01, 0.9)", [Cause.LEARNING_RATE]),
    "a_group's_rate": (
        SGD,
        "nn.Momentum([{'params': params[:2], 'lr': 0.01}, {'params': params[2:]}], 0.1, 0.9, weight_decay=1e-4)",
        [Cause.LEARNING_RATE],
    ),
    "left_out": (SGD, "nn.Momentum([{'params': params[:-1], 'weight_decay': 1e-4}], 0.1, 0.9)", [Cause.NOT_UPDATED]),
    "another_optimizer": ("optim.RMSprop(params, 1e-3)", "nn.SGD(params, 1e-3, 0.9)", [Cause.OPTIMIZER]),
    "three_at_once": (
        SGD,
        "nn.SGD([{'params': decay, 'weight_decay': 1e-4}, {'params': others}], 0.2, 0.8)",
        [Cause.DECAY_GROUPS, Cause.LEARNING_RATE, Cause.OPTIMIZER_MOMENTUM],
    ),
}


@pytest.fixture
def sides(trained_sides: Sides) -> Sides:
    return trained_sides


def _found(sides: Sides, folder: Path, bench: str, port: str) -> StageResult:
    parts = sides.parts(folder / "the_parts.py", optimizers(bench, port))
    return update_stage(sides.bench, sides.port, sides.aligned, parts)


@pytest.mark.parametrize("name", SILENT)
def test_a_correct_port_is_silent(sides: Sides, tmp_path: Path, name: str) -> None:
    found = _found(sides, tmp_path, *SILENT[name])
    assert found.verdict is StageVerdict.PASSED
    assert not found.blames
    assert found.message.text("en")


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_and_confirmed(sides: Sides, tmp_path: Path, name: str) -> None:
    bench, port, causes = FAULTS[name]
    found = _found(sides, tmp_path, bench, port)
    assert sorted(one.cause for one in found.blames) == sorted(causes)
    assert all(one.confirmed and not one.latent and one.line is not None for one in found.blames)
    for one in found.blames:
        assert one.message.text("en") and one.message.text("zh")
        assert one.edit is not None and one.edit.text("en")


def test_parameters_that_decay_on_one_side_only_are_named(sides: Sides, tmp_path: Path) -> None:
    (blame,) = _found(sides, tmp_path, *FAULTS["decay_on_all"][:2]).blames
    assert set(blame.evidence) == {"conv.bias", "bn.gamma", "bn.beta", "fc.bias"}
    assert (blame.bench, blame.port) == (0.0, 1e-4)
    assert "batchnorm weight" in blame.message.text("en")


def test_an_eps_that_only_tiny_gradients_show_is_latent(sides: Sides, tmp_path: Path) -> None:
    found = _found(sides, tmp_path, "optim.AdamW(params, eps=1e-9)", "optim.AdamW(params, eps=2e-9)")
    (blame,) = found.blames
    assert blame.cause is Cause.OPTIMIZER_EPS
    assert blame.latent and blame.confirmed
    assert found.verdict is StageVerdict.PASSED


def test_the_models_are_afterwards_as_they_were(sides: Sides, tmp_path: Path) -> None:
    names = [[one.bench.name for one in sides.aligned.pairs], [one.port.name for one in sides.aligned.pairs]]

    def weights() -> list[np.ndarray]:
        asked = zip((sides.bench, sides.port), names, strict=True)
        return [array for side, names in asked for array in side.answer(GetWeights(names)).values()]

    before = weights()
    _found(sides, tmp_path, *FAULTS["eps_form"][:2])
    assert all(np.array_equal(one, other) for one, other in zip(before, weights(), strict=True))


def test_an_optimizer_of_the_users_own_is_understood_by_its_steps(sides: Sides, tmp_path: Path) -> None:
    own = """
def port_optimizer(model):
    from mindspore import nn, ops, Parameter, Tensor
    class Own(nn.Optimizer):
        def __init__(self, params, rate, momentum):
            super().__init__(rate, params)
            self.moments = self.parameters.clone(prefix="own", init="zeros")
            self.kept = momentum
        def construct(self, gradients):
            rate = self.get_lr()
            for one, moment, gradient in zip(self.parameters, self.moments, gradients):
                ops.assign(moment, self.kept * moment + gradient)
                ops.assign(one, one - rate * moment)
            return True
    return Own(model.trainable_params(), 0.1, {momentum})
"""
    bench = optimizers("optim.SGD(params, 0.1, momentum=0.9)", "None").split("def port_")[0]
    parts = sides.parts(tmp_path / "own_parts.py", bench + own.replace("{momentum}", "0.9"))
    assert update_stage(sides.bench, sides.port, sides.aligned, parts).verdict is StageVerdict.PASSED
    # Another file: of one that is as long and as old, Python would take the compiled form from before.
    parts = sides.parts(tmp_path / "other_parts.py", bench + own.replace("{momentum}", "0.7"))
    (blame,) = update_stage(sides.bench, sides.port, sides.aligned, parts).blames
    assert blame.cause is Cause.OPTIMIZER_MOMENTUM
    assert (blame.bench, blame.port, blame.confirmed) == (0.9, 0.7, True)


def test_an_adamw_written_by_hand_is_silent_where_it_is_right(sides: Sides, tmp_path: Path) -> None:
    by_hand = """
def port_optimizer(model):
    import mindspore as ms
    from mindspore import nn, ops
    class ByHand(nn.Optimizer):
        def __init__(self, params):
            super().__init__(1e-3, params)
            self.first = self.parameters.clone(prefix="first", init="zeros")
            self.second = self.parameters.clone(prefix="second", init="zeros")
            self.count = ms.Parameter(ms.Tensor(0.0), name="count")
        def construct(self, gradients):
            rate = self.get_lr()
            ops.assign_add(self.count, ms.Tensor(1.0))
            of_first = 1 - ops.pow(ms.Tensor(0.9), self.count)
            of_second = 1 - ops.pow(ms.Tensor(0.999), self.count)
            for one, first, second, gradient in zip(self.parameters, self.first, self.second, gradients):
                ops.assign(first, 0.9 * first + 0.1 * gradient)
                ops.assign(second, 0.999 * second + 0.001 * gradient * gradient)
                step = first / of_first / (ops.sqrt(second / of_second) + 1e-8) + DECAY * one
                ops.assign(one, one - rate * step)
            return True
    return ByHand(model.trainable_params())
"""
    bench = optimizers("optim.AdamW(params, 1e-3, weight_decay=0.01)", "None").split("def port_")[0]
    parts = sides.parts(tmp_path / "hand_parts.py", bench + by_hand.replace("DECAY", "0.01"))
    assert update_stage(sides.bench, sides.port, sides.aligned, parts).verdict is StageVerdict.PASSED
    parts = sides.parts(tmp_path / "hand_parts.py", bench + by_hand.replace("DECAY", "0.001"))
    (blame,) = update_stage(sides.bench, sides.port, sides.aligned, parts).blames
    assert blame.cause is Cause.WEIGHT_DECAY
    assert (blame.bench, blame.port) == (0.01, 0.001)


def test_without_optimizers_the_stage_is_skipped(sides: Sides, tmp_path: Path) -> None:
    parts = sides.parts(tmp_path / "none_parts.py", "epochs = 3\n")
    assert update_stage(sides.bench, sides.port, sides.aligned, parts).verdict is StageVerdict.SKIPPED


def test_one_that_does_nothing_on_this_device_is_not_judged(sides: Sides, tmp_path: Path) -> None:
    found = _found(sides, tmp_path, "optim.SGD(params, 0.1)", "mint.optim.SGD(params, 0.1)")
    assert not found.blames
