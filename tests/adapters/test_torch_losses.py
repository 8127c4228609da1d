"""Losses of an evaluation in PyTorch: told where no gradient is asked for, and out of a compiler's way."""

from __future__ import annotations

import torch
from adapters.observing import Notebook
from adapters.subjects.torch_subject import SUBJECT
from torch.nn import functional


def _double(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return functional.mse_loss(a, b) * 2


def test_a_loss_function_without_gradients_is_told_and_one_with_gradients_is_not() -> None:
    original = functional.cross_entropy
    notebook = Notebook(SUBJECT)
    logits, labels = torch.zeros(4, 3), torch.tensor([0, 1, 2, 0])
    installed = SUBJECT.adapter.hooks.install(notebook)
    try:
        functional.cross_entropy(logits, labels)
        assert notebook.told("loss") == []
        with torch.no_grad():
            functional.cross_entropy(logits, labels)
            functional.cross_entropy(logits, labels, reduction="none")
            assert len(notebook.told("loss")) == 1
            # Compiled from its source.
            scripted = torch.jit.script(_double)
            assert float(scripted(logits, logits + 1)) == 2.0
            assert float(torch.jit.script(torch.nn.CrossEntropyLoss())(logits, labels)) > 1
        assert functional.cross_entropy is not original
    finally:
        installed.remove()
    assert functional.cross_entropy is original
