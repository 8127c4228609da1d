"""Processes that a script starts through multiprocessing, or forks: their steps are not recorded; a notice says so."""

from __future__ import annotations

import multiprocessing
import multiprocessing.process
import os
from collections.abc import Callable
from typing import Final

from trueline.adapters.nouns import Foreign, Function, Value
from trueline.adapters.observer import Observer
from trueline.adapters.patching import Patches, child_has_trained
from trueline.model.processes import loads_data, works_for

NOTICE: Final = "record.spawned"
# Workers of pools and managers: what they are given comes later, and is seldom a training.
_SERVING: Final = ("multiprocessing.", "concurrent.futures.", "torch.multiprocessing.pool")


def watch(observer: Observer, patches: Patches, network: type) -> None:
    """Report processes that are passed a network, or that train."""
    here = os.getpid()

    def look(*_: object, **__: object) -> None:
        if os.getpid() == here and child_has_trained():
            observer.notice(NOTICE)

    def starting(process: Foreign) -> None:
        if os.getpid() != here or loads_data(process):
            return
        # Whether a forked child trains is heard from it; of one that is started anew nothing is heard.
        anew = _start_method(process) != "fork" and not works_for(process, _SERVING)
        given = (*process._args, *process._kwargs.values(), *vars(process).values())
        if anew or any(isinstance(value, network) for value in given):
            observer.notice(NOTICE)
        else:
            observer.aside("child")

    patches.wrap(multiprocessing.process.BaseProcess, "start", lambda original: _beside(original, before=starting))
    patches.wrap(multiprocessing.process.BaseProcess, "join", lambda original: _beside(original, after=look))
    observer.aside("children", trained=child_has_trained)


def _start_method(process: Foreign) -> str | None:
    method: str | None = getattr(process, "_start_method", None)
    return method or multiprocessing.get_start_method(allow_none=True)


def _nothing(*_: object, **__: object) -> None: ...


def _beside(
    original: Function, *, before: Callable[..., None] = _nothing, after: Callable[..., None] = _nothing
) -> Function:
    def call(*args: object, **kwargs: object) -> Value:
        before(*args, **kwargs)
        result = original(*args, **kwargs)
        after()
        return result

    return call
