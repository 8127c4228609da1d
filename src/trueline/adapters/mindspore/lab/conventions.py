"""What MindSpore does where no single call says it: the probes of ``migrate/lab/convention_probes.py``, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import mindspore as ms
import numpy as np
from mindspore import dataset, nn
from mindspore.dataset import vision

from trueline.adapters.lab.call import Answer, Call
from trueline.adapters.mindspore.lab.values import answering, to_array
from trueline.kernel.array import Array

_ITEMS: Final = 12
_SEED: Final = 11


@answering
def run(call: Call, arrays: Sequence[Array]) -> Answer:
    """What one probe gives."""
    ms.set_seed(_SEED)
    np.random.seed(_SEED)
    found = _PROBES[call.name](*(np.array(array) for array in arrays))
    return Answer([np.asarray(one) for one in found], [call.name] * len(found))


def _squared(value: ms.Tensor) -> ms.Tensor:
    return value * value


def _gradient_accumulation(values: Array) -> list[Array]:
    parameter = ms.Parameter(ms.Tensor(values), name="weight")
    gradient = ms.value_and_grad(lambda: _squared(parameter).sum(), None, [parameter])
    gradient()
    return [to_array(gradient()[1][0])]


def _gradient_of_many(values: Array) -> list[Array]:
    return [to_array(ms.grad(_squared)(ms.Tensor(values)))]


def _gradient_after_another_size(values: Array) -> list[Array]:
    """The gradient of a mean loss for the whole batch, after one for its first rows."""
    loss = nn.BCEWithLogitsLoss()
    gradient = ms.grad(lambda logits, labels: loss(logits, labels))
    for rows in (values[:2], values):
        found = gradient(ms.Tensor(rows), ms.Tensor(np.ones_like(rows)))
    return [to_array(found)]


def _training_mode() -> list[Array]:
    return [np.asarray(nn.Dense(1, 1).training)]


def _schedule_units() -> list[Array]:
    """The rates of four optimizer steps, with a schedule that nobody advances."""
    parameter = _parameter("weight", 0.0)
    optimizer = nn.SGD([parameter], learning_rate=nn.piecewise_constant_lr([2, 8], [0.1, 0.01]))
    changes = []
    for _ in range(4):
        before = float(to_array(parameter)[0])
        optimizer((ms.Tensor(np.ones(1, np.float32)),))
        changes.append(before - float(to_array(parameter)[0]))
    return [np.asarray(changes)]


def _adam_epsilon(values: Array) -> list[Array]:
    """The first step of Adam for a gradient as small as eps."""
    parameter = ms.Parameter(ms.Tensor(np.zeros(len(values), np.float32)), name="weight")
    nn.Adam([parameter], learning_rate=1.0)((ms.Tensor(values),))
    return [to_array(parameter)]


def _norm_weight_decay() -> list[Array]:
    """What weight decay alone does to the weight of a layer, and to those of a norm."""
    named = [_parameter(name, 1.0) for name in ("dense.weight", "norm.gamma", "norm.beta")]
    nn.SGD(named, learning_rate=1.0, weight_decay=0.1)(tuple(ms.Tensor(np.zeros(1, np.float32)) for _ in named))
    return [to_array(parameter) for parameter in named]


def _parameter(name: str, value: float) -> ms.Parameter:
    return ms.Parameter(ms.Tensor(np.full(1, value, np.float32)), name=name)


def _items(shuffle: bool | None) -> Any:
    return dataset.NumpySlicesDataset(np.arange(_ITEMS), shuffle=shuffle)


def _epoch_order() -> list[Array]:
    """Whether a second pass over shuffled data has the order of the first."""
    data = _items(True)
    first, second = ([int(to_array(item[0])) for item in data] for _ in range(2))
    return [np.asarray(first == second)]


def _shuffled_by_default() -> list[Array]:
    found = [int(to_array(item[0])) for item in _items(None)]
    return [np.asarray(found != sorted(found))]


def _last_batch() -> list[Array]:
    data = dataset.NumpySlicesDataset(np.arange(5), shuffle=False).batch(2)
    return [np.asarray([len(to_array(batch[0])) for batch in data])]


def _image_to_tensor(image: Array) -> list[Array]:
    return [np.array(vision.ToTensor()(image))]


def _normalized_channels_first(image: Array) -> list[Array]:
    return [np.array(vision.Normalize([0.1, 0.5, 0.9], [0.2, 0.3, 0.4])(image))]


def _normalized_image(image: Array) -> list[Array]:
    """An image of bytes, normalised by a mean and a spread of values between 0 and 1; channel last."""
    return [np.array(vision.Normalize([0.5] * 3, [0.2] * 3)(image))]


def _spread(layer: nn.Cell, leaf: str) -> list[Array]:
    parameter = dict(layer.parameters_and_names())[leaf]
    parameter.init_data()
    found = to_array(parameter).astype(np.float64)
    return [np.asarray([found.std(), np.abs(found).max()])]


_PROBES: Final[Mapping[str, Callable[..., list[Array]]]] = {
    "gradient_accumulation": _gradient_accumulation,
    "gradient_of_many": _gradient_of_many,
    "gradient_after_another_size": _gradient_after_another_size,
    "training_mode": _training_mode,
    "schedule_units": _schedule_units,
    "adam_epsilon": _adam_epsilon,
    "norm_weight_decay": _norm_weight_decay,
    "epoch_order": _epoch_order,
    "shuffled_by_default": _shuffled_by_default,
    "last_batch": _last_batch,
    "image_to_tensor": _image_to_tensor,
    "normalized_channels_first": _normalized_channels_first,
    "normalized_image": _normalized_image,
    "initial_linear_weight": lambda: _spread(nn.Dense(200, 300), "weight"),
    "initial_linear_bias": lambda: _spread(nn.Dense(20, 3000), "bias"),
    "initial_convolution_weight": lambda: _spread(nn.Conv2d(60, 60, 3), "weight"),
    "initial_embedding_weight": lambda: _spread(nn.Embedding(300, 100), "embedding_table"),
    "initial_lstm_weight": lambda: _spread(nn.LSTM(50, 100), "weight_ih_l0"),
}
