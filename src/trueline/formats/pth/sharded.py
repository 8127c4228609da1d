"""Files of torch.save in shards, as transformers saved large models before safetensors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from trueline.formats.pth.reader import read_pth
from trueline.formats.sharded import index_of, read_sharded
from trueline.formats.stored import Stored
from trueline.formats.weights import Weights

INDEX: Final = ".bin.index.json"


def read_sharded_pth(path: Path) -> Weights:
    """The tensors of the shards that an index names, or of a folder that holds such an index."""
    return read_sharded(index_of(path, INDEX) if path.is_dir() else path, "pth", _model)


def _model(shard: Path) -> Mapping[str, Stored]:
    return read_pth(shard).model
