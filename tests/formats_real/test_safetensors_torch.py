"""safetensors files written from torch: the types NumPy has no name for."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import save_file

from trueline.formats.safetensors import read_safetensors


def test_every_type_comes_back_bit_by_bit(tmp_path: Path) -> None:
    kinds = [torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2, torch.complex64, torch.uint16, torch.bool]
    tensors = {str(kind): torch.arange(-3, 5).to(torch.float32).to(kind) for kind in kinds}
    save_file(tensors, tmp_path / "x.safetensors")
    model = read_safetensors(tmp_path / "x.safetensors").model
    for name, tensor in tensors.items():
        assert f"torch.{model[name].dtype.name}" == name
        assert model[name].array().tobytes() == tensor.view(torch.uint8).numpy().tobytes()
