"""Dropout disabled, so that training mode is deterministic."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from types import ModuleType

import mindspore as ms
from mindspore import ops

from trueline.adapters.dropout import Dropping, drops_by_name, nothing, user_functions
from trueline.adapters.mindspore import internals, values
from trueline.adapters.nouns import Foreign, Function, Instead, Network, Share, Value
from trueline.adapters.patching import Patches

_PRIMITIVES = ("Dropout", "Dropout2D", "Dropout3D")


def work_in_order() -> None:
    """Synchronous execution: threads that run ahead only spin when every value is read after its operator."""
    # Where AVX-512 is, convolutions else fall back to code that is a hundred times slower.
    os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")
    _let_threads_rest()
    if ms.get_context("pynative_synchronize"):
        return
    blocking = getattr(getattr(ms, "runtime", None), "launch_blocking", None)
    if blocking is not None:
        blocking()
    else:
        ms.set_context(pynative_synchronize=True)


def _let_threads_rest() -> None:
    """The runtime's threads wait for work in a loop until a graph has run, and asleep from then on."""
    if ms.get_context("device_target") == "CPU":
        with suppress(Exception):
            ms.jit(_one_more)(ms.Tensor(1.0))


def _one_more(value: Value) -> Value:
    return value + 1


@contextmanager
def without_dropout(root: Network, share: Share = nothing, instead: Instead | None = None) -> Iterator[None]:
    """In this block dropout, drop-path and the like use the probability that ``share`` gives for their own.

    With ``instead`` what it makes of a value stands for what is dropped.
    """
    patches, dropping = Patches(), Dropping(share, internals.subcells, instead)
    plain = ops.dropout
    for name in _PRIMITIVES:
        patches.wrap(getattr(ops, name), "__call__", lambda original: _primitive(original, dropping))
    for owner, name in _functions():
        patches.wrap(owner, name, dropping.function)
    for kind in {type(cell) for _, cell in values.modules(root) if drops_by_name(type(cell))}:
        patches.wrap(kind, "construct", dropping.module(plain))
    for owner, name in user_functions("mindspore"):
        patches.wrap(owner, name, dropping.function)
    try:
        yield
    finally:
        patches.remove()


_looked: set[int] = set()
_found: list[tuple[ModuleType, str]] = []


def _functions() -> list[tuple[ModuleType, str]]:
    """Where the framework's functions that drop values stand; mint has own names for them."""
    for owner in (ops, *internals.python_modules()):
        # Each module is looked through once: there are more than a thousand.
        if id(owner) not in _looked:
            _looked.add(id(owner))
            _found.extend((owner, name) for name, value in list(vars(owner).items()) if id(value) in _dropping())
    return _found


@cache
def _dropping() -> frozenset[int]:
    functions = (getattr(internals.nn_func, name, None) for name in internals.DROPOUT_FUNCTIONS)
    return frozenset(id(function) for function in functions if function is not None)


def _primitive(original: Function, dropping: Dropping) -> Function:
    """A primitive that also returns its mask, and holds its keep probability."""

    def call(primitive: Foreign, value: Value) -> Value:
        if dropping.inside:
            return original(primitive, value)
        share = 1.0 - float(getattr(primitive, "keep_prob", 1.0))
        if dropping.instead is not None and share:
            return dropping.instead(value, share), ops.ones_like(value)
        wished = dropping.wished(share)
        if not wished:
            return value, ops.ones_like(value)
        return original(primitive if wished == share else type(primitive)(1.0 - wished), value)

    return call
