"""A whole state taken, and brought back into what a fresh process would have built."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from adapters.observing import make_batches, weights
from adapters.subjects.protocol import Rule, Subject

from trueline.adapters.nouns import State, Stateful
from trueline.formats.run_folder.states import Kept, StatesReader, StatesWriter


def _through_files(state: State, folder: Path) -> State:
    """The state as a run folder gives it back."""
    page = {"format": 1, "framework": "", "things": [], "plain": state.plain, "lost": [], "place": 0, "waiting": []}
    page |= {"counters": {}, "ended_before": [], "begins_at": {}}
    StatesWriter(folder).write_state(7, Kept(page, state.arrays))
    found = StatesReader(folder, folder).state(7)
    assert json.loads(json.dumps(found.tree, allow_nan=False)) == found.tree
    return State(found.arrays, found.tree["plain"])


def _holders(network: Any, *optimizers: Any) -> list[Stateful]:
    return [Stateful("network", "", network), *(Stateful("optimizer", "", one) for one in optimizers)]


def _train(subject: Subject, network: Any, optimizers: list[Any], batches: Any) -> list[float]:
    return [subject.train_step(network, optimizers, batch) for batch in batches]


@pytest.mark.parametrize("rule", get_args(Rule))
def test_fresh_objects_go_on_bit_for_bit(subject: Subject, rule: Rule, tmp_path: Path) -> None:
    batches = make_batches(5)
    network = subject.make_network(1)
    optimizer = subject.make_optimizer(network, rule=rule, groups=2)
    _train(subject, network, [optimizer], batches[:2])
    replaying = subject.adapter.replaying
    state = _through_files(replaying.capture(_holders(network, optimizer), gradients=True), tmp_path)
    losses = _train(subject, network, [optimizer], batches[2:])
    after = weights(subject, network)
    fresh = subject.make_network(2)
    fresh_optimizer = subject.make_optimizer(fresh, rule=rule, groups=2)
    replaying.restore(state, _holders(fresh, fresh_optimizer))
    assert _train(subject, fresh, [fresh_optimizer], batches[2:]) == losses
    for name, array in weights(subject, fresh).items():
        assert array.tobytes() == after[name].tobytes(), name


def test_objects_that_have_trained_since_are_brought_back_too(subject: Subject, tmp_path: Path) -> None:
    batches = make_batches(5)
    network = subject.make_network(1)
    optimizers = [subject.make_optimizer(network, part="body"), subject.make_optimizer(network, part="last", lr=0.3)]
    replaying, holders = subject.adapter.replaying, _holders(network, *optimizers)
    state = _through_files(replaying.capture(holders, gradients=True), tmp_path)
    losses = _train(subject, network, optimizers, batches)
    replaying.restore(state, holders)
    assert _train(subject, network, optimizers, batches) == losses


def test_random_numbers_are_brought_back(subject: Subject, tmp_path: Path) -> None:
    replaying = subject.adapter.replaying
    replaying.prepare()
    subject.adapter.state.seed(3)
    network = subject.make_network(1, "dropout")
    optimizer = subject.make_optimizer(network)
    batches = make_batches(6)
    _train(subject, network, [optimizer], batches[:3])
    captured = replaying.capture(_holders(network, optimizer), gradients=True)
    state = _through_files(captured, tmp_path)
    losses = _train(subject, network, [optimizer], batches[3:])
    fresh = subject.make_network(2, "dropout")
    fresh_optimizer = subject.make_optimizer(fresh)
    replaying.restore(state, _holders(fresh, fresh_optimizer))
    assert _train(subject, fresh, [fresh_optimizer], batches[3:]) == losses
    assert not captured.lost


def test_what_is_alive_is_found_in_the_order_of_building(subject: Subject) -> None:
    replaying = subject.adapter.replaying
    replaying.prepare()
    networks = [subject.make_network(seed) for seed in range(3)]
    optimizers = [subject.make_optimizer(one) for one in reversed(networks)]
    found = replaying.holders()
    mine = [one.held for one in found if any(one.held is other for other in (*networks, *optimizers))]
    assert [id(one) for one in mine] == [id(one) for one in (*networks, *optimizers)]
