"""Values of a call: from the lab's descriptions to torch's, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from trueline.adapters.lab import answers
from trueline.adapters.lab.call import Spec
from trueline.adapters.lab.specs import SpecReader
from trueline.adapters.torch.values import from_numpy
from trueline.kernel.array import Array

answering = answers.answering()


class Values(SpecReader):
    """The tensors of one call, made once each."""

    def __init__(self, arrays: Sequence[Array], *, gradient: bool = False, double: bool = False) -> None:
        super().__init__(arrays, double=double)
        self._gradient = gradient
        self.tensors: dict[int, torch.Tensor] = {}

    def dtype(self, name: str) -> Any:
        """A type of torch's."""
        return getattr(torch, name)

    def tensor(self, spec: Mapping[str, Any]) -> torch.Tensor:
        """The tensor of an array."""
        index = spec["array"]
        if index not in self.tensors:
            tensor: torch.Tensor = from_numpy(self.arrays[index])
            if spec.get("strided"):
                tensor = _strided(tensor)
            if "dtype" in spec:
                tensor = tensor.to(getattr(torch, spec["dtype"]))
            if self.double and tensor.is_floating_point():
                tensor = tensor.double()
            if self._gradient and (tensor.is_floating_point() or tensor.is_complex()):
                tensor.requires_grad_()
            self.tensors[index] = tensor
        return self.tensors[index]


def to_framework(spec: Spec, arrays: Sequence[Array], double: bool = False) -> Any:
    """The value of one description."""
    return Values(arrays, double=double).value(spec)


def construct(thing: Any, build: Mapping[str, Spec], arrays: Sequence[Array], double: bool = False) -> Any:
    """A class constructed with described arguments."""
    return Values(arrays, double=double).construct(thing, build)


def _strided(tensor: torch.Tensor) -> torch.Tensor:
    """The same values, not contiguous."""
    if tensor.dim() > 1:
        return tensor.transpose(-1, -2).contiguous().transpose(-1, -2)
    if tensor.dim() == 1:
        return tensor.repeat_interleave(2)[::2]
    return tensor


def to_array(value: Any) -> Array:
    """An array of its own with the content of a tensor or a number; text has none."""
    if isinstance(value, torch.Tensor):
        found = value.detach().cpu()
        if found.dtype == torch.bfloat16:
            found = found.float()
        return np.array(found.to_dense().resolve_conj().resolve_neg().numpy())
    return np.zeros(0, np.float32) if value is None or isinstance(value, str) else np.asarray(value)


def form_of(value: Any) -> str:
    """What an output is."""
    return next(form for form, _ in answers.outputs_of(value, torch.Tensor))
