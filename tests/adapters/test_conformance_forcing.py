"""Calls taken in hand, gradients of one function, dropout held still: the same in every framework."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from adapters.subjects.protocol import Array, Subject

from trueline.adapters.tree import replaced


def _inputs(seed: int = 1) -> Array:
    return np.random.default_rng(seed).normal(size=(5, 4)).astype(np.float32)


def test_every_call_goes_through_the_one_around_it_inner_ones_too(subject: Subject) -> None:
    network = subject.make_network(0)
    paths = {id(module): path for path, module in subject.adapter.values.modules(network)}
    seen: list[str] = []

    def around(module: Any, args: Any, kwargs: Any, proceed: Callable[..., Any]) -> Any:
        seen.append(paths[id(module)])
        return proceed(*args, **kwargs)

    plain = subject.forward(network, _inputs())
    with subject.adapter.intercept.intercept(around):
        found = subject.forward(network, _inputs())
    assert seen[0] == ""
    assert {"body", "body.first", "last"} <= set(seen)
    assert all(np.array_equal(a, b) for a, b in zip(found, plain, strict=True))
    seen.clear()
    subject.forward(network, _inputs())
    assert not seen


def test_what_stands_around_a_call_decides_what_goes_in_and_comes_out(subject: Subject) -> None:
    network = subject.make_network(0)
    values = subject.adapter.values
    other = _inputs(2)

    def around(module: Any, args: Any, kwargs: Any, proceed: Callable[..., Any]) -> Any:
        if module is not network:
            return proceed(*args, **kwargs)
        output = proceed(values.from_numpy(other))
        return replaced(output, values.is_tensor, lambda _, one: values.from_numpy(values.to_numpy(one) * 2))

    wanted = subject.forward(network, other)
    with subject.adapter.intercept.intercept(around):
        found = subject.forward(network, _inputs())
    assert all(np.array_equal(a, 2 * b) for a, b in zip(found, wanted, strict=True))


def test_gradients_of_a_function_are_those_of_running_the_module_by_itself(subject: Subject) -> None:
    network = subject.make_network(0)
    subject.set_training(network, False)
    values = subject.adapter.values
    named = {one.name: one.value for one in values.tensors(network) if one.trainable}
    gout = np.random.default_rng(3).normal(size=subject.forward(network, _inputs())[0].shape).astype(np.float32)
    ran = subject.adapter.build.run(network, [_inputs()], gout=[gout])
    with subject.adapter.autograd.without_gradient():
        pulled = subject.adapter.autograd.vjp(network, [values.from_numpy(_inputs())], list(named.values()), [gout])
    assert pulled.gin[0] is not None
    np.testing.assert_allclose(pulled.gin[0], ran.gin[0], rtol=1e-5, atol=1e-6)
    for name, one in zip(named, pulled.grads, strict=True):
        assert one is not None
        np.testing.assert_allclose(one, ran.grads[name], rtol=1e-5, atol=1e-6)


def test_gradients_can_be_made_once_the_outputs_are_there(subject: Subject) -> None:
    network = subject.make_network(0)
    values = subject.adapter.values
    shapes: list[tuple[int, ...]] = []

    def gout(outputs: Any) -> list[Array]:
        shapes.extend(one.shape for one in outputs)
        return [np.ones_like(one) for one in outputs]

    pulled = subject.adapter.autograd.vjp(network, [values.from_numpy(_inputs())], [], gout)
    assert shapes == [pulled.outputs[0].shape]
    assert pulled.gin[0] is not None
    assert np.any(pulled.gin[0])


def test_dropout_is_identity_in_the_block_and_drops_again_after_it(subject: Subject) -> None:
    network = subject.make_network(0, "dropout")
    build = subject.adapter.build
    with subject.adapter.steady.without_dropout(network):
        first, second = (build.run(network, [_inputs()], train=True).outputs[0] for _ in range(2))
    assert np.array_equal(first, second)
    dropped = [build.run(network, [_inputs()], train=True).outputs[0] for _ in range(2)]
    assert not np.array_equal(dropped[0], dropped[1])


def test_modes_and_buffers_are_as_they_were_after_an_undisturbed_block(subject: Subject) -> None:
    norm = subject.norm(4)
    values = subject.adapter.values
    before = {one.name: values.to_numpy(one.value, copy=True) for one in values.tensors(norm)}
    mode = bool(norm.training)
    with subject.adapter.build.undisturbed(norm, not mode):
        assert bool(norm.training) is not mode
        subject.forward(norm, _inputs() + 3)
    assert bool(norm.training) is mode
    after = {one.name: values.to_numpy(one.value, copy=True) for one in values.tensors(norm)}
    assert all(np.array_equal(before[name], after[name]) for name in before)
