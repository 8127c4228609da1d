"""Ten times the names cost about ten times as much, and a large port is found whole."""

from __future__ import annotations

import gc
import time

from trueline.compare.align import Alignment, Item, Structure, align
from trueline.model.finding import Certainty
from trueline.model.key import Key

LEAVES = {"weight": "gamma", "bias": "beta", "running_mean": "moving_mean", "running_var": "moving_variance"}


def sides(blocks: int) -> tuple[Structure, Structure, dict[str, str]]:
    """A port behind a prefix with renamed blocks, leftovers on both sides, and what is the same."""
    here: list[Item] = []
    there: list[Item] = []
    right = {}
    for block in range(blocks):
        stage, place = divmod(block, 25)
        width = 8 + 8 * stage
        a, b = f"body.stages.{stage}.{place}", f"layer{stage + 1}.{place}"
        for one, other in (("a", "1"), ("b", "2")):
            names = [(f"{a}.conv_{one}.weight", f"{b}.conv{other}.weight", (width, width, 3, 3))]
            names += [(f"{a}.norm_{one}.{LEAVES[leaf]}", f"{b}.bn{other}.{leaf}", (width,)) for leaf in LEAVES]
            for name_a, name_b, shape in names:
                right[name_a] = name_b
                here.append(Item(Key.of_parameter(name_a), shape))
                there.append(Item(Key.of_parameter(name_b), shape))
    for extra in range(blocks // 3):
        here.append(Item(Key.of_parameter(f"body.more{extra}.scale"), (7, extra + 2)))
        there.append(Item(Key.of_parameter(f"side{extra}.weight"), (5, 3, extra + 2)))
    return Structure(here), Structure(there), right


def test_cost_grows_with_the_names_and_not_with_their_square() -> None:
    few, many = sides(100), sides(1_000)
    assert len(many[0].items) > 10_000
    cost_of_few = min(_cost(*few[:2])[0] for _ in range(3))
    costs, alignments = zip(*(_cost(*many[:2]) for _ in range(2)), strict=True)
    cost_of_many, found = min(costs), alignments[0]
    assert {pair.a.parameter: pair.b.parameter for pair in found.pairs} == many[2]
    assert {pair.certainty for pair in found.pairs} == {Certainty.LIKELY}
    assert len(found.only_a) == len(found.only_b) == 333
    # Ten times the names: a square would be a hundred times as much.
    assert cost_of_many < 40 * max(cost_of_few, 0.02)


def _cost(a: Structure, b: Structure) -> tuple[float, Alignment]:
    # What else lives in this process is not to be searched for cycles meanwhile.
    gc.disable()
    try:
        start = time.process_time()
        found = align(a, b)
        return time.process_time() - start, found
    finally:
        gc.enable()
