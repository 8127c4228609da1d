"""Optimizers of MindSpore: how far a few parameters are moved by some steps with given gradients.

``more`` of a call: ``parameters`` (name of a parameter: index of its array), ``gradients`` (for each step the index of
each parameter's gradient), ``renamed`` (torch's name of a parameter: MindSpore's).
"""

from __future__ import annotations

from collections.abc import Sequence

import mindspore as ms
import numpy as np

from trueline.adapters.lab.call import Answer, Call
from trueline.adapters.lab.names import resolve
from trueline.adapters.mindspore.lab.values import answering, to_array, to_framework
from trueline.kernel.array import Array


@answering
def run(call: Call, arrays: Sequence[Array]) -> Answer:
    """What each parameter has changed by after each step: small beside its value, and what an optimizer computes."""
    renamed = call.more.get("renamed", {})
    named = {
        name: ms.Parameter(to_framework({"array": index}, arrays, call.double), name=renamed.get(name, name))
        for name, index in call.more["parameters"].items()
    }
    build = {name: to_framework(spec, arrays, call.double) for name, spec in call.build.items()}
    optimizer = resolve(call.name)(list(named.values()), **build)
    start = {name: to_array(parameter).astype(np.float64) for name, parameter in named.items()}
    outputs, forms = [], []
    for step, gradients in enumerate(call.more["gradients"], 1):
        optimizer(tuple(to_framework({"array": index}, arrays, call.double) for index in gradients))
        for name, parameter in named.items():
            outputs.append(to_array(parameter).astype(np.float64) - start[name])
            forms.append(f"change of {name} after step {step}")
    return Answer(outputs, forms)
