"""NaN and Inf that the script itself reads from tensors with a gradient, such as a loss before it branches on it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import torch

from trueline.adapters.hidden_frames import stand_in
from trueline.adapters.nouns import Foreign, Function, Value
from trueline.adapters.observer import Observer, harmless
from trueline.adapters.patching import Patches
from trueline.adapters.torch import internals

_READING: Final = ("item", "__float__", "isnan", "isinf", "isfinite")
_ASKING: Final = ("isnan", "isinf", "isfinite")


def watch(observer: Observer, is_reporting: Callable[[], bool], patches: Patches) -> None:
    """Report each such read; tensors without a gradient are ignored."""

    def look(tensor: Value) -> None:
        # A subclass may answer whatever it likes.
        if type(tensor) is not torch.Tensor or tensor.grad_fn is None:
            return
        with harmless(observer):
            if is_reporting() and _is_bad(tensor):
                observer.read_non_finite(tensor)

    def asking(original: Function) -> Function:
        def ask(*args: object, **kwargs: object) -> Value:
            look(args[0] if args else kwargs.get("input"))
            return original(*args, **kwargs)

        return ask

    for name in _READING:
        _put(_Looking(getattr(torch.Tensor, name), look), name, patches)
    internals.load_builtins()
    for name in _ASKING:
        patches.wrap(torch, name, asking)
        patches.on_remove(internals.register_builtin(getattr(torch, name), name))
    # The compiler looks at whatever runs between two compiled parts, but not at torch's own files.
    for function in (look, _Looking.__get__, _is_bad):
        stand_in(function, internals.TENSOR_FILE)


class _Looking:
    """A tensor method that checks on attribute access, so that no frame is added to its warnings."""

    def __init__(self, original: Foreign, look: Callable[[Value], None]) -> None:
        self._original, self._look = original, look

    def __get__(self, tensor: Value, owner: type) -> Function:
        if tensor is not None:
            self._look(tensor)
        method: Function = self._original.__get__(tensor, owner)
        return method


def _put(looking: _Looking, name: str, patches: Patches) -> None:
    saved = vars(torch.Tensor).get(name)
    setattr(torch.Tensor, name, looking)

    def put_back() -> None:
        if vars(torch.Tensor).get(name) is not looking:
            return
        if saved is None:
            delattr(torch.Tensor, name)
        else:
            setattr(torch.Tensor, name, saved)

    patches.on_remove(put_back)


def _is_bad(tensor: torch.Tensor) -> bool:
    """Whether a scalar is not finite, or a tensor contains NaN; Inf may be intended there, as in a mask."""
    values = tensor.detach()
    if values.numel() == 1:
        return not math.isfinite(values.item())
    return bool(values.ne(values).any())
