"""Loaders: what is told of each batch, and that batches stay as they are, in every framework."""

from __future__ import annotations

import numpy as np
from adapters.observing import watched
from adapters.subjects.protocol import Batch, Subject

from trueline.adapters.nouns import Handed

ORDER = [6, 0, 3, 5, 1, 2, 4]


def _data() -> Batch:
    inputs = np.arange(28, dtype=np.float32).reshape(7, 4)
    return inputs, np.arange(7, dtype=np.int64) % 3


def test_an_iteration_is_told_from_its_beginning_to_its_end(subject: Subject) -> None:
    loader = subject.loader(_data(), batch_size=3, order=ORDER)
    with watched(subject) as notebook:
        for _ in range(2):
            assert len(list(loader)) == 3
    once = ["loader_began", *["fetch_began", "fetched"] * 3, "fetch_began", "loader_ended"]
    assert [one.name for one in notebook.events if one.name != "notice"] == once * 2


def test_batches_reach_the_user_untouched(subject: Subject) -> None:
    data = _data()
    loader = subject.loader(data, batch_size=3, order=ORDER)
    plain = [subject.arrays(batch) for batch in loader]
    with watched(subject):
        seen = [subject.arrays(batch) for batch in loader]
    for (inputs, labels), (plain_inputs, plain_labels), start in zip(seen, plain, (0, 3, 6), strict=True):
        chosen = ORDER[start : start + 3]
        np.testing.assert_array_equal(inputs, plain_inputs)
        np.testing.assert_array_equal(labels, plain_labels)
        np.testing.assert_array_equal(inputs, data[0][chosen])
        np.testing.assert_array_equal(labels, data[1][chosen])
        assert inputs.dtype == plain_inputs.dtype == np.float32


def test_the_batch_told_is_the_very_one_the_user_gets(subject: Subject) -> None:
    loader = subject.loader(_data(), batch_size=3, order=ORDER)
    with watched(subject) as notebook:
        given = list(loader)
    told = [one.seen[0] for one in notebook.told("fetched")]
    assert len(told) == len(given)
    assert all(one is other for one, other in zip(told, given, strict=True))


def test_indexes_are_the_sampler_s_own_in_order(subject: Subject) -> None:
    loader = subject.loader(_data(), batch_size=3, order=ORDER)
    with watched(subject) as notebook:
        for _ in range(2):
            list(loader)
    wanted = [ORDER[:3], ORDER[3:6], ORDER[6:]] if subject.traits.indexes else [None] * 3
    assert [one.seen[1] for one in notebook.told("fetched")] == wanted * 2


def test_a_loop_left_early_does_not_shift_the_next_one_s_indexes(subject: Subject) -> None:
    loader = subject.loader(_data(), batch_size=2, order=ORDER)
    with watched(subject) as notebook:
        for _ in loader:
            break
        list(loader)
    names = [one.name for one in notebook.told("loader_began", "fetched")]
    assert names == ["loader_began", "fetched", "loader_began", *["fetched"] * 4]
    if subject.traits.indexes:
        wanted = [ORDER[:2], ORDER[:2], ORDER[2:4], ORDER[4:6], ORDER[6:]]
        assert [one.seen[1] for one in notebook.told("fetched")] == wanted


def test_two_loaders_in_turn_keep_their_own_indexes(subject: Subject) -> None:
    first = subject.loader(_data(), batch_size=2, order=ORDER)
    second = subject.loader(_data(), batch_size=2, order=range(7))
    with watched(subject) as notebook:
        for one, other in zip(first, second, strict=True):
            np.testing.assert_array_equal(subject.arrays(one)[0][:, 0].shape, subject.arrays(other)[0][:, 0].shape)
    fetched = notebook.told("fetched")
    assert len({id(one.of) for one in fetched}) == 2
    if subject.traits.indexes:
        assert [one.seen[1] for one in fetched[:4]] == [ORDER[:2], [0, 1], ORDER[2:4], [2, 3]]


def test_the_facts_of_a_loader_are_plain_and_true(subject: Subject) -> None:
    loader = subject.loader(_data(), batch_size=3, order=ORDER)
    with watched(subject) as notebook:
        list(loader)
    (facts,) = [one.seen for one in notebook.told("loader_began")]
    assert {"kind", "length", "batch_size", "sampler", "workers", "dataset"} <= facts.keys()
    assert facts["batch_size"] == 3
    assert facts["length"] == 3
    assert all(value is None or isinstance(value, bool | int | float | str) for value in facts.values())


def test_a_batch_that_is_handed_out_takes_none_from_the_loader(subject: Subject) -> None:
    loader = subject.loader(_data(), batch_size=3, order=ORDER)
    plain = [subject.arrays(batch) for batch in loader]
    with watched(subject) as notebook:
        given = []
        for batch in loader:
            given.append(subject.arrays(batch))
            if len(given) == 2:
                notebook.handed.append(Handed(batch))
    wanted = [plain[0], plain[1], plain[1], plain[2]]
    assert len(given) == len(wanted)
    for found, right in zip(given, wanted, strict=True):
        np.testing.assert_array_equal(found[0], right[0])
