"""Initialisers of torch: what the numbers of a large tensor look like.

``more`` of a call: ``shape``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import torch

from trueline.adapters.lab.call import Answer, Call
from trueline.adapters.lab.names import resolve
from trueline.adapters.lab.statistics import distributed
from trueline.adapters.torch.lab.values import answering, to_array, to_framework
from trueline.kernel.array import Array

_SEED: Final = 11


@answering
def run(call: Call, arrays: Sequence[Array]) -> Answer:
    """How the numbers of a tensor that was initialised are distributed."""
    torch.manual_seed(_SEED)
    tensor = torch.empty(*call.more["shape"])
    build = {name: to_framework(spec, arrays) for name, spec in call.build.items()}
    return distributed(to_array(resolve(call.name)(tensor, **build)))
