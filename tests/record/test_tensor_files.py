"""A run's full tensors are ordinary safetensors files to torch."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
from safetensors.torch import load_file

from trueline.formats.run_folder.writer import RankWriter
from trueline.model.key import Key


def test_bfloat16_is_the_same_to_torch(tmp_path: Path) -> None:
    key = Key.of("head", "out")
    end = [{"event": "end", "t": 1.5}]
    RankWriter(tmp_path).finish_step(0, "train", end, tensors={key: np.arange(9).astype(ml_dtypes.bfloat16)})
    loaded = load_file(tmp_path / "rank-00000/tensors/0.safetensors")[str(key)]
    assert str(loaded.dtype) == "torch.bfloat16"
    assert loaded.float().tolist() == list(range(9))
