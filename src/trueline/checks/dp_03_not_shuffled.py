"""Training data is not shuffled.

What it looks at
----------------
The loader that a training loop goes through: its `shuffle` and its sampler, and for MindSpore whether the pipeline
shuffles anywhere before it batches. In a recorded run: whether two epochs had their samples in the same order, and
whether labels come in long runs.

Why it hurts
------------
Batches that always hold the same samples, or samples of one class only, give gradients that point the same way again
and again. The loss goes down and up with the order of the data, and what is learnt last is what is remembered.

What to do
----------
Pass `shuffle=True` to the loader of the training set, or a sampler that shuffles. In MindSpore pass `shuffle=True` to
the dataset or call `.shuffle(n)` before `.batch(…)`; a generator without `__getitem__` cannot be shuffled by a sampler.

When it is wrong
----------------
Where the order carries meaning, as in one long series that is read on from batch to batch, or in a curriculum. A
dataset that shuffles by itself is not always recognised.
"""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.check import check, found, na, none, suspect
from trueline.checks.of_script.loaders import Order, order_of
from trueline.model.finding import Finding
from trueline.script.loops import training_loops
from trueline.script.script import Script


@check("dp.03", "training data is not shuffled")
def from_script(script: Script) -> Iterator[Finding]:
    """The loaders of training loops, and whether they shuffle."""
    loops = training_loops(script.trace)
    if not loops:
        yield na("dp_03.no_training_loop")
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
            yield found("dp_03.not_shuffled", place.where(), loader=order.name)
        elif order.kind is Order.SHUFFLED:
            shuffled.append(str(place))
        elif order.kind is Order.UNSHUFFLABLE:
            yield suspect("dp_03.cannot_be_shuffled", place.where(), loader=order.name)
        else:
            yield na("dp_03.order_unknown", where=place.where())
    if shuffled:
        yield none("dp_03.shuffled", evidence=shuffled)
