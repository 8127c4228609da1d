"""Losses computed again in NumPy are the framework's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional

from trueline.record.looks.numpy_losses import LossSettings, recomputed

torch.manual_seed(0)
SCORES, LABELS = torch.randn(12, 5), torch.randint(0, 5, (12,))
MAPS, MAP_LABELS = torch.randn(3, 4, 2, 2), torch.randint(0, 4, (3, 2, 2))
VALUES, TARGETS = torch.randn(6, 3), torch.rand(6, 3)
CASES: list[tuple[str, Any, Any, dict[str, Any]]] = [
    ("cross_entropy", SCORES, LABELS, {}),
    ("cross_entropy", SCORES, LABELS, {"reduction": "sum", "label_smoothing": 0.1}),
    ("cross_entropy", SCORES, LABELS, {"weight": torch.rand(5), "label_smoothing": 0.2}),
    ("cross_entropy", SCORES, LABELS, {"weight": torch.rand(5), "ignore_index": 2}),
    ("cross_entropy", SCORES, SCORES.softmax(1), {"weight": torch.rand(5), "label_smoothing": 0.1}),
    ("cross_entropy", MAPS, MAP_LABELS, {"ignore_index": 1}),
    ("nll_loss", SCORES.log_softmax(1), LABELS, {"weight": torch.rand(5)}),
    ("binary_cross_entropy", VALUES.sigmoid(), TARGETS, {"weight": torch.rand(3)}),
    ("binary_cross_entropy_with_logits", VALUES, TARGETS, {"pos_weight": torch.rand(3)}),
    ("mse_loss", VALUES, TARGETS, {}),
    ("l1_loss", VALUES, TARGETS, {"reduction": "sum"}),
    ("smooth_l1_loss", VALUES, TARGETS, {"beta": 0.3}),
    ("huber_loss", VALUES, TARGETS, {"delta": 0.4}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda one: f"{one[0]} {sorted(one[3])}")
def test_the_same_loss_in_numpy(case: tuple[str, Any, Any, dict[str, Any]]) -> None:
    name, prediction, target, settings = case
    plain = {key: value.double().numpy() if torch.is_tensor(value) else value for key, value in settings.items()}
    found = recomputed(name, prediction.double().numpy(), target.numpy(), LossSettings.of(plain))
    assert found == pytest.approx(float(getattr(functional, name)(prediction, target, **settings)), rel=1e-5)


def test_what_cannot_be_said_is_not_said() -> None:
    outside = torch.full((12,), 9)
    assert recomputed("cross_entropy", SCORES.double().numpy(), outside.numpy(), LossSettings()) is None
    unreduced = LossSettings(reduction="none")
    assert recomputed("cross_entropy", SCORES.double().numpy(), LABELS.numpy(), unreduced) is None
    assert recomputed("mse_loss", VALUES.double().numpy(), TARGETS[:, 0].numpy(), LossSettings()) is None
