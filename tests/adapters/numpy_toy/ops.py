"""Op level with source lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from adapters.numpy_toy import framework
from adapters.numpy_toy.build import PACKAGE

from trueline.adapters.lines import user_line
from trueline.adapters.nouns import Alter, OpCall
from trueline.adapters.patching import Patches
from trueline.model.location import Location


def begin(callback: Callable[[OpCall], None]) -> Callable[[], bool] | None:
    """Tell every op of forward passes from now on."""
    looking = watch(lambda call: None if call.backward else callback(call))
    looking.__enter__()

    def end() -> bool:
        looking.__exit__(None, None, None)
        return True

    return end


@contextmanager
def watch(callback: Callable[[OpCall], None], alter: Alter | None = None) -> Iterator[None]:
    """Tell every op inside the block, in order, after it ran."""

    def make_forward(original: Callable[..., Any]) -> Callable[..., Any]:
        def forward(name: str, inputs: Any, *rest: Any) -> Any:
            result = original(name, inputs, *rest)
            callback(OpCall(name, inputs, (result,), user_line(PACKAGE)))
            return result

        return forward

    def make_backward(original: Callable[..., Any]) -> Callable[..., Any]:
        def backward(tensor: Any, gradient: Any) -> Any:
            parts = original(tensor, gradient)
            outputs = [framework.Tensor(one) for one in parts if one is not None]
            name = f"{tensor.origin[0]}_backward"
            callback(OpCall(name, (framework.Tensor(gradient),), outputs, user_line(PACKAGE), backward=True))
            return parts

        return backward

    patches = Patches()
    patches.wrap(framework, "op", make_forward)
    patches.wrap(framework, "pull_back", make_backward)
    try:
        yield
    finally:
        patches.remove()


@contextmanager
def making(callback: Callable[[Any, Location | None], None]) -> Iterator[None]:
    """Tell every tensor that is made of data inside the block."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def init(tensor: Any, *args: Any, **kwargs: Any) -> None:
            original(tensor, *args, **kwargs)
            callback(tensor, user_line(PACKAGE))

        return init

    patches = Patches()
    patches.wrap(framework.Tensor, "__init__", make)
    try:
        yield
    finally:
        patches.remove()
