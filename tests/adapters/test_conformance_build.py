"""How modules were built, and what comes of building and running them again: the same in every framework."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from adapters.observing import make_batches, weights
from adapters.subjects.protocol import Array, Subject


@pytest.fixture(autouse=True)
def _captured(subject: Subject) -> None:
    subject.adapter.build.capture_built()


def _inputs(count: int = 5, width: int = 4) -> Array:
    return np.random.default_rng(1).normal(size=(count, width)).astype(np.float32)


def _here() -> int:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def test_arguments_are_known_by_name_with_defaults_filled_in(subject: Subject) -> None:
    built = subject.adapter.build.built(subject.linear(4, 6))
    assert built is not None
    assert built.type is subject.linear
    assert built.complete
    assert {name: built.arguments[name] for name in subject.traits.linear_arguments} == subject.traits.linear_arguments
    assert "self" not in built.arguments


def test_the_line_is_the_user_s_and_not_the_framework_s(subject: Subject) -> None:
    module = subject.linear(4, 6)
    wanted = _here() - 1
    built = subject.adapter.build.built(module)
    assert built is not None
    assert built.line is not None
    assert (built.line.file, built.line.line) == (__file__, wanted)


def test_a_user_s_own_class_is_known_and_so_are_the_layers_it_builds(subject: Subject) -> None:
    kind = type(subject.make_network(0))
    network = kind(hidden=8, inputs=4)
    built = subject.adapter.build.built(network)
    assert built is not None
    assert dict(built.arguments) == {"inputs": 4, "hidden": 8, "outputs": 3}
    assert built.line is not None
    assert built.line.file == __file__
    layer = subject.adapter.build.built(network.body.first)
    assert layer is not None
    assert list(layer.arguments.values())[:2] == [4, 8]
    assert layer.line is not None
    assert layer.line.file == inspect.getfile(kind)


def test_a_copy_does_not_pretend_to_have_been_built_with_defaults(subject: Subject) -> None:
    copied = copy.deepcopy(type(subject.make_network(0))(hidden=8))
    built = subject.adapter.build.built(copied)
    assert built is None or not built.complete or built.arguments["hidden"] == 8


def test_capturing_twice_is_capturing_once(subject: Subject) -> None:
    subject.adapter.build.capture_built()
    built = subject.adapter.build.built(subject.linear(4, 6))
    assert built is not None
    assert list(built.arguments.values())[:2] == [4, 6]


def test_a_wrong_argument_is_still_the_framework_s_own_error(subject: Subject) -> None:
    with pytest.raises(TypeError):
        subject.linear(4, 6, no_such_argument=1)


def test_rebuilding_with_one_change_keeps_the_weights_and_changes_the_behaviour(subject: Subject) -> None:
    network = subject.make_network(0)
    optimizer = subject.make_optimizer(network)
    for batch in make_batches(3):
        subject.train_step(network, [optimizer], batch)
    norm = network.body.norm
    subject.set_training(norm, False)
    inputs = _inputs(width=6)
    before = subject.forward(norm, inputs)[0]
    same = subject.adapter.build.rebuild(norm)
    other = subject.adapter.build.rebuild(norm, **{subject.traits.eps_argument: 0.5})
    np.testing.assert_array_equal(subject.forward(same, inputs)[0], before)
    for name, array in weights(subject, norm).items():
        np.testing.assert_array_equal(weights(subject, other)[name], array)
    changed = subject.forward(other, inputs)[0]
    assert np.abs(changed - before).max() > 1e-3
    np.testing.assert_array_equal(subject.forward(norm, inputs)[0], before)


def test_a_rebuilt_module_has_weights_of_its_own(subject: Subject) -> None:
    values = subject.adapter.values
    module = subject.linear(4, 6)
    again = subject.adapter.build.rebuild(module)
    for one in values.tensors(again):
        values.assign(one.value, np.zeros(values.shape(one.value), np.float32))
    assert any(array.any() for array in weights(subject, module).values())


def test_a_rebuilt_module_without_a_bias_keeps_the_rest(subject: Subject) -> None:
    module = subject.linear(4, 6)
    again = subject.adapter.build.rebuild(module, **{subject.traits.bias_argument: False})
    (name,) = weights(subject, again)
    np.testing.assert_array_equal(weights(subject, again)[name], weights(subject, module)[name])


def test_rebuilding_leaves_the_random_numbers_where_they_are(subject: Subject) -> None:
    kind = subject.linear
    found = []
    for rebuilt in (False, True):
        module = kind(4, 6)
        subject.adapter.state.seed(5)
        if rebuilt:
            subject.adapter.build.rebuild(module)
        found.append(weights(subject, kind(4, 6)))
    for name, array in found[0].items():
        np.testing.assert_array_equal(found[1][name], array)


def _numeric(out: Callable[[], Array], gout: Array, array: Array, put: Callable[[Array], None]) -> Array:
    """The derivative of sum(out * gout) for every element of an array."""
    found = np.zeros(array.shape)
    for place in np.ndindex(array.shape):
        sides = []
        for shift in (1e-2, -1e-2):
            moved = array.copy()
            moved[place] += shift
            put(moved)
            sides.append(float((out().astype(np.float64) * gout).sum()))
        found[place] = (sides[0] - sides[1]) / 2e-2
    put(array)
    return found


@pytest.mark.parametrize("kind", ["linear", "norm"])
def test_one_module_s_backward_is_its_numeric_derivative(subject: Subject, kind: str) -> None:
    values, build = subject.adapter.values, subject.adapter.build
    module = subject.linear(4, 3) if kind == "linear" else subject.norm(4)
    inputs = [_inputs()]
    gout = np.random.default_rng(2).normal(size=(5, 3 if kind == "linear" else 4)).astype(np.float32)
    passed = build.run(module, inputs, gout=[gout], train=True)

    def out() -> Array:
        return np.asarray(build.run(module, inputs, train=True).outputs[0])

    np.testing.assert_allclose(passed.outputs[0], out(), rtol=1e-6)
    assert passed.gin[0] is not None
    by_input = _numeric(out, gout, inputs[0], lambda array: inputs.__setitem__(0, array))
    np.testing.assert_allclose(passed.gin[0], by_input, rtol=2e-2, atol=2e-3)
    trainable = [one for one in values.tensors(module) if one.trainable]
    assert list(passed.grads) == [one.name for one in trainable]
    for one in trainable:
        start = values.to_numpy(one.value, copy=True)
        numeric = _numeric(out, gout, start, partial(values.assign, one.value))
        np.testing.assert_allclose(passed.grads[one.name], numeric, rtol=2e-2, atol=2e-3, err_msg=one.name)


def test_running_a_module_leaves_its_mode_buffers_and_gradients_as_they_were(subject: Subject) -> None:
    network = subject.make_network(0)
    optimizer = subject.make_optimizer(network)
    (batch,) = make_batches(1)
    subject.train_step(network, [optimizer], batch)
    before = weights(subject, network)
    subject.set_training(network.last, False)
    gradient = getattr(network.last.weight, "grad", None)
    kept = None if gradient is None else np.array(gradient, copy=True)
    subject.adapter.build.run(network, [batch[0]], gout=[np.ones((8, 3), np.float32)], train=True)
    for name, array in weights(subject, network).items():
        np.testing.assert_array_equal(array, before[name], err_msg=name)
    assert subject.adapter.values.training(network.body.norm)
    assert not subject.adapter.values.training(network.last)
    if kept is not None:
        np.testing.assert_array_equal(np.array(network.last.weight.grad), kept)


def test_a_module_runs_in_the_mode_asked_for(subject: Subject) -> None:
    norm = subject.norm(4)
    inputs = _inputs() * 3 + 1
    training = subject.adapter.build.run(norm, [inputs], train=True).outputs[0]
    evaluation = subject.adapter.build.run(norm, [inputs], train=False).outputs[0]
    np.testing.assert_allclose(training.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(evaluation, inputs, rtol=1e-4, atol=1e-4)


def test_all_outputs_of_a_module_take_a_gradient(subject: Subject) -> None:
    network = subject.make_network(0, "outputs")
    (batch,) = make_batches(1)
    gout = [np.zeros((8, 3), np.float32), np.ones((8, 6), np.float32)]
    passed = subject.adapter.build.run(network, [batch[0]], gout=gout, train=True)
    assert [one.shape for one in passed.outputs] == [(8, 3), (8, 6)]
    last = [array for name, array in passed.grads.items() if name.startswith("last.")]
    assert not any(array.any() for array in last)
    assert passed.grads["body.first.weight"].any()
    assert passed.grads[next(name for name in passed.grads if name.startswith("body.norm."))].any()


def test_given_gradients_reach_each_parameter_in_the_order_of_the_groups(subject: Subject) -> None:
    values = subject.adapter.values
    network = subject.make_network(0)
    optimizer = subject.make_optimizer(network, lr=0.5, momentum=0.0, groups=2)
    parameters = [(group, one) for group in values.groups(optimizer) for one in group.parameters]
    before = [subject.array(one) for _, one in parameters]
    gradients: list[Any] = [np.full(values.shape(one), at + 1, np.float32) for at, (_, one) in enumerate(parameters)]
    subject.adapter.build.apply_gradients(optimizer, gradients)
    for (group, one), old, gradient in zip(parameters, before, gradients, strict=True):
        np.testing.assert_allclose(subject.array(one), old - group.settings["lr"] * gradient, rtol=1e-6, atol=1e-6)
