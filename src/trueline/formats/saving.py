"""The writer for each format, imported where it is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Final

from trueline.formats.kinds import Format
from trueline.formats.making import Progress, check_room, making
from trueline.formats.outgoing import Outgoing
from trueline.model.message import Message
from trueline.model.trouble import BadUsage

ENDINGS: Final = {
    ".pth": Format.PTH,
    ".pt": Format.PTH,
    ".bin": Format.PTH,
    ".ckpt": Format.CKPT,
    ".safetensors": Format.SAFETENSORS,
    ".npz": Format.NPZ,
}
SHARDS: Final = ".safetensors.index.json"
_WRITERS: Final = {
    Format.PTH: "trueline.formats.pth.writer",
    Format.CKPT: "trueline.formats.ckpt.writer",
    Format.SAFETENSORS: "trueline.formats.safetensors.writer",
    Format.NPZ: "trueline.formats.npz_writer",
}
# What an archive or a list of names takes beside the elements, at most, for each array.
_BESIDE: Final = 4096


@dataclass(frozen=True, slots=True)
class Saved:
    """What is to be in a weight file: the model's arrays, and what else is kept.

    ``beside`` are trees of arrays and plain values by section, for the one format that nests; the others take
    ``more``, under whole names, and plain ``others``. A ``tree`` holds all of it in its own places.
    """

    arrays: Sequence[Outgoing]
    beside: Mapping[str, object] = field(default_factory=dict)
    more: Sequence[Outgoing] = ()
    others: Mapping[str, int | float | bool | str] = field(default_factory=dict)
    nested: str = "state_dict"
    metadata: Mapping[str, str] = field(default_factory=dict)
    tree: Mapping[str, object] | None = None


def format_of(path: Path, to: str | None = None) -> Format:
    """The format to write: the one asked for, else by the file's ending."""
    if to is not None:
        return Format(to)
    if path.name.endswith(SHARDS):
        return Format.SAFETENSORS
    found = ENDINGS.get(path.suffix.lower())
    if found is None:
        raise BadUsage("convert.which_format", file=path.name, endings=" ".join(ENDINGS))
    return found


def cannot_hold(format: Format) -> Callable[[Outgoing], Message | None]:
    """Tells why a format, or the framework that reads it, cannot hold an array; None where it can."""
    found: Callable[[Outgoing], Message | None] = import_module(_WRITERS[format]).cannot_hold
    return found


def save(
    path: Path,
    format: Format,
    saved: Saved,
    *,
    force: bool = False,
    progress: Progress | None = None,
    shard_bytes: int | None = None,
) -> None:
    """Write a weight file; it appears only when it is whole."""
    everything = [*saved.arrays, *saved.more]
    check_room(path, sum(outgoing.nbytes + _BESIDE for outgoing in everything))
    with making(path, force=force, progress=progress) as made:
        if format is Format.SAFETENSORS:
            from trueline.formats.safetensors.writer import write_safetensors, write_shards

            if shard_bytes is not None:
                write_shards(made, path, everything, shard_bytes, saved.metadata)
            else:
                write_safetensors(made.sink(path), everything, saved.metadata)
        elif format is Format.PTH:
            from trueline.formats.pth.writer import write_pth

            model = {array.name: array for array in saved.arrays}
            tree = {saved.nested: model, **saved.beside} if saved.beside else model
            write_pth(made.sink(path), tree if saved.tree is None else saved.tree)
        elif format is Format.CKPT:
            from trueline.formats.ckpt.writer import write_ckpt

            write_ckpt(made.sink(path), everything, saved.others)
        else:
            from trueline.formats.npz_writer import write_npz

            write_npz(made.sink(path), everything)
