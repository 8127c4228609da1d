"""Losses of an evaluation in PyTorch: told where no gradient is asked for, and out of a compiler's way."""

from __future__ import annotations

import torch
from adapters.observing import Notebook
from adapters.subjects.torch_subject import SUBJECT
from torch.jit import _builtins
from torch.nn import functional


def _double(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return functional.mse_loss(a, b) * 2


def _doubled(a: torch.Tensor) -> torch.Tensor:
    return a * 2


def test_torchscript_finds_the_names_of_its_caller_and_the_framework_s_own_loss_functions() -> None:
    before = torch.jit.script
    installed = SUBJECT.adapter.hooks.install(Notebook(SUBJECT))
    try:
        # A class is compiled with the names that its caller's frame has.
        @torch.jit.script
        class Scaled:
            def __init__(self, by: float) -> None:
                self.by = by

            def of(self, a: torch.Tensor) -> torch.Tensor:
                return _doubled(a) * self.by

        assert float(Scaled(0.5).of(torch.ones(()))) == 1.0
        assert float(torch.jit.script(functional.mse_loss)(torch.ones(2), torch.zeros(2))) == 1.0
        assert torch.jit.script is before
    finally:
        installed.remove()


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


def _has_nan(a: torch.Tensor) -> bool:
    return bool(torch.isnan(a).any())


def test_torchscript_compiles_reads_of_nan_during_a_recording_and_forgets_the_wrappers_after_it() -> None:
    observer = Notebook(SUBJECT)
    observer.wants_reads = True
    originals = (torch.isnan, torch.isinf, torch.isfinite)
    installed = SUBJECT.adapter.hooks.install(observer)
    wrappers = (torch.isnan, torch.isinf, torch.isfinite)
    try:
        assert torch.jit.script(_has_nan)(torch.tensor([torch.nan]))
    finally:
        installed.remove()
    # Another function may get the address of one of them, and must not be taken for it.
    assert not {id(wrapper) for wrapper in wrappers} & set(_builtins._get_builtin_table())
    assert {id(original) for original in originals} <= set(_builtins._get_builtin_table())
    assert torch.jit.script(_has_nan)(torch.tensor([torch.nan]))
