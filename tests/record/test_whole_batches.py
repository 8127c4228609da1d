"""Which batches are kept whole, and that no more are copied than are wanted."""

from __future__ import annotations

import numpy as np

from trueline.model.key import Phase
from trueline.model.run import EventName
from trueline.record.batches import Laid
from trueline.record.open_step import OpenEvent
from trueline.record.whole_batches import WholeBatches


def laid(number: int) -> Laid:
    return Laid(2, [("x", np.full((2, 3), number)), ("y", np.arange(2))], [])


def event(number: int) -> OpenEvent:
    return OpenEvent(EventName.BATCH, number, {})


def test_the_first_batches_of_each_phase_are_kept() -> None:
    whole = WholeBatches(2)
    kept: dict[Phase, list[int]] = {Phase.TRAIN: [], Phase.EVAL: []}
    for number in range(8):
        phase, loader = (Phase.EVAL, 2) if number % 4 == 3 else (Phase.TRAIN, 1)
        told = event(number)
        whole.add(told, loader, laid(number))
        for one in whole.of_step([OpenEvent(EventName.LOSS, 0, {}), told], phase) or []:
            kept[phase].append(int(one.arrays["x"][0, 0]))
    assert kept == {Phase.TRAIN: [0, 1], Phase.EVAL: [3, 7]}


def test_several_batches_of_a_step_keep_their_places() -> None:
    whole = WholeBatches(3)
    steps = [[event(0), event(1)], [event(2), event(3)], [event(4)]]
    for number, told in enumerate(one for step in steps for one in step):
        whole.add(told, 1, laid(number))
    found = [whole.of_step(step, Phase.TRAIN) for step in steps]
    assert [[sorted(one.arrays) for one in step] if step else None for step in found] == [
        [["x", "y"], ["x", "y"]],
        [["x", "y"], []],
        None,
    ]


def test_a_batch_is_a_copy_of_that_moment() -> None:
    whole = WholeBatches(1)
    told, given = event(0), laid(5)
    whole.add(told, 1, given)
    given.arrays[0][1][:] = 0
    (one,) = whole.of_step([told], Phase.TRAIN) or []
    assert (one.arrays["x"] == 5).all()


def test_fetching_all_batches_before_the_first_step_copies_no_more_than_are_wanted() -> None:
    whole = WholeBatches(2)
    events = [event(number) for number in range(100)]
    for number, told in enumerate(events):
        whole.add(told, 1, laid(number))
    assert len(whole._pending) <= 4
    found = [whole.of_step([told], Phase.TRAIN) for told in events]
    assert [one is not None for one in found] == [True, True] + [False] * 98


def test_a_loader_that_only_trains_is_not_copied_for_evaluation_s_sake() -> None:
    whole = WholeBatches(1)
    first = event(0)
    whole.add(first, 1, laid(0))
    whole.of_step([first], Phase.TRAIN)
    whole.add(event(1), 1, laid(1))
    assert whole._pending == []
    whole.add(event(2), 2, laid(2))
    assert len(whole._pending) == 1


def test_batches_that_were_passed_over_are_forgotten() -> None:
    whole = WholeBatches(2)
    events = [event(number) for number in range(3)]
    for number, told in enumerate(events):
        whole.add(told, 1, laid(number))
    assert whole.of_step([events[2]], Phase.TRAIN) is not None
    assert whole._pending == []
