"""A perturbation moves values by their rounding and nothing else, the same in every framework."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from adapters.observing import Notebook, make_batches, weights
from adapters.subjects.protocol import Array, Subject

UNIT = 2.0**-23


@contextmanager
def perturbed(subject: Subject, seed: int, ulps: int = 1) -> Iterator[tuple[Notebook, Any]]:
    """Everything told inside the block, with the perturbation in place."""
    notebook = Notebook(subject)
    hooks = subject.adapter.hooks
    perturbing = subject.adapter.perturb.install(seed, lambda: hooks.install(notebook), ulps=ulps)
    try:
        yield notebook, perturbing
    finally:
        perturbing.remove()


def _outputs(notebook: Notebook, module: Any) -> Array:
    return next(one.seen["0"] for one in notebook.told("returned") if one.of is module)


def _module(subject: Subject, network: Any, path: str) -> Any:
    return dict(subject.adapter.values.modules(network))[path]


def test_training_goes_nearly_the_same_way_and_gradients_flow(subject: Subject) -> None:
    (batch,) = make_batches(1)
    plain = subject.make_network(0)
    loss = subject.train_step(plain, [subject.make_optimizer(plain)], batch)
    moved = subject.make_network(0)
    before = [id(one.value) for one in subject.adapter.values.tensors(moved)]
    optimizer = subject.make_optimizer(moved)
    with perturbed(subject, 1):
        other = subject.train_step(moved, [optimizer], batch)
    assert other == pytest.approx(loss, rel=1e-5)
    here, there = weights(subject, moved), weights(subject, plain)
    assert any(not np.array_equal(here[name], there[name]) for name in here)
    assert all(np.allclose(here[name], there[name], rtol=1e-4, atol=1e-6) for name in here)
    assert [id(one.value) for one in subject.adapter.values.tensors(moved)] == before


def test_inputs_are_told_as_they_were_and_outputs_as_they_became(subject: Subject) -> None:
    (batch,) = make_batches(1)
    network = subject.make_network(0)
    subject.set_training(network, False)
    first = _module(subject, network, "body.first")
    with perturbed(subject, 1) as (notebook, perturbing):
        subject.evaluate(network, batch)
    told = notebook.told("called")
    assert told[0].of is network
    assert np.array_equal(next(iter(told[0].seen.values())), batch[0])
    used = next(next(iter(one.seen.values())) for one in told if one.of is first)
    assert 0 < np.abs(used / batch[0] - 1).max() <= 2.1 * UNIT
    again = subject.forward(first, used)[0]
    became = _outputs(notebook, first)
    assert 0 < np.abs(became - again).max() <= 2.1 * UNIT * np.abs(again).max()
    assert perturbing.counts()["inputs"] >= 1
    assert perturbing.counts()["layers"] >= 4


def test_what_is_whole_stays(subject: Subject) -> None:
    inputs, labels = make_batches(1)[0]
    network = subject.make_network(0)
    subject.set_training(network, False)
    rounded = np.rint(inputs * 4)
    with perturbed(subject, 1) as (notebook, _):
        subject.evaluate(network, (rounded, labels))
    first, act = _module(subject, network, "body.first"), _module(subject, network, "body.act")
    used = next(next(iter(one.seen.values())) for one in notebook.told("called") if one.of is first)
    assert np.array_equal(used, rounded)
    negative = next(next(iter(one.seen.values())) for one in notebook.told("called") if one.of is act) <= 0
    assert negative.any()
    assert not _outputs(notebook, act)[negative].any()


def test_a_seed_says_all_and_the_frameworks_random_numbers_stay(subject: Subject) -> None:
    (batch,) = make_batches(1)

    def dropped(seed: int | None) -> Array:
        network = subject.make_network(3, "dropout")
        optimizer = subject.make_optimizer(network)
        drop = _module(subject, network, "drop")
        if seed is None:
            notebook = Notebook(subject)
            installed = subject.adapter.hooks.install(notebook)
            subject.train_step(network, [optimizer], batch)
            installed.remove()
        else:
            with perturbed(subject, seed) as (notebook, _):
                subject.train_step(network, [optimizer], batch)
        return _outputs(notebook, drop)

    plain, one, again, two = (dropped(seed) for seed in (None, 1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, two)
    assert not np.array_equal(one, plain)
    assert all(np.array_equal(plain == 0, other == 0) for other in (one, two))


def test_more_units_move_further(subject: Subject) -> None:
    (batch,) = make_batches(1)
    network = subject.make_network(0)
    subject.set_training(network, False)
    last = _module(subject, network, "last")
    plain = {}
    for ulps in (0, 1, 64):
        with perturbed(subject, 1, ulps) as (notebook, _):
            subject.evaluate(network, batch)
        plain[ulps] = _outputs(notebook, last)
    assert np.abs(plain[64] - plain[1]).max() > 8 * np.abs(plain[1] - plain[0]).max() / 2


def test_removed_it_leaves_nothing(subject: Subject) -> None:
    (batch,) = make_batches(1)
    network = subject.make_network(0)
    subject.set_training(network, False)
    before = subject.evaluate(network, batch)
    with perturbed(subject, 1):
        subject.evaluate(network, batch)
    assert subject.evaluate(network, batch) == before
