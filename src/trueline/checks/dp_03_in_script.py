"""Training data is not shuffled: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.check import check, found, na, none
from trueline.checks.of_script.loaders import Order, order_of
from trueline.model.finding import Finding
from trueline.script.loops import training_loops
from trueline.script.script import Script


@check("dp.03")
def from_script(script: Script) -> Iterator[Finding]:
    """The loaders of training loops, and whether they shuffle."""
    loops = training_loops(script.trace)
    if not loops:
        yield na("dp_03_in_script.no_training_loop")
        return
    told: set[int] = set()
    shuffled: list[str] = []
    for loop in loops:
        order = order_of(loop.loader)
        if id(order.loader) in told:
            continue
        told.add(id(order.loader))
        place = order.place or loop.scope.place
        if order.kind is Order.SEQUENTIAL:
            yield found("dp_03_in_script.not_shuffled", place.where(), loader=order.name)
        elif order.kind is Order.SHUFFLED:
            shuffled.append(str(place))
        elif order.kind is Order.UNSHUFFLABLE:
            yield found("dp_03_in_script.cannot_be_shuffled", place.where(), loader=order.name)
        else:
            yield na("dp_03_in_script.order_unknown", where=place.where())
    if shuffled:
        yield none("dp_03_in_script.shuffled", evidence=shuffled)
