"""Converting from the tests, and reading what came of it with the libraries whose formats they are."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from cli.calling import call
from cli.made_files import Arrays
from docs.json_schema import faults

SCHEMA = json.loads(
    (Path(__file__).resolve().parent.parent.parent / "docs" / "schema" / "trueline-1.schema.json").read_text("utf-8")
)


def convert(*arguments: str | Path, exit: int = 0) -> dict[str, Any]:
    """The JSON of a conversion, which is all that is on stdout, and as the schema says."""
    ended = call("convert", *arguments, "--json")
    assert ended.exit_code == exit, ended.output
    told: dict[str, Any] = json.loads(ended.stdout)
    assert (told["schema"], told["verb"], told["exit"]) == ("trueline/1", "convert", exit)
    assert list(faults(told, SCHEMA, SCHEMA)) == []
    return told


def renamed(told: Mapping[str, Any]) -> dict[str, str]:
    """The names there by the names here."""
    return {one["name"]: one["other_name"] for one in told["mapped"]}


def loaded(path: Path) -> Arrays:
    """What the format's own library finds in a file."""
    if path.suffix == ".ckpt":
        import mindspore as ms

        return {name: one.asnumpy() for name, one in ms.load_checkpoint(str(path)).items()}
    if path.suffix == ".safetensors":
        from safetensors.numpy import load_file

        found: Arrays = load_file(path)
        return found
    if path.suffix == ".npz":
        with np.load(path) as archive:
            return {name: archive[name] for name in archive.files}
    import torch

    return {name: one.numpy() for name, one in torch.load(path, weights_only=True).items()}


def same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two files hold the same, bit for bit."""
    return one.keys() == other.keys() and all(
        (one[name].shape, one[name].dtype, one[name].tobytes())
        == (other[name].shape, other[name].dtype, other[name].tobytes())
        for name in one
    )


def write_sparse(path: Path, size: int) -> Path:
    """A safetensors file of one large array that takes no room on the disk."""
    entry = {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size // 4 * 4]}
    header = json.dumps({"table": entry}).encode()
    header += b" " * (-len(header) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + size // 4 * 4)
    return path
