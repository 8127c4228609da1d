"""Both frameworks carry out what the lab draws for classes; a default that differs shows until it is written out."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType, SimpleNamespace
from typing import Any, Final

import numpy as np
import pytest

from trueline.adapters.lab.call import Answer, Call
from trueline.adapters.mindspore import internals
from trueline.adapters.mindspore.lab import conventions as mindspore_conventions
from trueline.adapters.mindspore.lab import initialisers as mindspore_initialisers
from trueline.adapters.mindspore.lab import layers as mindspore_layers
from trueline.adapters.mindspore.lab import optimizers as mindspore_optimizers
from trueline.adapters.mindspore.lab import schedules as mindspore_schedules
from trueline.adapters.torch.lab import conventions as torch_conventions
from trueline.adapters.torch.lab import initialisers as torch_initialisers
from trueline.adapters.torch.lab import layers as torch_layers
from trueline.adapters.torch.lab import optimizers as torch_optimizers
from trueline.adapters.torch.lab import schedules as torch_schedules
from trueline.apitable.pairs import Documented, documented
from trueline.migrate.lab.convention_probes import probe_call
from trueline.migrate.lab.draw import Draw
from trueline.migrate.lab.drawing.classes import draws
from trueline.migrate.lab.translating_classes import translate

MODULES: Final[Mapping[str, tuple[ModuleType, ModuleType]]] = {
    "layer": (torch_layers, mindspore_layers),
    "loss": (torch_layers, mindspore_layers),
    "optimizer": (torch_optimizers, mindspore_optimizers),
    "schedule": (torch_schedules, mindspore_schedules),
    "initialiser": (torch_initialisers, mindspore_initialisers),
}


def _pair(torch: str, mindspore: str) -> Documented:
    return next(row for row in documented() if (row.torch, row.mindspore) == (torch, mindspore))


def _first(pair: Documented) -> Draw:
    return draws(pair.torch, pair.torch_parameters, 1, 1)[0]


def _both(pair: Documented, draw: Draw, explicit: Mapping[str, Any] | None = None) -> tuple[Answer, Answer]:
    torch, mindspore, arrays = translate(pair, draw, explicit)
    ours, theirs = MODULES[pair.kind.value]
    return ours.run(torch, arrays), theirs.run(mindspore, arrays)


def _agree(first: Answer, second: Answer, within: float = 1e-4) -> bool:
    assert first.error is None, first.error
    assert second.error is None, second.error
    if [one.shape for one in first.outputs] != [one.shape for one in second.outputs]:
        return False
    if set(first.gradients) != set(second.gradients):
        return False
    pairs = [*zip(first.outputs, second.outputs, strict=True)]
    pairs += [(first.gradients[name], second.gradients[name]) for name in first.gradients]
    return all(_near(one, other, within) for one, other in pairs)


def _near(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any], within: float) -> bool:
    return bool(np.abs(one - other).max(initial=0.0) <= within * max(np.abs(one).max(initial=0.0), 1e-12))


@pytest.mark.parametrize(
    ("torch", "mindspore"),
    [
        ("torch.nn.Linear", "mindspore.nn.Dense"),
        ("torch.nn.BatchNorm2d", "mindspore.nn.BatchNorm2d"),
        ("torch.nn.LSTM", "mindspore.nn.LSTM"),
        ("torch.nn.MultiheadAttention", "mindspore.nn.MultiheadAttention"),
        ("torch.nn.CrossEntropyLoss", "mindspore.nn.CrossEntropyLoss"),
        ("torch.optim.SGD", "mindspore.nn.SGD"),
        ("torch.optim.lr_scheduler.StepLR", "mindspore.nn.piecewise_constant_lr"),
    ],
)
def test_what_is_the_same_agrees(torch: str, mindspore: str) -> None:
    pair = _pair(torch, mindspore)
    assert _agree(*_both(pair, _first(pair)))


@pytest.mark.parametrize(
    ("torch", "mindspore", "explicit"),
    [
        ("torch.nn.Conv2d", "mindspore.nn.Conv2d", {"bias": True, "padding": 0}),
        ("torch.nn.Conv1d", "mindspore.nn.Conv1d", {"bias": True, "padding": 0}),
        ("torch.nn.MaxPool2d", "mindspore.nn.MaxPool2d", {"stride": None}),
        ("torch.nn.GELU", "mindspore.nn.GELU", {"approximate": "none"}),
        ("torch.nn.LeakyReLU", "mindspore.nn.LeakyReLU", {"negative_slope": 0.01}),
        ("torch.nn.SmoothL1Loss", "mindspore.nn.SmoothL1Loss", {"reduction": "mean"}),
    ],
)
def test_a_default_that_differs_shows_until_it_is_written_out(
    torch: str, mindspore: str, explicit: Mapping[str, Any]
) -> None:
    pair = _pair(torch, mindspore)
    draw = _first(pair)
    assert not _agree(*_both(pair, draw))
    assert _agree(*_both(pair, draw, explicit))


def test_gradients_and_statistics_have_torch_s_names() -> None:
    pair = _pair("torch.nn.BatchNorm2d", "mindspore.nn.BatchNorm2d")
    draw = next(draw for draw in draws(pair.torch, pair.torch_parameters, 1, 20) if draw.more["train"])
    torch, mindspore = _both(pair, draw)
    assert set(torch.gradients) == set(mindspore.gradients)
    assert {"input", "after:running_mean", "after:running_var"} <= set(torch.gradients)


def test_adam_with_tiny_gradients_shows_where_eps_is_added() -> None:
    call, arrays = probe_call("adam_epsilon")
    torch, mindspore = torch_conventions.run(call, arrays), mindspore_conventions.run(call, arrays)
    assert not _near(torch.outputs[0], mindspore.outputs[0], 0.1)
    assert _near(torch.outputs[0][-1], mindspore.outputs[0][-1], 1e-5)


@pytest.mark.parametrize(
    ("name", "torch", "mindspore"),
    [
        ("gradient_accumulation", [4, -8, 12], [2, -4, 6]),
        ("training_mode", True, False),
        ("epoch_order", False, True),
        ("shuffled_by_default", False, True),
        ("last_batch", [2, 2, 1], [2, 2, 1]),
        ("schedule_units", [0.1, 0.1, 0.1, 0.1], [0.1, 0.1, 0.01, 0.01]),
    ],
)
def test_a_convention_is_measured(name: str, torch: Any, mindspore: Any) -> None:
    call, arrays = probe_call(name)
    np.testing.assert_allclose(torch_conventions.run(call, arrays).outputs[0], torch, rtol=1e-5)
    np.testing.assert_allclose(mindspore_conventions.run(call, arrays).outputs[0], mindspore, rtol=1e-5)


def test_the_gradient_of_many_outputs_is_refused_by_torch_and_summed_by_mindspore() -> None:
    call, arrays = probe_call("gradient_of_many")
    assert torch_conventions.run(call, arrays).error is not None
    np.testing.assert_allclose(mindspore_conventions.run(call, arrays).outputs[0], [2, -4, 6])


def test_weight_decay_leaves_out_the_norm_s_weights_in_mindspore_alone() -> None:
    call, arrays = probe_call("norm_weight_decay")
    torch, mindspore = (run(call, arrays).outputs for run in (torch_conventions.run, mindspore_conventions.run))
    np.testing.assert_allclose(np.ravel(torch), [0.9, 0.9, 0.9], rtol=1e-6)
    np.testing.assert_allclose(np.ravel(mindspore), [0.9, 1.0, 1.0], rtol=1e-6)


def test_an_error_leaves_mindspore_usable() -> None:
    pair = _pair("torch.nn.GRU", "mindspore.nn.GRU")
    drawn = draws(pair.torch, pair.torch_parameters, 1, 20)
    unbatched = next(draw for draw in drawn if "unbatched" in draw.conditions)
    assert _both(pair, unbatched)[1].error is not None
    assert _agree(*_both(pair, drawn[0]), within=1e-3)


def test_an_error_that_comes_again_while_it_is_forgotten_is_no_other_error(monkeypatch: pytest.MonkeyPatch) -> None:
    late = iter([ValueError("late")])

    def clear() -> None:
        for error in late:
            raise error

    monkeypatch.setattr(internals, "pynative", SimpleNamespace(clear_res=clear))
    error = mindspore_layers.run(Call("layer", "mindspore.nn.NoSuchLayer"), []).error
    assert error == ("missing", "mindspore.nn.NoSuchLayer")
    assert next(late, None) is None


def test_a_name_that_is_not_there_is_missing() -> None:
    for module in (torch_layers, mindspore_layers):
        error = module.run(Call("layer", "torch.nn.NoSuchLayer"), []).error
        assert error is not None
        assert error[0] == "missing"
