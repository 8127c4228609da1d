"""The reader for each format, imported where it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from trueline.formats.files import fault
from trueline.formats.kinds import Format, Looked, walk

if TYPE_CHECKING:
    from trueline.formats.dump import Dump
    from trueline.formats.stored import Stored
    from trueline.formats.weights import Weights
    from trueline.model.curve import Curve

_READERS: Final = {
    Format.PTH: ("trueline.formats.pth", "read_pth"),
    Format.PTH_SHARDS: ("trueline.formats.pth.sharded", "read_sharded_pth"),
    Format.CKPT: ("trueline.formats.ckpt", "read_ckpt"),
    Format.SAFETENSORS: ("trueline.formats.safetensors", "read_safetensors"),
    Format.NPZ: ("trueline.formats.npz", "read_npz"),
    Format.TENSORBOARD: ("trueline.formats.tensorboard", "read_tensorboard"),
    Format.MS_SUMMARY: ("trueline.formats.ms_summary", "read_ms_summary"),
    Format.MS_DUMP: ("trueline.formats.ms_dump", "read_ms_dump"),
    Format.MSPROBE: ("trueline.formats.msprobe", "read_msprobe"),
}


def _read(found: Looked) -> Any:
    module, name = _READERS[found.format]
    return getattr(import_module(module), name)(found.path)


def open_weights(found: Looked) -> Weights:
    """A weight file."""
    weights: Weights = _read(found)
    weights.check_worth()
    return weights


def open_dump(found: Looked) -> Dump:
    """A dump folder."""
    dump: Dump = _read(found)
    return dump


def open_arrays(found: Looked) -> dict[str, Stored]:
    """The arrays of a folder of .npy and .npz files, by their path without its ending; or one .npy file."""
    from trueline.formats.npy import read_npy

    if found.path.is_file():
        return {found.path.stem: read_npy(found.path, found.path.stem)}
    arrays: dict[str, Stored] = {}
    top = len(str(found.path)) + 1
    for where, file in walk(found.path):
        path = f"{where}/{file}"
        name = path[top:-4]
        if file.endswith(".npy"):
            arrays[name] = read_npy(Path(path), name)
        elif file.endswith(".npz"):
            inside = open_weights(Looked(Path(path), Format.NPZ)).model
            arrays |= {f"{name}/{inner}": stored for inner, stored in inside.items()}
    return arrays


def open_curves(found: Looked, pattern: str | None = None) -> Sequence[Curve]:
    """Every scalar of a log."""
    if found.format is Format.LOG:
        from trueline.formats.log import read_log

        return read_log(found.path, pattern)
    curves: Sequence[Curve] = _read(found)
    return curves


def open_loss(found: Looked, pattern: str | None = None) -> Curve:
    """The training loss of a log."""
    from trueline.formats.log import loss_of

    loss = loss_of(open_curves(found, pattern))
    if loss is None:
        raise fault(found.path, "no_loss")
    return loss
