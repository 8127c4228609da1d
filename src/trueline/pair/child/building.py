"""From an entry point to a model and the adapter of its framework."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from trueline.adapters import adapters_present
from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.importing import Asked, found_in, imported, required, type_name
from trueline.adapters.guest.trouble import SideTrouble
from trueline.adapters.nouns import Network
from trueline.adapters.protocol import Adapter
from trueline.adapters.registry import FRAMEWORKS, adapter_of
from trueline.record.arrival import on_import


@dataclass(frozen=True, slots=True)
class Made:
    """A model, the adapter of its framework, and whether a factory has made it, which could make another."""

    model: Network
    adapter: Adapter
    by_factory: bool


def build(asked: Asked, *, seed: int | None = 0) -> Made:
    """Import, find, and call where it is not a model already; what a factory draws comes from the seed."""
    # The module, the factory or what they import may be the first to import the framework.
    stop_waiting = on_import(FRAMEWORKS, lambda framework: adapter_of(framework).build.capture_built())
    try:
        module = imported(asked, work=False)
        found = found_in(asked.side, module, asked.module, asked.name)
        with said_for(asked.side, "importing"):
            present = adapters_present()
        by_factory = not any(adapter.values.is_module(found) for adapter in present)
        if by_factory:
            found = _called(asked, found, seed)
    finally:
        stop_waiting()
    with said_for(asked.side, "building"):
        for adapter in adapters_present():
            if adapter.values.is_module(found):
                return Made(found, adapter, by_factory)
    raise SideTrouble("side.no_model", side=asked.side, type=type_name(found))


def _called(asked: Asked, factory: object, seed: int | None) -> Network:
    if not callable(factory):
        raise SideTrouble("side.no_model", side=asked.side, type=type_name(factory))
    if not asked.args and not asked.kwargs and (needed := required(factory)):
        raise SideTrouble("side.needs_arguments", side=asked.side, names=", ".join(needed))
    if seed is not None:
        # A factory may be the first to import its framework, whose initialisers may draw from these.
        random.seed(seed)
        np.random.seed(seed)
        for adapter in adapters_present():
            adapter.state.seed(seed, deterministic=False)
    with said_for(asked.side, "building"):
        return factory(*asked.args, **asked.kwargs)
