"""Transforms of torchvision: what becomes of one image.

The image comes as height, width, channel. ``more`` of a call: ``form`` ("pil", or "array" for a tensor). torchvision's
compiled operators are declared where they are not there: transforms do without them.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import torch

from trueline.adapters.lab.answers import leaves_of
from trueline.adapters.lab.call import Answer, Call
from trueline.adapters.lab.names import MissingError, resolve
from trueline.adapters.torch.lab.values import answering, construct, to_array
from trueline.kernel.array import Array

_SCHEMAS: Final = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)
# Those that take an array with the channel last, as an image file has it.
_FROM_IMAGES: Final = ("ToTensor", "ToPILImage")
_kept: list[torch.library.Library] = []


@answering
def run(call: Call, arrays: Sequence[Array]) -> Answer:
    """The image, or images, that a transform makes; channel last."""
    package = library()
    build = dict(call.build)
    mode = build.pop("interpolation", None)
    transform: Any = resolve(call.name)
    if mode is not None:
        transform = _with_mode(transform, package.transforms.InterpolationMode(mode))
    image = arrays[call.args[0]["array"]]
    made = construct(transform, build, arrays)
    if call.more["form"] == "pil":
        found = list(leaves_of(made(_pil(image))))
    elif call.name.endswith(_FROM_IMAGES):
        found = list(leaves_of(made(np.array(image))))
    else:
        found = list(leaves_of(made(torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1))))))
        found = [one.movedim(-3, -1) if one.ndim >= 3 else one for one in found]
    return Answer([_array(one) for one in found], ["image"] * len(found))


def library() -> Any:
    """torchvision, with its operators declared where its build for this torch is not there."""
    try:
        return importlib.import_module("torchvision")
    except ModuleNotFoundError:
        raise MissingError("torchvision") from None
    except RuntimeError:
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
    declared = torch.library.Library("torchvision", "DEF")
    for schema in _SCHEMAS:
        declared.define(schema)
    # A library that is collected takes its operators along.
    _kept.append(declared)
    return importlib.import_module("torchvision")


def _with_mode(transform: Any, mode: Any) -> Any:
    return lambda *args, **kwargs: transform(*args, interpolation=mode, **kwargs)


def _pil(image: Array) -> Any:
    return importlib.import_module("PIL.Image").fromarray(image)


def _array(value: Any) -> Array:
    return to_array(value) if isinstance(value, torch.Tensor) else np.array(value)
