"""Every framework's folder satisfies the protocol: statically (mypy reads the assignments), and by name here."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import pytest
from adapters.subjects.protocol import Subject

from trueline.adapters.protocol import (
    Adapter,
    Autograd,
    Batchings,
    Builds,
    Compiles,
    Hooks,
    Intercepts,
    LossScales,
    Ops,
    Perturbs,
    Rates,
    Replays,
    States,
    Steadies,
    Streams,
    Values,
)

if TYPE_CHECKING:
    from adapters import numpy_toy
    from adapters.numpy_toy import autograd as toy_autograd
    from adapters.numpy_toy import batching as toy_batching
    from adapters.numpy_toy import build as toy_build
    from adapters.numpy_toy import compiling as toy_compiling
    from adapters.numpy_toy import hooks as toy_hooks
    from adapters.numpy_toy import intercept as toy_intercept
    from adapters.numpy_toy import loss_scale as toy_loss_scale
    from adapters.numpy_toy import ops as toy_ops
    from adapters.numpy_toy import perturb as toy_perturb
    from adapters.numpy_toy import rates as toy_rates
    from adapters.numpy_toy import replaying as toy_replaying
    from adapters.numpy_toy import state as toy_state
    from adapters.numpy_toy import steady as toy_steady
    from adapters.numpy_toy import streams as toy_streams
    from adapters.numpy_toy import values as toy_values

    from trueline.adapters import mindspore, torch
    from trueline.adapters.mindspore import autograd as mindspore_autograd
    from trueline.adapters.mindspore import batching as mindspore_batching
    from trueline.adapters.mindspore import build as mindspore_build
    from trueline.adapters.mindspore import compiling as mindspore_compiling
    from trueline.adapters.mindspore import hooks as mindspore_hooks
    from trueline.adapters.mindspore import intercept as mindspore_intercept
    from trueline.adapters.mindspore import loss_scale as mindspore_loss_scale
    from trueline.adapters.mindspore import ops as mindspore_ops
    from trueline.adapters.mindspore import perturb as mindspore_perturb
    from trueline.adapters.mindspore import rates as mindspore_rates
    from trueline.adapters.mindspore import replaying as mindspore_replaying
    from trueline.adapters.mindspore import state as mindspore_state
    from trueline.adapters.mindspore import steady as mindspore_steady
    from trueline.adapters.mindspore import streams as mindspore_streams
    from trueline.adapters.mindspore import values as mindspore_values
    from trueline.adapters.torch import autograd as torch_autograd
    from trueline.adapters.torch import batching as torch_batching
    from trueline.adapters.torch import build as torch_build
    from trueline.adapters.torch import compiling as torch_compiling
    from trueline.adapters.torch import hooks as torch_hooks
    from trueline.adapters.torch import intercept as torch_intercept
    from trueline.adapters.torch import loss_scale as torch_loss_scale
    from trueline.adapters.torch import ops as torch_ops
    from trueline.adapters.torch import perturb as torch_perturb
    from trueline.adapters.torch import rates as torch_rates
    from trueline.adapters.torch import replaying as torch_replaying
    from trueline.adapters.torch import state as torch_state
    from trueline.adapters.torch import steady as torch_steady
    from trueline.adapters.torch import streams as torch_streams
    from trueline.adapters.torch import values as torch_values

    TOY: Adapter = numpy_toy.ADAPTER
    TOY_VALUES: Values = toy_values
    TOY_HOOKS: Hooks = toy_hooks
    TOY_OPS: Ops = toy_ops
    TOY_STATE: States = toy_state
    TOY_BUILD: Builds = toy_build
    TOY_PERTURB: Perturbs = toy_perturb
    TOY_AUTOGRAD: Autograd = toy_autograd
    TOY_INTERCEPT: Intercepts = toy_intercept
    TOY_STEADY: Steadies = toy_steady
    TOY_COMPILING: Compiles = toy_compiling
    TOY_STREAMS: Streams = toy_streams
    TOY_REPLAYING: Replays = toy_replaying
    TOY_RATES: Rates = toy_rates
    TOY_BATCHING: Batchings = toy_batching
    TOY_LOSS_SCALE: LossScales = toy_loss_scale
    TORCH: Adapter = torch.ADAPTER
    TORCH_VALUES: Values = torch_values
    TORCH_HOOKS: Hooks = torch_hooks
    TORCH_OPS: Ops = torch_ops
    TORCH_STATE: States = torch_state
    TORCH_BUILD: Builds = torch_build
    TORCH_PERTURB: Perturbs = torch_perturb
    TORCH_AUTOGRAD: Autograd = torch_autograd
    TORCH_INTERCEPT: Intercepts = torch_intercept
    TORCH_STEADY: Steadies = torch_steady
    TORCH_COMPILING: Compiles = torch_compiling
    TORCH_STREAMS: Streams = torch_streams
    TORCH_REPLAYING: Replays = torch_replaying
    TORCH_RATES: Rates = torch_rates
    TORCH_BATCHING: Batchings = torch_batching
    TORCH_LOSS_SCALE: LossScales = torch_loss_scale
    MINDSPORE: Adapter = mindspore.ADAPTER
    MINDSPORE_VALUES: Values = mindspore_values
    MINDSPORE_HOOKS: Hooks = mindspore_hooks
    MINDSPORE_OPS: Ops = mindspore_ops
    MINDSPORE_STATE: States = mindspore_state
    MINDSPORE_BUILD: Builds = mindspore_build
    MINDSPORE_PERTURB: Perturbs = mindspore_perturb
    MINDSPORE_AUTOGRAD: Autograd = mindspore_autograd
    MINDSPORE_INTERCEPT: Intercepts = mindspore_intercept
    MINDSPORE_STEADY: Steadies = mindspore_steady
    MINDSPORE_COMPILING: Compiles = mindspore_compiling
    MINDSPORE_STREAMS: Streams = mindspore_streams
    MINDSPORE_REPLAYING: Replays = mindspore_replaying
    MINDSPORE_RATES: Rates = mindspore_rates
    MINDSPORE_BATCHING: Batchings = mindspore_batching
    MINDSPORE_LOSS_SCALE: LossScales = mindspore_loss_scale


@pytest.mark.parametrize(
    ("place", "protocol"),
    [
        ("values", Values),
        ("hooks", Hooks),
        ("ops", Ops),
        ("state", States),
        ("build", Builds),
        ("perturb", Perturbs),
        ("autograd", Autograd),
        ("intercept", Intercepts),
        ("steady", Steadies),
        ("compiling", Compiles),
        ("streams", Streams),
        ("replaying", Replays),
        ("rates", Rates),
        ("batching", Batchings),
        ("loss_scale", LossScales),
    ],
)
def test_every_function_of_the_protocol_is_there_with_its_parameters(
    subject: Subject, place: str, protocol: Any
) -> None:
    module = getattr(subject.adapter, place)
    for name, wanted in inspect.getmembers(protocol, inspect.isfunction):
        if name.startswith("_"):
            continue
        found = inspect.signature(getattr(module, name)).parameters
        asked = [one for one in inspect.signature(wanted).parameters.values() if one.name != "self"]
        assert [(one.name, one.kind) for one in found.values()] == [(one.name, one.kind) for one in asked], name


def test_an_adapter_is_called_like_its_framework(subject: Subject) -> None:
    assert f"/{subject.adapter.name}/" in f"/{subject.adapter.build.package()}"
    assert any(subject.adapter.name in kind.__module__ for kind in type(subject.make_network(0)).__mro__)
