"""Transforms of MindSpore's dataset package: what becomes of one image.

The image comes as height, width, channel. ``more`` of a call: ``form`` ("pil", or "array" for a NumPy array).
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import mindspore as ms
import numpy as np

from trueline.adapters.lab.answers import leaves_of
from trueline.adapters.lab.call import Answer, Call, Spec
from trueline.adapters.lab.names import resolve
from trueline.adapters.mindspore.lab.values import answering, to_array, to_framework
from trueline.kernel.array import Array


@answering
def run(call: Call, arrays: Sequence[Array]) -> Answer:
    """The image, or images, that a transform makes."""
    image = arrays[call.args[0]["array"]]
    made = _built(call.name, call.build, arrays)
    given = importlib.import_module("PIL.Image").fromarray(image) if call.more["form"] == "pil" else np.array(image)
    found = list(leaves_of(made(given)))
    return Answer([_array(one) for one in found], ["image"] * len(found))


def _built(name: str, build: Mapping[str, Spec], arrays: Sequence[Array]) -> Any:
    return resolve(name)(**{word: _value(spec, arrays) for word, spec in build.items()})


def _value(spec: Spec, arrays: Sequence[Array]) -> Any:
    """An argument of a transform; transforms take arrays and no tensors."""
    if isinstance(spec, list):
        return [_value(one, arrays) for one in spec]
    if isinstance(spec, dict):
        if "array" in spec:
            return np.array(arrays[spec["array"]])
        if "name" in spec:
            return resolve(spec["name"])
        if "module" in spec:
            return _built(spec["module"]["name"], spec["module"]["build"], arrays)
    return to_framework(spec, arrays)


def _array(value: Any) -> Array:
    return to_array(value) if isinstance(value, ms.Tensor) else np.array(value)
