"""torch's random generator: seeding and reporting."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Final

import torch
from torch.utils.data import DataLoader

from trueline.adapters.nouns import Foreign, Loader
from trueline.adapters.observer import Tap
from trueline.adapters.torch import build, data, state
from trueline.adapters.user_code import line_of_users_function

NAMES: Final = ("torch",)


def fix(seeds: Mapping[str, int], *, deterministic: bool) -> None:
    """Seed the generator."""
    state.seed(seeds["torch"], deterministic=deterministic)


def watch(tap: Tap) -> None:
    """Report seeds and constructed loaders."""
    manual_seed, seed = torch.manual_seed, torch.seed

    @functools.wraps(manual_seed)
    def seeded(seed: object) -> Foreign:
        return manual_seed(tap.seeding("torch", seed))

    @functools.wraps(seed)
    def seeded_freely() -> int:
        chosen = tap.seeding("torch", None)
        return int(seed()) if chosen is None else int(manual_seed(chosen).initial_seed())

    for owner in (torch, torch.random):
        owner.manual_seed = seeded
        owner.seed = seeded_freely
    DataLoader.__init__ = _building(tap, DataLoader.__init__)


def _building(tap: Tap, original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def begin(loader: Loader, *args: object, **kwargs: object) -> None:
        original(loader, *args, **kwargs)
        dataset = loader.dataset
        method = getattr(type(dataset), "__getitem__", None) or getattr(type(dataset), "__iter__", None)
        item = line_of_users_function(method, build.package())
        facts = data.facts(loader)
        tap.built(
            facts["kind"],
            {
                "dataset": facts["dataset"],
                "batch_size": facts["batch_size"],
                "workers": facts["workers"],
                "shuffle": facts["shuffle"],
                "item": item.line_json() if item is not None else None,
            },
        )

    return begin
