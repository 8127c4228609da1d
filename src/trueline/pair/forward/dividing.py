"""Work that is divided otherwise between a layer and the code after it, in a block that has other faults too."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from trueline.pair.forward.faults import Fault
from trueline.pair.forward.forced import Called, Checked
from trueline.pair.questions.described import Described

# Each costs a run of the port.
_MOST_TRIES: Final = 8

# A block and the call in it whose inputs differ; None is what the block gives out.
Sink = tuple[Called, Called | None]
Freed = Callable[[Collection[Called]], Sequence[Fault]]


def divided(found: Sequence[Fault], checked: Sequence[Checked], port: Described, freed: Freed) -> list[Fault]:
    """The faults without layers that only together with the code after them are the benchmark's, and that code.

    ``freed`` runs the port once more, some calls passing on what they make themselves. If that heals a difference
    behind them and makes no other, the layer and the code divide the work otherwise than the benchmark does.
    """
    left = list(found)
    for calls in _groups(left, checked, port)[:_MOST_TRIES]:
        before, after = _sinks(left), _sinks(freed(calls))
        healed = before - after
        if healed and not after - before:
            left = [one for one in left if _sink(one) not in healed and (one.between or one.called not in calls)]
    return left


def _groups(found: Sequence[Fault], checked: Sequence[Checked], port: Described) -> list[set[Called]]:
    """Layers that differ before something in the code around them does; those that one line has built together."""
    order = {one.matched.called: place for place, one in enumerate(checked)}
    around = {one.matched.called: one.parent.called for one in checked if one.parent is not None}
    last: dict[Called, int] = {}
    for block, at in _sinks(found):
        last[block] = max(last.get(block, 0), order[at] if at is not None else len(order))
    lines = {one.path: one.built_at for one in port.modules}
    groups: dict[object, set[Called]] = {}
    for one in found:
        called = one.called
        if not one.between and one.exceeds_in("out") and last.get(around.get(called, called), -1) > order[called]:
            groups.setdefault(lines.get(called[0]) or called[0], set()).add(called)
    return list(groups.values())


def _sinks(found: Iterable[Fault]) -> set[Sink]:
    return {sink for one in found if (sink := _sink(one)) is not None}


def _sink(one: Fault) -> Sink | None:
    if not one.between:
        return None
    return one.called, one.at.called if one.at is not None else None
