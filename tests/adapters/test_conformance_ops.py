"""Op level: names and lines in order, and silence outside of the block, in every framework."""

from __future__ import annotations

import inspect

import numpy as np
from adapters.observing import make_batches
from adapters.subjects.protocol import Array, Subject

from trueline.adapters.nouns import OpCall
from trueline.model.location import Location

ARRAY = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


def test_ops_are_told_in_order_with_the_user_s_lines(subject: Subject) -> None:
    told: list[OpCall] = []
    with subject.adapter.ops.watch(told.append):
        wanted = subject.do_ops(ARRAY)
    places = []
    for part, line in wanted:
        found = [
            at
            for at, one in enumerate(told)
            if part in one.name.lower() and one.line is not None and one.line.line == line
        ]
        assert found, f"{part} on line {line} is not among {[(one.name, one.line) for one in told]}"
        places.append(found[0])
        told_line = told[found[0]].line
        assert told_line is not None
        assert told_line.file == inspect.getfile(type(subject))
    assert places == sorted(places)


def test_ops_hand_over_their_inputs_and_outputs(subject: Subject) -> None:
    values = subject.adapter.values
    outputs: list[tuple[str, Array]] = []

    def note(call: OpCall) -> None:
        assert all(values.is_tensor(one) for one in (*call.inputs, *call.outputs))
        outputs.extend((call.name.lower(), values.to_numpy(one, copy=True)) for one in call.outputs)

    with subject.adapter.ops.watch(note):
        subject.do_ops(ARRAY)
    product = ARRAY @ np.ones((4, 2), np.float32)
    (found,) = [array for name, array in outputs if "relu" in name]
    np.testing.assert_allclose(found, np.maximum(product * 2, 0), rtol=1e-6)


def test_the_watch_is_silent_after_its_block_also_when_the_block_raised(subject: Subject) -> None:
    told: list[OpCall] = []
    try:
        with subject.adapter.ops.watch(told.append):
            subject.do_ops(ARRAY)
            raise KeyError
    except KeyError:
        pass
    count = len(told)
    assert count
    subject.do_ops(ARRAY)
    assert len(told) == count


def test_backward_ops_are_told_apart_from_forward_ones(subject: Subject) -> None:
    network = subject.make_network(0)
    optimizer = subject.make_optimizer(network)
    (batch,) = make_batches(1)
    told: list[OpCall] = []
    with subject.adapter.ops.watch(told.append):
        subject.evaluate(network, batch)
        forward = len(told)
        subject.train_step(network, [optimizer], batch)
    assert forward
    assert not any(one.backward for one in told[:forward])
    assert any(one.backward for one in told[forward:]) == subject.traits.backward_ops


def test_watching_ops_changes_no_loss(subject: Subject) -> None:
    batches = make_batches(3)

    def train(*, watching: bool) -> list[float]:
        network = subject.make_network(4)
        optimizer = subject.make_optimizer(network)
        if not watching:
            return [subject.train_step(network, [optimizer], batch) for batch in batches]
        told: list[OpCall] = []
        with subject.adapter.ops.watch(told.append):
            return [subject.train_step(network, [optimizer], batch) for batch in batches]

    assert train(watching=False) == train(watching=True)


def test_a_tensor_made_of_data_is_told_with_its_line_inside_the_block_only(subject: Subject) -> None:
    told: list[tuple[object, Location | None]] = []
    with subject.adapter.ops.making(lambda tensor, line: told.append((tensor, line))):
        made = subject.tensor(ARRAY)
    subject.tensor(ARRAY)
    ((tensor, line),) = told
    np.testing.assert_array_equal(subject.array(tensor), subject.array(made))
    assert line is not None
    assert line.file == inspect.getfile(type(subject))


def test_what_is_begun_tells_forward_ops_until_it_is_ended(subject: Subject) -> None:
    network = subject.make_network(0)
    optimizer = subject.make_optimizer(network)
    (batch,) = make_batches(1)
    told: list[OpCall] = []
    end = subject.adapter.ops.begin(told.append)
    assert end is not None
    subject.do_ops(ARRAY)
    count = len(told)
    assert count and not any(one.backward for one in told)
    subject.train_step(network, [optimizer], batch)
    assert len(told) > count
    assert end()
    count = len(told)
    subject.do_ops(ARRAY)
    assert len(told) == count
