"""What a framework's own checkpoint of a model holds, and putting values there the framework's own way."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, cast

from trueline.adapters.nouns import Network, Value


class Checkpoints(Protocol):
    """A framework's way with checkpoints."""

    def kept(self, model: Network) -> dict[str, Value]:
        """The tensors that a checkpoint of the model holds, in its order and under its names."""
        ...

    def read(self, path: Path, format: str, nested: str) -> tuple[str, Mapping[str, Value]] | None:
        """Who read the file, and the model's tensors in it; None where the framework does not read it."""
        ...

    def put(self, model: Network, tensors: Mapping[str, Value]) -> list[str]:
        """Give the model these tensors, which all fit; returns what it has and was not given."""
        ...


def checkpoints_of(framework: str) -> Checkpoints:
    """The module of a framework's adapter; it imports the framework."""
    return cast(Checkpoints, importlib.import_module(f"trueline.adapters.{framework}.checkpoints"))


def kept_by(framework: str, model: Network) -> dict[str, Value]:
    """The tensors that a checkpoint of the model holds."""
    return checkpoints_of(framework).kept(model)
