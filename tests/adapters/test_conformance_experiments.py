"""What experiments do to a training: another batch size, and a loss that is larger on its way back."""

from __future__ import annotations

from typing import Any

import numpy as np
from adapters.observing import make_batches
from adapters.subjects.protocol import Subject

from trueline.adapters.batchers import Batcher


def test_a_loader_built_with_another_batch_size_hands_out_the_same_samples(subject: Subject) -> None:
    (batch,) = make_batches(1)
    told: list[Batcher] = []

    def resize(batcher: Batcher) -> int | None:
        told.append(batcher)
        return 3

    watching = subject.adapter.batching.watch(resize)
    try:
        loader = subject.loader(batch, batch_size=2, order=range(len(batch[0])))
        batches = [subject.arrays(one) for one in loader]
    finally:
        watching.remove()
    assert [one.size for one in told] == [2]
    assert list(watching.behind(loader)) == [0]
    assert {len(inputs) for inputs, _ in batches[:-1]} == {3}
    assert np.array_equal(np.concatenate([inputs for inputs, _ in batches]), batch[0])
    again = subject.loader(batch, batch_size=2, order=range(len(batch[0])))
    assert len(subject.arrays(next(iter(again)))[0]) == 2
    assert len(told) == 1


def test_a_loss_made_larger_on_its_way_back_makes_all_gradients_so(subject: Subject) -> None:
    (batch,) = make_batches(1)
    values = subject.adapter.values

    def trained(factor: float) -> tuple[dict[str, Any], dict[str, Any]]:
        network = subject.make_network(1)
        optimizer = subject.make_optimizer(network)
        seen = {}

        def change(name: str, gradient: Any) -> Any:
            seen[name] = values.to_numpy(gradient, copy=True)
            return values.from_numpy(seen[name] / np.float32(factor), like=gradient)

        for one in values.tensors(network):
            if one.trainable:
                subject.adapter.loss_scale.on_parameter_gradient(
                    one.value, lambda gradient, name=one.name: change(name, gradient)
                )
        installed = subject.adapter.loss_scale.multiply_losses(lambda: factor)
        try:
            subject.train_step(network, [optimizer], batch)
        finally:
            installed.remove()
        return seen, {one.name: values.to_numpy(one.value, copy=True) for one in values.tensors(network)}

    gradients, weights = trained(1.0)
    larger, same = trained(256.0)
    assert gradients.keys() == set(subject.traits.parameters)
    for name, gradient in gradients.items():
        # Biases before a normalisation have gradients of rounding only.
        np.testing.assert_allclose(larger[name], gradient * 256, rtol=1e-4, atol=1e-4)
    for name, array in weights.items():
        np.testing.assert_allclose(same[name], array, rtol=1e-5, atol=1e-6)


def test_nothing_is_left_behind(subject: Subject) -> None:
    batches = make_batches(2)
    losses = []
    for _ in range(2):
        network = subject.make_network(2)
        optimizer = subject.make_optimizer(network)
        losses.append([subject.train_step(network, [optimizer], one) for one in batches])
        installed = subject.adapter.loss_scale.multiply_losses(lambda: 2.0)
        installed.remove()
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)
