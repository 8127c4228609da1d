"""From an entry point to a pipeline and what its framework knows of pipelines."""

from __future__ import annotations

import builtins
import importlib
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, cast

import numpy as np

from trueline.adapters import FRAMEWORKS, adapters_present
from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.importing import Asked, found_in, imported, required, type_name
from trueline.adapters.guest.trouble import SideTrouble
from trueline.adapters.nouns import Loader
from trueline.adapters.protocol import Adapter, Pipelines
from trueline.data.pipeline.child.births import Births
from trueline.data.pipeline.journal import Journal


class NotBuilt(Exception):  # noqa: N818
    """The user's code raised before there was a pipeline: ``error`` is what."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


def pipelines_of(framework: str) -> Pipelines:
    """What a framework's folder knows of pipelines; imported only where it is needed."""
    return cast(Pipelines, importlib.import_module(f"trueline.adapters.{framework}.pipelines"))


def build(asked: Asked, journal: Journal, births: Births) -> tuple[Loader, Adapter]:
    """Import, find, and call where it is no pipeline already; what a factory draws comes from a fixed seed."""
    journal.doing("importing")
    with _frameworks_aside(journal):
        module = imported(asked)
    found = found_in(asked.side, module, asked.module, asked.name)
    with said_for(asked.side, "importing"), journal.aside():
        adapters = adapters_present()
    journal.doing("building")
    if _framework(found, adapters, journal) is None:
        with _frameworks_aside(journal):
            found = _called(asked, found, births)
    with said_for(asked.side, "importing"):
        with journal.aside():
            adapters = adapters_present()
        adapter = _framework(found, adapters, journal)
    several = isinstance(found, list | tuple) and len(found) > 1
    if several and all(
        any(pipelines_of(adapter.name).is_own(part) for adapter in adapters_present()) for part in found
    ):
        raise SideTrouble("data_debug.several", side=asked.side, count=len(found))
    if adapter is None:
        raise SideTrouble("data_debug.no_pipeline", side=asked.side, type=type_name(found))
    return found, adapter


def _framework(value: object, adapters: list[Adapter], journal: Journal) -> Adapter | None:
    """MindSpore's datasets are iterable too, so it is asked first."""
    for adapter in sorted(adapters, key=lambda present: present.name):
        with journal.aside():
            pipelines = pipelines_of(adapter.name)
        if pipelines.is_pipeline(value):
            return adapter
    return None


@contextmanager
def _frameworks_aside(journal: Journal) -> Iterator[None]:
    """Around the user's imports: that of a framework does not use up the time that these have."""
    original = builtins.__import__

    def importing(name: str, *args: Any, **kwargs: Any) -> ModuleType:
        package = name.partition(".")[0]
        if package not in FRAMEWORKS or package in sys.modules:
            return original(name, *args, **kwargs)
        with journal.aside():
            return original(name, *args, **kwargs)

    builtins.__import__ = importing
    try:
        yield
    finally:
        if builtins.__import__ is importing:
            builtins.__import__ = original


def _called(asked: Asked, factory: object, births: Births) -> Loader:
    if not callable(factory):
        raise SideTrouble("data_debug.no_pipeline", side=asked.side, type=type_name(factory))
    if needed := required(factory):
        raise SideTrouble("side.needs_arguments", side=asked.side, names=", ".join(needed))
    random.seed(0)
    np.random.seed(0)
    # MindSpore's datasets would draw the same order again and again once they are given a seed.
    for adapter in adapters_present():
        if adapter.name != "mindspore":
            adapter.state.seed(0, deterministic=False)
    with births.watched(), not_built():
        return factory()


@contextmanager
def not_built() -> Iterator[None]:
    """Around the user's code without which there is no pipeline: whatever it raises is a NotBuilt."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise NotBuilt(error) from error
