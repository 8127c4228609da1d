"""Shards that torch itself wrote."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch

from trueline.formats.pth.sharded import read_sharded_pth


def test_shards_of_torch(tmp_path: Path) -> None:
    tied = torch.randn(5, 3)
    shards = {
        "pytorch_model-00001-of-00002.bin": {"model.embed.weight": tied, "model.norm.weight": torch.ones(3)},
        "pytorch_model-00002-of-00002.bin": {"lm_head.weight": tied, "lm_head.again": tied.t()},
    }
    for shard, tensors in shards.items():
        torch.save(tensors, tmp_path / shard)
    places = {name: shard for shard, tensors in shards.items() for name in tensors}
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps({"metadata": {}, "weight_map": places}))
    model = read_sharded_pth(tmp_path).model
    assert list(model) == list(places)
    for name, shard in places.items():
        assert np.array_equal(model[name].array(), shards[shard][name].numpy())
