"""safetensors files, written without the library: single, or in shards with the index that loaders expect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from trueline.formats.files import fault
from trueline.formats.holding import check_all, name_trouble, pour_whole
from trueline.formats.making import Making, Sink
from trueline.formats.outgoing import Outgoing
from trueline.formats.printable import printable
from trueline.formats.run_folder.json_text import json_page
from trueline.formats.safetensors.layout import Entry, aligned_order, beginning
from trueline.formats.safetensors.types import INDEX, METADATA, NAMES
from trueline.model.message import Message, message

# The library refuses longer headers.
_MAX_HEADER: Final = 100_000_000
_NONE: Final[Mapping[str, str]] = MappingProxyType({})


def cannot_hold(array: Outgoing) -> Message | None:
    """Why a safetensors file cannot hold an array (it has no complex128), None where it can."""
    if array.name == METADATA:
        return message("safetensors.reserved", name=METADATA)
    if array.dtype not in NAMES:
        return message("safetensors.cannot_hold", name=printable(array.name), dtype=array.dtype.name)
    return name_trouble(array.name)


def write_safetensors(sink: Sink, arrays: Sequence[Outgoing], metadata: Mapping[str, str] = _NONE) -> None:
    """One file of all arrays; shared ones are copies, as the format lets no two share bytes.

    Loaders for torch want the metadata {"format": "pt"}.
    """
    check_all(sink.path, arrays, cannot_hold)
    _write(sink, arrays, metadata)


def write_shards(
    making: Making, path: Path, arrays: Sequence[Outgoing], most_bytes: int, metadata: Mapping[str, str] = _NONE
) -> None:
    """Files of at most so many bytes of elements, beside the index that says which array is where.

    ``path`` is the index, or the single file they stand for: then that one is written where everything fits into it.
    An array larger than the limit gets a shard of its own.
    """
    check_all(path, arrays, cannot_hold)
    shards = list(_shards(arrays, most_bytes))
    if len(shards) == 1 and not path.name.endswith(INDEX):
        _write(making.sink(path), arrays, metadata)
        return
    stem = path.name.removesuffix(INDEX).removesuffix(".safetensors")
    places: dict[str, str] = {}
    for number, shard in enumerate(shards, 1):
        name = f"{stem}-{number:05d}-of-{len(shards):05d}.safetensors"
        _write(making.sink(path.with_name(name)), shard, metadata)
        places |= dict.fromkeys((outgoing.name for outgoing in shard), name)
    about: dict[str, object] = {**metadata, "total_size": sum(array.nbytes for array in arrays)}
    making.sink(path.with_name(stem + INDEX)).write(json_page({"metadata": about, "weight_map": places}))


def _shards(arrays: Sequence[Outgoing], most_bytes: int) -> Iterator[list[Outgoing]]:
    shard: list[Outgoing] = []
    size = 0
    for array in arrays:
        if shard and size + array.nbytes > most_bytes:
            yield shard
            shard, size = [], 0
        shard.append(array)
        size += array.nbytes
    yield shard


def _write(sink: Sink, arrays: Sequence[Outgoing], metadata: Mapping[str, str]) -> None:
    entries = [Entry(array.name, NAMES[array.dtype], array.shape) for array in arrays]
    # MindSpore's reader wants the header in the order of the data.
    order = aligned_order(entries)
    start = beginning([entries[place] for place in order], range(len(order)), metadata)
    if len(start) - 8 > _MAX_HEADER:
        raise fault(sink.path, "long_header", count=len(arrays))
    sink.write(start)
    for place in order:
        pour_whole(sink, arrays[place])
