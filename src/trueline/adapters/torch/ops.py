"""Op level: every operator that runs, forward and backward, with the user's line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from trueline.adapters.lines import user_line
from trueline.adapters.nouns import OpCall
from trueline.adapters.settings import plain_settings
from trueline.adapters.torch.build import PACKAGE
from trueline.adapters.tree import leaves


class _Watching(TorchDispatchMode):  # type: ignore[misc]
    def __init__(self, callback: Callable[[OpCall], None]) -> None:
        super().__init__()
        self._callback = callback
        self._newest = torch.autograd._get_sequence_nr() - 1

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Else torch keeps its compiler away, and loads it for that: a second, where nothing is compiled."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        output = func(*args, **(kwargs or {}))
        made_by = torch._C._current_autograd_node()
        # A node is made, and numbered, before its operator comes by here.
        newest = torch.autograd._get_sequence_nr() - 1
        node = newest if made_by is None else made_by._sequence_nr()
        recorded, self._newest = made_by is None and newest > self._newest, newest
        self._callback(
            OpCall(
                func.overloadpacket._qualified_op_name.split("::")[-1],
                [one for _, one in leaves((args, kwargs), torch.is_tensor)],
                [one for _, one in leaves(output, torch.is_tensor)],
                user_line(PACKAGE),
                backward=made_by is not None,
                settings=_settings(func, args, kwargs or {}),
                node=node,
                recorded=recorded,
            )
        )
        return output


class _BesideCompiled(_Watching):
    """The same where torch's compiler is loaded already: it leaves this code alone."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return super().__torch_dispatch__(func, types, args, kwargs)


@cache
def _parameters(func: Any) -> list[tuple[str, Any]]:
    """The names of an operator's parameters with their defaults, which are None where there are none."""
    return [(one.name, one.default_value) for one in func._schema.arguments]


def _settings(func: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    parameters = _parameters(func)
    given = {name: value for (name, _), value in zip(parameters, args, strict=False)}
    return plain_settings({**dict(parameters), **given, **kwargs})


@contextmanager
def watch(callback: Callable[[OpCall], None]) -> Iterator[None]:
    """Tell every operator call in this block."""
    kind = _BesideCompiled if "torch._dynamo" in sys.modules else _Watching
    with kind(callback):
        yield
