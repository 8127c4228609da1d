"""Capture and restore: the following steps repeat bit for bit in every framework."""

from __future__ import annotations

import json
from typing import Any, get_args

import numpy as np
import pytest
from adapters.observing import make_batches, weights
from adapters.subjects.protocol import Rule, Subject

from trueline.adapters.nouns import State, Stateful


def _through_files(state: State) -> State:
    """The state as a file gives it back."""
    return State(
        {name: np.array(array, copy=True) for name, array in state.arrays.items()},
        json.loads(json.dumps(dict(state.plain), allow_nan=False)),
        list(state.lost),
    )


def _holders(network: Any, optimizers: list[Any]) -> list[Stateful]:
    return [Stateful("network", "", network), *(Stateful("optimizer", "", one) for one in optimizers)]


def _capture(subject: Subject, network: Any, optimizers: list[Any]) -> State:
    return _through_files(subject.adapter.replaying.capture(_holders(network, optimizers), gradients=True))


def _restore(subject: Subject, state: State, network: Any, optimizers: list[Any]) -> None:
    subject.adapter.replaying.restore(state, _holders(network, optimizers))


def _train(subject: Subject, network: Any, optimizers: list[Any], batches: Any) -> list[float]:
    return [subject.train_step(network, optimizers, batch) for batch in batches]


@pytest.mark.parametrize("rule", get_args(Rule))
def test_steps_after_a_restore_repeat_bit_for_bit_with_the_same_objects(subject: Subject, rule: Rule) -> None:
    batches = make_batches(5)
    network = subject.make_network(1)
    optimizer = subject.make_optimizer(network, rule=rule, groups=2)
    _train(subject, network, [optimizer], batches[:2])
    state = _capture(subject, network, [optimizer])
    losses = _train(subject, network, [optimizer], batches[2:])
    after = weights(subject, network)
    _restore(subject, state, network, [optimizer])
    assert _train(subject, network, [optimizer], batches[2:]) == losses
    for name, array in weights(subject, network).items():
        assert array.tobytes() == after[name].tobytes(), name
    assert not state.lost


@pytest.mark.parametrize("rule", get_args(Rule))
def test_a_restore_into_fresh_objects_repeats_bit_for_bit(subject: Subject, rule: Rule) -> None:
    batches = make_batches(5)
    network = subject.make_network(1)
    optimizer = subject.make_optimizer(network, rule=rule)
    _train(subject, network, [optimizer], batches[:2])
    state = _capture(subject, network, [optimizer])
    losses = _train(subject, network, [optimizer], batches[2:])
    fresh = subject.make_network(2)
    fresh_optimizer = subject.make_optimizer(fresh, rule=rule)
    _restore(subject, state, fresh, [fresh_optimizer])
    assert _train(subject, fresh, [fresh_optimizer], batches[2:]) == losses


def test_a_state_from_before_the_first_step_forgets_the_momentum_made_since(subject: Subject) -> None:
    batches = make_batches(3)
    network = subject.make_network(1)
    optimizer = subject.make_optimizer(network)
    state = _capture(subject, network, [optimizer])
    losses = _train(subject, network, [optimizer], batches)
    _restore(subject, state, network, [optimizer])
    assert _train(subject, network, [optimizer], batches) == losses


def test_restoring_brings_the_learning_rate_back(subject: Subject) -> None:
    batches = make_batches(4)
    network = subject.make_network(1)
    optimizer = subject.make_optimizer(network, lr=0.1)
    _train(subject, network, [optimizer], batches[:1])
    state = _capture(subject, network, [optimizer])
    losses = _train(subject, network, [optimizer], batches[1:])
    other = subject.make_network(1)
    other_optimizer = subject.make_optimizer(other, lr=0.7)
    _restore(subject, state, other, [other_optimizer])
    assert subject.adapter.values.groups(other_optimizer)[0].settings["lr"] == pytest.approx(0.1)
    assert _train(subject, other, [other_optimizer], batches[1:]) == losses


def test_two_optimizers_are_restored_each_to_its_own(subject: Subject) -> None:
    batches = make_batches(4)
    network = subject.make_network(1)
    optimizers = [subject.make_optimizer(network, part="body"), subject.make_optimizer(network, part="last", lr=0.3)]
    _train(subject, network, optimizers, batches[:2])
    state = _capture(subject, network, optimizers)
    losses = _train(subject, network, optimizers, batches[2:])
    _restore(subject, state, network, optimizers)
    assert _train(subject, network, optimizers, batches[2:]) == losses


def test_a_shared_parameter_is_still_shared_after_a_restore(subject: Subject) -> None:
    batches = make_batches(4)
    network = subject.make_network(1, "shared")
    optimizer = subject.make_optimizer(network)
    _train(subject, network, [optimizer], batches[:2])
    state = _capture(subject, network, [optimizer])
    losses = _train(subject, network, [optimizer], batches[2:])
    _restore(subject, state, network, [optimizer])
    assert _train(subject, network, [optimizer], batches[2:]) == losses
    values = subject.adapter.values
    found = {one.name: values.identity(one.value) for one in values.tensors(network)}
    assert found["first.weight"] == found["second.weight"]


def test_dropout_repeats_after_a_restore_or_is_named_as_lost(subject: Subject) -> None:
    batches = make_batches(4)
    network = subject.make_network(1, "dropout")
    optimizer = subject.make_optimizer(network)
    _train(subject, network, [optimizer], batches[:2])
    state = _capture(subject, network, [optimizer])
    losses = _train(subject, network, [optimizer], batches[2:])
    _restore(subject, state, network, [optimizer])
    again = _train(subject, network, [optimizer], batches[2:])
    if state.lost:
        assert any("drop" in name or "random" in name or "rng" in name for name in state.lost)
    else:
        assert again == losses


def test_a_seed_makes_dropout_and_weights_repeat(subject: Subject) -> None:
    batches = make_batches(3)
    runs = []
    for _ in range(2):
        network = subject.make_network(1, "dropout")
        free = subject.adapter.state.seed(7)
        assert all(isinstance(one, str) for one in free)
        runs.append(_train(subject, network, [subject.make_optimizer(network)], batches))
    assert runs[0] == runs[1]


def test_circumstances_are_plain_values_that_a_run_can_keep(subject: Subject) -> None:
    found = subject.adapter.state.circumstances()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert {"versions", "device", "precision", "mode", "seeds", "flags"} <= found.keys()
    assert found["versions"]
    assert found["device"].lower() == "cpu"


def test_a_single_process_has_no_rank(subject: Subject) -> None:
    assert subject.adapter.state.rank() is None


@pytest.mark.parametrize("rule", get_args(Rule))
def test_a_step_done_again_from_what_was_kept_repeats_bit_for_bit(subject: Subject, rule: Rule) -> None:
    batches = make_batches(5)
    network = subject.make_network(1)
    optimizer = subject.make_optimizer(network, rule=rule, groups=2)
    kept = subject.adapter.replaying.keeper()
    assert not kept.whole
    _train(subject, network, [optimizer], batches[:2])
    # What is kept first is forgotten.
    kept.take([network], [optimizer])
    _train(subject, network, [optimizer], batches[2:3])
    kept.take([network], [optimizer])
    losses = _train(subject, network, [optimizer], batches[3:])
    after = weights(subject, network)
    kept.restore()
    assert _train(subject, network, [optimizer], batches[3:]) == losses
    for name, array in weights(subject, network).items():
        assert array.tobytes() == after[name].tobytes(), name
    assert kept.whole
    assert kept.bytes >= sum(array.nbytes for array in after.values())


def test_what_was_kept_before_the_first_step_forgets_the_momentum_made_since(subject: Subject) -> None:
    batches = make_batches(3)
    network = subject.make_network(1)
    optimizer = subject.make_optimizer(network)
    kept = subject.adapter.replaying.keeper()
    kept.take([network], [optimizer])
    losses = _train(subject, network, [optimizer], batches)
    kept.restore()
    assert _train(subject, network, [optimizer], batches) == losses
