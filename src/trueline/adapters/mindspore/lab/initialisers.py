"""Initialisers of MindSpore: what the numbers of a large tensor look like.

``more`` of a call: ``shape``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import mindspore as ms
import numpy as np
from mindspore.common.initializer import initializer

from trueline.adapters.lab.call import Answer, Call
from trueline.adapters.lab.names import resolve
from trueline.adapters.lab.statistics import distributed
from trueline.adapters.mindspore.lab.values import answering, to_array, to_framework
from trueline.kernel.array import Array

_SEED: Final = 11


@answering
def run(call: Call, arrays: Sequence[Array]) -> Answer:
    """How the numbers of a tensor that was initialised are distributed."""
    ms.set_seed(_SEED)
    np.random.seed(_SEED)
    shape = tuple(call.more["shape"])
    build = {name: to_framework(spec, arrays) for name, spec in call.build.items()}
    thing = resolve(call.name)
    if isinstance(thing, type):
        return distributed(to_array(initializer(thing(**build), shape, ms.float32).init_data()))
    return distributed(to_array(thing(shape, **build)))
