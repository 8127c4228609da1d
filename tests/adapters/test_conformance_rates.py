"""Learning rates other than the script's really take effect, the same in every framework."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from adapters.observing import make_batches, weights
from adapters.subjects.protocol import Subject

from trueline.adapters.protocol import HeldRates


def _step(subject: Subject, optimizer: Any, network: Any, held: HeldRates | None, rates: list[float]) -> None:
    (batch,) = make_batches(1)
    if held is not None:
        held.use(rates)
    subject.train_step(network, [optimizer], batch)
    if held is not None:
        held.release()


@pytest.mark.parametrize(("groups", "rule"), [(1, "adam"), (2, "sgd")])
def test_a_step_at_a_held_rate_is_the_step_of_an_optimizer_with_that_rate(
    subject: Subject, groups: int, rule: Any
) -> None:
    network, other = subject.make_network(0), subject.make_network(0)
    optimizer = subject.make_optimizer(network, lr=0.1, rule=rule, groups=groups)
    wanted = subject.make_optimizer(other, lr=0.004, rule=rule, groups=groups)
    held = subject.adapter.rates.hold(optimizer)
    scaled = [rate * 0.04 for rate in held.peak()]
    for _ in range(3):
        _step(subject, optimizer, network, held, scaled)
        _step(subject, wanted, other, None, [])
    here, there = weights(subject, network), weights(subject, other)
    start = weights(subject, subject.make_network(0))
    assert any(not np.array_equal(here[name], start[name]) for name in here)
    assert all(np.allclose(here[name], there[name], rtol=1e-4, atol=1e-6) for name in here)


def test_the_script_finds_its_own_rates_again(subject: Subject) -> None:
    network = subject.make_network(0)
    optimizer = subject.make_optimizer(network, lr=0.1, groups=2)
    held = subject.adapter.rates.hold(optimizer)
    own = held.own()
    assert sorted(own) == pytest.approx([0.01, 0.1])
    held.use([3.0, 4.0])
    assert held.own() == own
    held.release()
    assert held.own() == own
    assert sorted(one.settings["lr"] for one in subject.adapter.values.groups(optimizer)) == pytest.approx([0.01, 0.1])
