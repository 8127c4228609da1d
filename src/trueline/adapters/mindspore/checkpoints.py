"""MindSpore checkpoints: parameters by their own names, which need not be their paths."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import mindspore as ms

from trueline.adapters.mindspore import values
from trueline.adapters.nouns import Network, Value


def kept(model: Network) -> dict[str, Value]:
    """The parameters as save_checkpoint writes them: of duplicate names only the last."""
    return {parameter.name: parameter for _, parameter in model.parameters_and_names()}


def read(path: Path, format: str, nested: str) -> tuple[str, Mapping[str, Value]] | None:  # noqa: ARG001
    """Read a file through MindSpore, which requires its own suffixes."""
    if format not in ("ckpt", "safetensors") or path.suffix != f".{format}" or not path.is_file():
        return None
    try:
        tensors = ms.load_checkpoint(str(path), format=format)
    except (RuntimeError, ValueError, MemoryError) as error:
        # It counts free pages as if none could be freed: no reason for others not to read the file.
        if "memory" in str(error):
            return None
        raise
    return "mindspore.load_checkpoint", {
        name: tensor for name, tensor in tensors.items() if isinstance(tensor, ms.Tensor)
    }


def put(model: Network, tensors: Mapping[str, Value]) -> list[str]:
    """Load through load_param_into_net with strict_load: otherwise it matches names by suffix."""
    own = kept(model)
    fitting = {name: _like(own[name], tensor, name) for name, tensor in tensors.items()}
    missing, _ = ms.load_param_into_net(model, fitting, strict_load=True)
    return [str(name) for name in missing]


def _like(parameter: Value, value: Value, name: str) -> Value:
    if value.dtype != parameter.dtype:
        value = values.from_numpy(values.to_numpy(value), like=parameter)
    return value if isinstance(value, ms.Parameter) else ms.Parameter(value, name=name)
