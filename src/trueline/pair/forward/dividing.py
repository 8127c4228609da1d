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


def divided(faults: Sequence[Fault], checked: Sequence[Checked], port: Described, freed: Freed) -> list[Fault]:
    """The faults without layers that only together with the code after them are the benchmark's, and that code.

    ``freed`` runs the port once more, some calls passing on what they make themselves. If that heals a difference
    behind them and makes no other, the layer and the code divide the work otherwise than the benchmark does.
    """
    left = list(faults)
    for calls in _groups(left, checked, port)[:_MOST_TRIES]:
        before, after = _sinks(left), _sinks(freed(calls))
        healed = before - after
        if healed and not after - before:
            left = [
                fault for fault in left if _sink(fault) not in healed and (fault.between or fault.called not in calls)
            ]
    return left


def _groups(faults: Sequence[Fault], checked: Sequence[Checked], port: Described) -> list[set[Called]]:
    """Layers that differ before something in the code around them does; those that one line has built together."""
    order = {call.matched.called: place for place, call in enumerate(checked)}
    around = {call.matched.called: call.parent.called for call in checked if call.parent is not None}
    last: dict[Called, int] = {}
    for block, at in _sinks(faults):
        last[block] = max(last.get(block, 0), order[at] if at is not None else len(order))
    lines = {module.path: module.built_at for module in port.modules}
    groups: dict[object, set[Called]] = {}
    for fault in faults:
        called = fault.called
        if not fault.between and fault.exceeds_in("out") and last.get(around.get(called, called), -1) > order[called]:
            groups.setdefault(lines.get(called[0]) or called[0], set()).add(called)
    return list(groups.values())


def _sinks(faults: Iterable[Fault]) -> set[Sink]:
    return {sink for fault in faults if (sink := _sink(fault)) is not None}


def _sink(fault: Fault) -> Sink | None:
    if not fault.between:
        return None
    return fault.called, fault.at.called if fault.at is not None else None
