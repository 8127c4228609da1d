"""MindSpore's random generators, of the network and of the data pipeline: seeding and reporting."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Final

import mindspore as ms
from mindspore import dataset

from trueline.adapters.mindspore import internals, state
from trueline.adapters.nouns import Loader
from trueline.adapters.observer import Tap

NAMES: Final = ("mindspore", "mindspore.dataset")


def fix(seeds: Mapping[str, int], *, deterministic: bool) -> None:
    """Seed the generators; the pipeline's last, since the network's seed also sets it."""
    state.seed(seeds["mindspore"], deterministic=deterministic)
    dataset.config.set_seed(seeds["mindspore.dataset"])


def watch(tap: Tap) -> None:
    """Report seeds and constructed pipelines."""
    seeding = _seeding(tap, "mindspore", ms.set_seed)
    for owner in internals.SEED_HOLDERS:
        vars(owner)["set_seed"] = seeding
    dataset.config.set_seed = _seeding(tap, "mindspore.dataset", dataset.config.set_seed)
    dataset.Dataset.__init__ = _building(tap, dataset.Dataset.__init__)


def _seeding(tap: Tap, stream: str, original: Callable[[object], None]) -> Callable[[object], None]:
    @functools.wraps(original)
    def seed(seed: object) -> None:
        original(tap.seeding(stream, seed))

    return seed


def _building(tap: Tap, original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def begin(pipeline: Loader, *args: object, **kwargs: object) -> None:
        original(pipeline, *args, **kwargs)
        tap.built(type(pipeline).__name__, {"item": None})

    return begin
