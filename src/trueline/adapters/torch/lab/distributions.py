"""Probability distributions of torch.

``more`` of a call: ``part``, what is asked of the distribution: "log_prob", "cdf", "mean", "stddev", "entropy", or
"sample" for the statistics of many samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import torch

from trueline.adapters.lab.call import Answer, Call
from trueline.adapters.lab.names import resolve
from trueline.adapters.lab.statistics import distributed
from trueline.adapters.torch.lab.values import answering, construct, form_of, to_array, to_framework
from trueline.kernel.array import Array

_SEED: Final = 11
_SAMPLES: Final = 20_000


@answering
def run(call: Call, arrays: Sequence[Array]) -> Answer:
    """One property of a distribution."""
    torch.manual_seed(_SEED)
    distribution = construct(resolve(call.name), call.build, arrays, call.double)
    part = call.more["part"]
    if part == "sample":
        return distributed(to_array(distribution.sample((_SAMPLES,))))
    if part in ("log_prob", "cdf"):
        found = getattr(distribution, part)(to_framework(call.args[0], arrays, call.double))
    else:
        found = getattr(distribution, part)
        found = found() if callable(found) else found
    return Answer([to_array(found)], [form_of(found)])
