"""What is asked of both frameworks beside single calls: each probe by its name, and the arrays it takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from trueline.adapters.lab.call import Call
from trueline.kernel.array import Array

KIND: Final = "convention"

_VALUES: Final = np.array([1.0, -2.0, 3.0], np.float32)
_ROWS: Final = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(4, 3)
# About as large as Adam's eps, where it matters what eps is added to.
_TINY: Final = np.array([1e-8, 1e-6, 1.0], np.float32)
_IMAGE: Final = (np.arange(2 * 3 * 3) * 14).reshape(2, 3, 3).astype(np.uint8)

_CHANNELS_FIRST: Final = (np.arange(3 * 2 * 3) / 18).reshape(3, 2, 3).astype(np.float32)

PROBES: Final[Mapping[str, tuple[Array, ...]]] = {
    "gradient_accumulation": (_VALUES,),  # the gradient after two backward passes
    "gradient_of_many": (_VALUES,),  # the gradient of an output that is no scalar
    "gradient_after_another_size": (_ROWS,),  # whether a batch of another size, such as the last, has its own gradient
    "training_mode": (),  # the mode of a layer that was just built
    "schedule_units": (),  # what advances a schedule
    "adam_epsilon": (_TINY,),  # what Adam adds eps to
    "norm_weight_decay": (),  # which parameters decay
    "epoch_order": (),  # whether data is shuffled anew in each epoch
    "shuffled_by_default": (),
    "last_batch": (),  # whether the smaller last batch is there
    "image_to_tensor": (_IMAGE,),  # layout and scale
    "normalized_channels_first": (_CHANNELS_FIRST,),  # along which axis channels are looked for
    "normalized_image": (_IMAGE,),  # whether bytes are scaled before they are normalised
    "initial_linear_weight": (),  # spread and largest of fresh weights
    "initial_linear_bias": (),
    "initial_convolution_weight": (),
    "initial_embedding_weight": (),
    "initial_lstm_weight": (),
}


def probe_call(name: str) -> tuple[Call, list[Array]]:
    """The call of a probe, the same for both frameworks, and its arrays."""
    return Call(KIND, name), list(PROBES[name])
