"""PyTorch checkpoints: a model's state_dict."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch

from trueline.adapters.nouns import Network, Value


def kept(model: Network) -> dict[str, Value]:
    """The tensors of the state_dict, without other objects that modules add to it."""
    try:
        state = model.state_dict(keep_vars=True)
    except TypeError:
        # A model with a state_dict of its own.
        state = model.state_dict()
    return {name: value for name, value in state.items() if isinstance(value, torch.Tensor)}


def read(path: Path, format: str, nested: str) -> tuple[str, Mapping[str, Value]] | None:
    """Read a file through torch; ``nested`` is the key that holds the model's weights."""
    if format == "pth":
        return "torch.load", _inside(torch.load(path, map_location="cpu", weights_only=True), nested)
    if format == "safetensors" and path.is_file() and path.suffix == ".safetensors":
        try:
            from safetensors.torch import load_file
        except ImportError:
            return None
        return "safetensors.torch.load_file", load_file(path)
    return None


def _inside(tree: Value, nested: str) -> Mapping[str, Value]:
    """The value below a dotted key, whose parts may contain dots themselves."""
    parts = nested.split(".") if nested else []
    while parts:
        for count in range(1, len(parts) + 1):
            key = ".".join(parts[:count])
            if isinstance(tree, Mapping) and key in tree:
                tree, parts = tree[key], parts[count:]
                break
        else:
            raise KeyError(nested)
    if isinstance(tree, torch.nn.Module):
        tree = tree.state_dict()
    if not isinstance(tree, Mapping):
        raise TypeError(f"{type(tree).__name__} is no state_dict")
    return {str(name): value for name, value in tree.items() if isinstance(value, torch.Tensor)}


def put(model: Network, tensors: Mapping[str, Value]) -> list[str]:
    """Load through load_state_dict."""
    missing, _ = model.load_state_dict(dict(tensors), strict=False)
    return [str(name) for name in missing]
