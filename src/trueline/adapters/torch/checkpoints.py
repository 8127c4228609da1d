"""PyTorch's checkpoints: a model's state_dict."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch


def kept(model: Any) -> dict[str, Any]:
    """The tensors of the state_dict; what modules add to it that is no tensor is left out."""
    try:
        state = model.state_dict(keep_vars=True)
    except TypeError:
        # A model with a state_dict of its own.
        state = model.state_dict()
    return {name: value for name, value in state.items() if isinstance(value, torch.Tensor)}


def read(path: Path, format: str, nested: str) -> tuple[str, Mapping[str, Any]] | None:
    """A file as torch reads it; ``nested`` is the key that holds the model's weights."""
    if format == "pth":
        return "torch.load", _inside(torch.load(path, map_location="cpu", weights_only=True), nested)
    if format == "safetensors" and path.is_file() and path.suffix == ".safetensors":
        try:
            from safetensors.torch import load_file
        except ImportError:
            return None
        return "safetensors.torch.load_file", load_file(path)
    return None


def _inside(tree: Any, nested: str) -> Mapping[str, Any]:
    """What lies below a dotted key, whose parts may have dots themselves."""
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


def put(model: Any, tensors: Mapping[str, Any]) -> list[str]:
    """Through load_state_dict."""
    missing, _ = model.load_state_dict(dict(tensors), strict=False)
    return [str(name) for name in missing]
