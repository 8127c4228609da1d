"""Learning rate schedules of MindSpore: the rate of each of some steps.

``more`` of a call: ``rate`` (the optimizer's own), ``steps``, ``metrics`` (what a plateau is looked for in). A schedule
that takes a function is given one of ``FACTORS`` by name. A function that gives all rates at once, and a schedule that
is a cell, are called without an optimizer.
"""

from __future__ import annotations

from collections.abc import Sequence

import mindspore as ms
import numpy as np
from mindspore.experimental.optim import SGD

from trueline.adapters.lab.call import Answer, Call
from trueline.adapters.lab.names import resolve
from trueline.adapters.lab.schedules import built_schedule
from trueline.adapters.mindspore.lab.values import answering, to_array, to_framework
from trueline.kernel.array import Array


@answering
def run(call: Call, arrays: Sequence[Array]) -> Answer:
    """The rates of all steps, as one output."""
    thing = resolve(call.name)
    steps = call.more["steps"]
    if not isinstance(thing, type):
        build = {name: to_framework(spec, arrays) for name, spec in call.build.items()}
        # Beyond its end a list of rates stays at its last.
        rates = list(thing(**build))
        return _rates([*rates, *[rates[-1]] * steps][:steps])
    if issubclass(thing, ms.nn.Cell):
        cell = thing(**{name: to_framework(spec, arrays) for name, spec in call.build.items()})
        return _rates([float(to_array(cell(ms.Tensor(step, ms.int32)))) for step in range(steps)])
    return _rates(_stepped(call, arrays))


def _stepped(call: Call, arrays: Sequence[Array]) -> list[float]:
    parameter = ms.Parameter(ms.Tensor(np.zeros(1, np.float32)), name="weight")
    optimizer = SGD([parameter], lr=call.more["rate"])
    schedule = built_schedule(call.name, call.build, optimizer, lambda spec: to_framework(spec, arrays))
    gradient = ms.Tensor(np.zeros(1, np.float32))
    metrics = call.more.get("metrics")
    rates = []
    for step in range(call.more["steps"]):
        rates.append(float(to_array(optimizer.param_groups[0]["lr"])))
        optimizer((gradient,))
        if metrics is None:
            schedule.step()
        else:
            schedule.step(metrics[step])
    return rates


def _rates(rates: Sequence[float]) -> Answer:
    return Answer([np.asarray(rates, np.float64)], ["rates"])
