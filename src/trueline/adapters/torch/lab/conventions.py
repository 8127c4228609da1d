"""What torch does where no single call says it: the probes of ``migrate/lab/convention_probes.py``, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
import torch
from torch.utils.data import DataLoader

from trueline.adapters.lab.call import Answer, Call
from trueline.adapters.torch.lab.transforms import library
from trueline.adapters.torch.lab.values import answering, to_array
from trueline.kernel.array import Array

_ITEMS: Final = 12
_SEED: Final = 11


@answering
def run(call: Call, arrays: Sequence[Array]) -> Answer:
    """What one probe gives."""
    torch.manual_seed(_SEED)
    found = _PROBES[call.name](*(np.array(array) for array in arrays))
    return Answer([np.asarray(one) for one in found], [call.name] * len(found))


def _gradient_accumulation(values: Array) -> list[Array]:
    parameter = torch.nn.Parameter(torch.from_numpy(values))
    for _ in range(2):
        (parameter * parameter).sum().backward()
    return [to_array(parameter.grad)]


def _gradient_of_many(values: Array) -> list[Array]:
    parameter = torch.nn.Parameter(torch.from_numpy(values))
    (parameter * parameter).backward()
    return [to_array(parameter.grad)]


def _gradient_after_another_size(values: Array) -> list[Array]:
    """The gradient of a mean loss for the whole batch, after one for its first rows."""
    loss = torch.nn.BCEWithLogitsLoss()
    for rows in (values[:2], values):
        logits = torch.from_numpy(rows).clone().requires_grad_()
        loss(logits, torch.ones_like(logits)).backward()
    return [to_array(logits.grad)]


def _training_mode() -> list[Array]:
    return [np.asarray(torch.nn.Linear(1, 1).training)]


def _schedule_units() -> list[Array]:
    """The rates of four optimizer steps, with a schedule that nobody advances."""
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([parameter], lr=0.1)
    torch.optim.lr_scheduler.MultiStepLR(optimizer, [2], 0.1)
    changes = []
    for _ in range(4):
        before = float(parameter.detach())
        parameter.grad = torch.ones(1)
        optimizer.step()
        changes.append(before - float(parameter.detach()))
    return [np.asarray(changes)]


def _adam_epsilon(values: Array) -> list[Array]:
    """The first step of Adam for a gradient as small as eps."""
    parameter = torch.nn.Parameter(torch.zeros(len(values)))
    optimizer = torch.optim.Adam([parameter], lr=1.0)
    parameter.grad = torch.from_numpy(values)
    optimizer.step()
    return [to_array(parameter)]


def _norm_weight_decay() -> list[Array]:
    """What weight decay alone does to the weight of a layer, and to those of a norm."""
    named = [torch.nn.Parameter(torch.ones(1)) for _ in range(3)]
    optimizer = torch.optim.SGD(named, lr=1.0, weight_decay=0.1)
    for parameter in named:
        parameter.grad = torch.zeros(1)
    optimizer.step()
    return [to_array(parameter) for parameter in named]


def _epoch_order() -> list[Array]:
    """Whether a second pass over shuffled data has the order of the first."""
    loader = DataLoader(range(_ITEMS), shuffle=True)
    first, second = ([int(item) for item in loader] for _ in range(2))
    return [np.asarray(first == second)]


def _shuffled_by_default() -> list[Array]:
    found = [int(item) for item in DataLoader(range(_ITEMS))]
    return [np.asarray(found != sorted(found))]


def _last_batch() -> list[Array]:
    return [np.asarray([len(batch) for batch in DataLoader(range(5), batch_size=2)])]


def _image_to_tensor(image: Array) -> list[Array]:
    return [to_array(library().transforms.ToTensor()(image))]


def _normalized_channels_first(image: Array) -> list[Array]:
    normalize = library().transforms.Normalize([0.1, 0.5, 0.9], [0.2, 0.3, 0.4])
    return [to_array(normalize(torch.from_numpy(image)))]


def _normalized_image(image: Array) -> list[Array]:
    """An image of bytes, normalised by a mean and a spread of values between 0 and 1; channel last."""
    transforms = library().transforms
    found = transforms.Normalize([0.5] * 3, [0.2] * 3)(transforms.ToTensor()(image))
    return [to_array(found.movedim(0, -1))]


def _spread(layer: torch.nn.Module, leaf: str) -> list[Array]:
    found = to_array(layer.get_parameter(leaf)).astype(np.float64)
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
    "initial_linear_weight": lambda: _spread(torch.nn.Linear(200, 300), "weight"),
    "initial_linear_bias": lambda: _spread(torch.nn.Linear(20, 3000), "bias"),
    "initial_convolution_weight": lambda: _spread(torch.nn.Conv2d(60, 60, 3), "weight"),
    "initial_embedding_weight": lambda: _spread(torch.nn.Embedding(300, 100), "weight"),
    "initial_lstm_weight": lambda: _spread(torch.nn.LSTM(50, 100), "weight_ih_l0"),
}
