"""Learning rate schedules of torch: the rate of each of some steps.

``more`` of a call: ``rate`` (the optimizer's own), ``steps``, ``metrics`` (what a plateau is looked for in). A schedule
that takes a function is given one of ``FACTORS`` by name.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from trueline.adapters.lab.call import Answer, Call
from trueline.adapters.lab.schedules import built_schedule
from trueline.adapters.torch.lab.values import answering, to_framework
from trueline.kernel.array import Array


@answering
def run(call: Call, arrays: Sequence[Array]) -> Answer:
    """The rates of all steps, as one output."""
    parameter = torch.nn.Parameter(torch.zeros(1))
    parameter.grad = torch.zeros(1)
    optimizer = torch.optim.SGD([parameter], lr=call.more["rate"])
    schedule = built_schedule(call.name, call.build, optimizer, lambda spec: to_framework(spec, arrays))
    metrics = call.more.get("metrics")
    rates = []
    for step in range(call.more["steps"]):
        rates.append(float(optimizer.param_groups[0]["lr"]))
        optimizer.step()
        if metrics is None:
            schedule.step()
        else:
            schedule.step(metrics[step])
    return Answer([np.asarray(rates)], ["rates"])
