"""Operators are looked at beside what a script enters by itself: its own modes keep their places."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")


def _own_mode() -> Any:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counting(TorchDispatchMode):  # type: ignore[misc]
        count = 0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.count += 1
            return func(*args, **(kwargs or {}))

    return Counting()


def test_nothing_is_begun_inside_of_a_mode_of_the_script() -> None:
    from trueline.adapters.torch import ops

    with _own_mode():
        assert ops.begin(lambda _: None) is None


def test_it_ends_only_after_what_the_script_has_entered_since() -> None:
    from trueline.adapters.torch import internals, ops

    told: list[str] = []
    end = ops.begin(lambda call: told.append(call.name))
    assert end is not None
    with _own_mode() as own:
        assert not end()
        torch.ones(2) + 1
        assert own.count and not told
    assert end()
    assert internals.dispatch_modes() == []


def test_what_is_compiled_stays_compiled() -> None:
    from trueline.adapters.torch import ops

    graphs: list[Any] = []

    def compiler(graph: Any, _: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    double = torch.compile(lambda x: x * 2, backend=compiler)
    end = ops.begin(lambda _: None)
    try:
        assert double(torch.ones(2)).tolist() == [2, 2]
    finally:
        assert end is None or end()
    assert double(torch.ones(2)).tolist() == [2, 2]
    assert len(graphs) == 1
