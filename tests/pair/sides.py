"""Sides on the project of this folder, and weights that mean the same in both frameworks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from trueline.adapters.guest.entry import Entry
from trueline.pair.sides.side import Side

PROJECT = Path(__file__).parent / "project"
# MindSpore's name of each of torch's; the buffer is not among its parameters, and a shared weight has one name.
IN_MINDSPORE = {
    "conv.weight": "conv.weight",
    "bn.weight": "bn.gamma",
    "bn.bias": "bn.beta",
    "bn.running_mean": "bn.moving_mean",
    "bn.running_var": "bn.moving_variance",
    "fc.weight": "fc.weight",
    "fc.bias": "fc.bias",
    "first.weight": "first.weight",
    "first.bias": "first.bias",
    "second.bias": "second.bias",
    "scale": "its_own_name",
}


def side_of(text: str, folder: Path = PROJECT, **options: Any) -> Side:
    """A side that has begun to build."""
    return Side.start(Entry.parse(text), folder=folder, **options)


def values() -> dict[str, np.ndarray]:
    """Weights by torch's names, with statistics that are not the fresh ones."""
    random = np.random.default_rng(3)
    shapes = {
        "conv.weight": (8, 3, 3, 3),
        **dict.fromkeys(("bn.weight", "bn.bias", "bn.running_mean", "bn.running_var"), (8,)),
        "fc.weight": (6, 8),
        "fc.bias": (6,),
        "first.weight": (6, 6),
        "first.bias": (6,),
        "second.bias": (6,),
        "scale": (2,),
    }
    found = {name: random.normal(0.0, 0.4, shape).astype(np.float32) for name, shape in shapes.items()}
    # Small enough for an eps to matter.
    found["bn.running_var"] = np.abs(found["bn.running_var"]) + np.float32(0.05)
    return found
