"""Probability distributions of MindSpore.

``more`` of a call: ``part``, what is asked of the distribution: "log_prob", "cdf", "mean", "stddev", "entropy", or
"sample" for the statistics of many samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import mindspore as ms

from trueline.adapters.lab.call import Answer, Call
from trueline.adapters.lab.names import resolve
from trueline.adapters.lab.statistics import distributed
from trueline.adapters.mindspore.lab.values import answering, construct, form_of, to_array, to_framework
from trueline.kernel.array import Array

_SEED: Final = 11
_SAMPLES: Final = 20_000
_OWN_NAMES: Final = {"stddev": "sd"}


@answering
def run(call: Call, arrays: Sequence[Array]) -> Answer:
    """One property of a distribution."""
    ms.set_seed(_SEED)
    thing = resolve(call.name)
    part = call.more["part"]
    if not isinstance(thing, type):
        return distributed(to_array(thing((_SAMPLES,))))
    distribution = construct(thing, call.build, arrays, call.double)
    if part == "sample":
        return distributed(to_array(distribution.sample((_SAMPLES,))))
    method = getattr(distribution, _OWN_NAMES.get(part, part))
    found = method(to_framework(call.args[0], arrays, call.double)) if part in ("log_prob", "cdf") else method()
    return Answer([to_array(found)], [form_of(found)])
