"""The language of the drawing table: what an expression draws."""

from __future__ import annotations

import numpy as np
import pytest

from trueline.migrate.lab.drawing.arrays import Values
from trueline.migrate.lab.drawing.edges import Edge
from trueline.migrate.lab.drawing.expressions import evaluate, parsed
from trueline.migrate.lab.drawing.scope import Scope


def scope(edge: Edge | None = None, seed: int = 0) -> Scope:
    return Scope(np.random.default_rng(seed), edge, {"real": Values(-3.0, 3.0), "positive": Values(0.1, 4.0)})


def test_a_size_is_the_same_wherever_it_is_named() -> None:
    first, second = evaluate(parsed("[real(M, K), real(K, 2*M)]"), scope())
    assert first.shape[1] == second.shape[0]
    assert second.shape[1] == 2 * first.shape[0]


def test_a_shape_is_spliced_and_may_broadcast() -> None:
    ordinary = scope()
    assert evaluate(parsed("real(*broadcast(S), 1)"), ordinary).shape == (*ordinary.look_up("S"), 1)
    edgy = scope(Edge.BROADCAST)
    drawn = evaluate(parsed("real(*broadcast(S))"), edgy)
    assert drawn.shape != edgy.look_up("S") == np.broadcast_shapes(drawn.shape, edgy.look_up("S"))


def test_one_of_several_is_drawn() -> None:
    assert {evaluate(parsed("1 | 'two' | (3, 4)"), scope(seed=seed)) for seed in range(30)} == {1, "two", (3, 4)}


def test_an_axis_is_of_the_first_array_and_negative_where_that_is_the_edge() -> None:
    for edge, allowed in ((None, {0, 1}), (Edge.NEGATIVE_AXIS, {-1, -2})):
        drawing = scope(edge)
        drawing.values["input"] = np.zeros((2, 3))
        assert {evaluate(parsed("axis()"), drawing) for _ in range(20)} == allowed


def test_arrays_of_one_call_have_no_number_in_common_unless_ties_are_the_edge() -> None:
    first, second = evaluate(parsed("[real(8, 8), real(8, 8)]"), scope())
    assert not set(first.ravel()) & set(second.ravel())
    first, second = evaluate(parsed("[real(8, 8), real(8, 8)]"), scope(Edge.TIES))
    assert set(second.ravel()) <= set(first.ravel())


def test_what_the_language_does_not_have_is_refused() -> None:
    with pytest.raises(SyntaxError, match="not in the language"):
        evaluate(parsed("[size for size in S]"), scope())
    with pytest.raises(LookupError, match="weight"):
        evaluate(parsed("weight"), scope())
