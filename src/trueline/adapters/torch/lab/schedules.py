"""Learning rate schedules of torch: the rate of each of some steps.

``more`` of a call: ``rate`` (the optimizer's own), ``steps``, ``metrics`` (what a plateau is looked for in). A schedule
that takes a function is given one of ``FACTORS`` by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import torch

from trueline.adapters.lab.call import Answer, Call
from trueline.adapters.lab.names import resolve
from trueline.adapters.torch.lab.values import answering, to_framework
from trueline.kernel.array import Array

# Functions that a schedule takes as an argument, by name.
FACTORS: Final = {
    "halving": lambda step: 0.5**step,
    "inverse": lambda step: 1.0 / (step + 1),
    "constant": lambda step: 0.9,  # noqa: ARG005 - a schedule passes the step
}


@answering
def run(call: Call, arrays: Sequence[Array]) -> Answer:
    """The rates of all steps, as one output."""
    parameter = torch.nn.Parameter(torch.zeros(1))
    parameter.grad = torch.zeros(1)
    optimizer = torch.optim.SGD([parameter], lr=call.more["rate"])
    schedule = _built(call.name, call.build, optimizer, arrays)
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


def _built(name: str, build: Any, optimizer: Any, arrays: Sequence[Array]) -> Any:
    arguments = dict(build)
    inner = arguments.pop("schedulers", None)
    named = {word: to_framework(spec, arrays) for word, spec in arguments.items()}
    if "lr_lambda" in named:
        named["lr_lambda"] = FACTORS[named["lr_lambda"]]
    if inner is not None:
        named["schedulers"] = [
            _built(one["module"]["name"], one["module"]["build"], optimizer, arrays) for one in inner
        ]
    return resolve(name)(optimizer, **named)
