"""Values of a call: from the lab's descriptions to MindSpore's, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import mindspore
import numpy as np

from trueline.adapters.lab import answers
from trueline.adapters.lab.call import Spec
from trueline.adapters.lab.specs import SpecReader
from trueline.adapters.mindspore import internals
from trueline.kernel.array import Array

_TRIES: Final = 3

mindspore.set_context(mode=mindspore.PYNATIVE_MODE)


def recover() -> None:
    """Forget a call that raised: without that, later calls raise where they have no fault."""
    for _ in range(_TRIES):
        try:
            internals.pynative.clear_res()
        except Exception:  # noqa: BLE001 - errors are asynchronous: that of the call may come again here
            continue
        return


answering = answers.answering(recover)


class Values(SpecReader):
    """The tensors of one call, made once each."""

    def __init__(self, arrays: Sequence[Array], *, double: bool = False) -> None:
        super().__init__(arrays, double=double)
        self.tensors: dict[int, mindspore.Tensor] = {}

    def dtype(self, name: str) -> Any:
        """A type of MindSpore's."""
        return mindspore.bool_ if name == "bool" else getattr(mindspore, name)

    def tensor(self, spec: Mapping[str, Any]) -> mindspore.Tensor:
        """The tensor of an array."""
        index = spec["array"]
        if index not in self.tensors:
            array = self.arrays[index]
            if self.double and (array.dtype.kind == "f" or array.dtype.name == "bfloat16"):
                array = array.astype(np.float64)
            tensor = _strided(array) if spec.get("strided") else mindspore.Tensor(np.array(array))
            if "dtype" in spec:
                tensor = tensor.astype(getattr(mindspore, spec["dtype"]))
            self.tensors[index] = tensor
        return self.tensors[index]


def to_framework(spec: Spec, arrays: Sequence[Array], double: bool = False) -> Any:
    """The value of one description."""
    return Values(arrays, double=double).value(spec)


def construct(thing: Any, build: Mapping[str, Spec], arrays: Sequence[Array], double: bool = False) -> Any:
    """A class constructed with described arguments."""
    return Values(arrays, double=double).construct(thing, build)


def _strided(array: Array) -> mindspore.Tensor:
    """The same values, not contiguous where MindSpore has views."""
    if array.ndim > 1:
        return mindspore.Tensor(np.ascontiguousarray(array.swapaxes(-1, -2))).swapaxes(-1, -2)
    if array.ndim == 1:
        return mindspore.Tensor(np.repeat(array, 2))[::2]
    return mindspore.Tensor(array)


def to_array(value: Any) -> Array:
    """An array of its own with the content of a tensor or a number; text has none."""
    if isinstance(value, mindspore.Tensor):
        if value.dtype == mindspore.bfloat16:
            value = value.astype(mindspore.float32)
        return np.array(value.asnumpy())
    return np.zeros(0, np.float32) if value is None or isinstance(value, str) else np.asarray(value)


def form_of(value: Any) -> str:
    """What an output is."""
    return next(form for form, _ in answers.outputs_of(value, mindspore.Tensor))
