"""Loss scales for gradients whose sizes are known: the scale, the verdict and the shares follow from them by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
import pytest
import torch
from mindspore import amp, nn
from tune_in_process import Here

from trueline.tune.scale.judging import Verdict, judge
from trueline.tune.scale.report import result
from trueline.tune.scale.search import Search, Searched
from trueline.tune.scale.seen import BuiltScaler, Seen, SeenUpdate, Sizes
from trueline.tune.scale.shares import row_of
from trueline.tune.scale.suggesting import suggest

# One sample with inputs 2^-10 … 1, and a gradient of 2^-20 at the output: those of the weights are 2^-30 … 2^-20.
INPUTS = 2.0 ** np.arange(-10, 1, dtype=np.float32)
SLOPE = 2.0**-20
# Half precision has nothing below 2^-24: six of the eleven are lost without a scale.
LOST = 6 / 11
# 2^-20 times 2^35 is 2^15, the largest power of two below 65504; two powers less are suggested.
BEST = 33
STEPS = 8


def torch_training(scale: float | None, *, by: str, half: bool = True, window: int = 2000) -> Callable[[], None]:
    """A linear layer whose loss is its output times the slope."""

    def train() -> None:
        network = torch.nn.Linear(len(INPUTS), 1, bias=False)
        optimizer = torch.optim.SGD(network.parameters(), 1e-6)
        scaler = torch.amp.GradScaler("cpu", init_scale=scale, growth_interval=window) if by == "scaler" else None
        batch = torch.from_numpy(INPUTS)[None]
        for _ in range(STEPS):
            optimizer.zero_grad()
            with torch.autocast("cpu", torch.float16, enabled=half):
                output = network(batch)
            loss = output.float().sum() * SLOPE
            if scaler is not None:
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
                continue
            (loss * (scale or 1)).backward()
            for parameter in network.parameters():
                parameter.grad.div_(scale or 1)
            optimizer.step()

    return train


def mindspore_training(scale: float | None, *, by: str, half: bool = True, window: int = 2000) -> Callable[[], None]:
    """The same."""

    def train() -> None:
        network = nn.Dense(len(INPUTS), 1, has_bias=False)
        if half:
            network.to_float(ms.float16)
        optimizer = nn.SGD(network.trainable_params(), 1e-6)
        scaler: Any = None
        if by == "scaler":
            scaler = amp.DynamicLossScaler(scale, 2, window)
        elif by == "static":
            scaler = amp.StaticLossScaler(scale)
        batch = ms.Tensor(INPUTS[None])

        def forward(x: Any) -> Any:
            loss = network(x).astype(ms.float32).sum() * SLOPE
            return scaler.scale(loss) if scaler is not None else loss * (scale or 1)

        differentiate = ms.value_and_grad(forward, None, optimizer.parameters)
        network.set_train()
        for _ in range(STEPS):
            _, gradients = differentiate(batch)
            if scaler is None:
                optimizer(tuple(one / (scale or 1) for one in gradients))
                continue
            gradients = scaler.unscale(gradients)
            finite = amp.all_finite(gradients)
            if finite:
                optimizer(gradients)
            scaler.adjust(finite)

    return train


def search(folder: Path, train: Callable[[], None], *, assume_half: bool = False) -> Searched:
    return Search(Here(folder, train).run, STEPS, 2, assume_half, lambda _done, _saying: None).run()


TRAININGS = pytest.mark.parametrize("training", [torch_training, mindspore_training], ids=["torch", "mindspore"])


@TRAININGS
def test_a_scale_that_is_too_low_is_found_with_the_share_that_is_lost(tmp_path: Path, training: Any) -> None:
    found = search(tmp_path, training(1.0, by="scaler"))
    judged = judge(found)
    assert judged.verdict is Verdict.LOW
    assert judged.vanished == pytest.approx(LOST)
    assert found.suggestion is not None
    assert (found.suggestion.power, found.suggestion.window) == (BEST, 2000)
    assert found.confirmed
    assert found.tried is not None
    assert found.tried.scale == 2.0**BEST
    # What was lost before is there now, element by element.
    assert found.own.sizes.zero_share == pytest.approx(LOST)
    assert found.tried.sizes.zero_share == 0
    assert found.tried.sizes.counts.keys() == set(range(-30, -19))
    finding = result(found, tmp_path).findings[0]
    assert (finding.code, finding.conclusion.value) == ("mp.02", "found")
    assert finding.where.file.endswith("test_scale_known.py")


def test_half_precision_without_a_scale_is_tried_with_one(tmp_path: Path) -> None:
    found = search(tmp_path, torch_training(None, by="nothing"))
    assert judge(found).verdict is Verdict.MISSING
    assert found.suggestion is not None
    assert (found.suggestion.power, found.confirmed) == (BEST, True)


@TRAININGS
def test_a_scale_by_hand_is_seen_in_the_numbers_and_another_tried(tmp_path: Path, training: Any) -> None:
    found = search(tmp_path, training(2.0**12, by="hand"))
    scaler = found.own.scaler
    assert scaler is not None
    assert (scaler.kind, scaler.scale) == (None, 2.0**12)
    # 2^-30 times 2^12 is large enough.
    assert judge(found).verdict is Verdict.FINE
    assert found.suggestion is not None
    assert (found.suggestion.power, found.confirmed) == (BEST, True)
    assert found.tried is not None
    assert found.tried.scale == 2.0**BEST


def test_a_scale_by_hand_that_is_too_high_is_brought_down_until_it_fits(tmp_path: Path) -> None:
    found = search(tmp_path, torch_training(2.0**40, by="hand"))
    assert judge(found).verdict is Verdict.HIGH
    assert found.own.lost_share == 1
    assert found.suggestion is not None
    assert (found.suggestion.power, found.confirmed) == (BEST, True)


def test_a_scaler_that_grows_after_every_update_loses_every_other(tmp_path: Path) -> None:
    found = search(tmp_path, torch_training(2.0**35, by="scaler", window=1))
    judged = judge(found)
    assert judged.verdict is Verdict.HIGH
    assert 0.3 < judged.lost < 0.7
    # All of them by growing too far: a longer window is all it needs.
    assert found.suggestion is not None
    assert (found.suggestion.power, found.suggestion.window, found.confirmed) == (BEST, 2000, True)


def test_what_a_scaler_loses_until_it_fits_is_no_fault(tmp_path: Path) -> None:
    found = search(tmp_path, torch_training(2.0**40, by="scaler"))
    assert found.own.warm_up == 5
    assert judge(found).verdict is Verdict.FINE
    assert found.own.scale == 2.0**35


def test_a_static_scaler_of_mindspore_is_replaced_in_effect(tmp_path: Path) -> None:
    found = search(tmp_path, mindspore_training(2.0**2, by="static"))
    assert found.own.scaler is not None
    assert found.own.scaler.kind == "StaticLossScaler"
    # 2^-30 … 2^-27 are below 2^-26.
    assert judge(found).vanished == pytest.approx(4 / 11)
    assert found.suggestion is not None
    assert (found.suggestion.power, found.confirmed) == (BEST, True)


def test_without_half_precision_there_is_nothing_to_scale(tmp_path: Path) -> None:
    found = search(tmp_path, torch_training(1.0, by="hand", half=False))
    assert judge(found).verdict is Verdict.NO_HALF
    assert result(found, tmp_path).exit == 0


@TRAININGS
def test_what_half_precision_would_do_is_told_if_asked(tmp_path: Path, training: Any) -> None:
    found = search(tmp_path, training(1.0, by="hand", half=False), assume_half=True)
    judged = judge(found)
    assert judged.verdict is Verdict.ASSUMED
    assert found.suggestion is not None
    assert found.suggestion.power == BEST
    assert judged.vanished == pytest.approx(LOST)
    for power, overflow, underflow, subnormal in (
        (0, 0, 6 / 11, 5 / 11),
        (10, 0, 0, 6 / 11),
        (35, 0, 0, 0),
        (36, 1, 0, 0),
    ):
        row = row_of(power, found.own.updates, found.own.sizes)
        assert (row.overflow, row.underflow, row.subnormal) == pytest.approx((overflow, underflow, subnormal))


def test_gradients_that_have_all_vanished_are_brought_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # 2^-50 … 2^-40: without a scale all of them are zero; 2^40 is the largest scale that is ever suggested.
    monkeypatch.setattr(f"{__name__}.SLOPE", 2.0**-40)
    found = search(tmp_path, torch_training(None, by="nothing"))
    assert found.own.sizes.zero_share == 1
    assert judge(found).verdict is Verdict.MISSING
    assert found.suggestion is not None
    assert (found.suggestion.power, found.confirmed) == (40, True)
    assert found.tried is not None
    assert found.tried.sizes.counts.keys() == set(range(-50, -39))


def test_gradients_that_are_zero_at_any_scale_are_called_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.SLOPE", 0.0)
    assert judge(search(tmp_path, torch_training(1.0, by="scaler"))).verdict is Verdict.ZERO


def test_gradients_inside_a_graph_are_not_disturbed_and_said_to_be_unseen(tmp_path: Path) -> None:
    def train() -> None:
        network = nn.Dense(len(INPUTS), 1, has_bias=False).to_float(ms.float16)
        cell = nn.TrainOneStepCell(nn.WithLossCell(network, nn.MSELoss()), nn.SGD(network.trainable_params(), 1e-6))
        ms.set_context(mode=ms.GRAPH_MODE)
        try:
            for _ in range(3):
                cell.set_train()(ms.Tensor(INPUTS[None]), ms.Tensor([[1.0]], ms.float16))
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)

    found = search(tmp_path, train)
    assert len(found.own.updates) == 3
    assert (judge(found).verdict, found.suggestion) == (Verdict.UNSEEN, None)
    assert result(found, tmp_path).findings[0].measured is None


def test_a_window_is_short_where_updates_are_lost_by_themselves() -> None:
    scaler = BuiltScaler("GradScaler", 2.0**16, 2.0, 2000)
    updates = [SeenUpdate(step, 2.0**10, None if step % 40 == 39 else 1.0, step % 40 == 39, 0.5) for step in range(200)]
    seen = Seen(updates, Sizes({-10: 5}), half=True, brain=False, looked=True, scaler=scaler)
    found = suggest([seen])
    # Five are lost of two hundred; one that grows is allowed for.
    assert found is not None
    assert (found.power, found.window) == (7, 200 // 3)
