"""Weights in several files, as Hugging Face's libraries save large models: an index names the shard of each array."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from trueline.formats.files import fault, open_file, unreadable
from trueline.formats.printable import printable
from trueline.formats.stored import Stored
from trueline.formats.weights import MODEL, Weights

_MAX_INDEX: Final = 100 << 20

ReadShard = Callable[[Path], Mapping[str, Stored]]


def index_of(folder: Path, ending: str) -> Path:
    """The one index in a folder, by how its name ends."""
    try:
        found = sorted(path for path in folder.iterdir() if path.name.endswith(ending))
    except OSError as error:
        raise unreadable(folder, error) from None
    if len(found) != 1:
        raise fault(folder, "no_index" if not found else "several_indexes", name=f"*{ending}")
    return found[0]


def read_sharded(path: Path, format: str, read_shard: ReadShard) -> Weights:
    """The arrays an index names, in its order; each shard is read once, and none from outside the index's folder."""
    places, others = _index(path)
    shards: dict[str, Mapping[str, Stored]] = {}
    # One file may be named in many ways, and be linked to.
    known: dict[tuple[int, int], Mapping[str, Stored]] = {}
    for shard in sorted(set(places.values())):
        where, place = _shard(path, shard)
        if place not in known:
            known[place] = read_shard(where)
        shards[shard] = known[place]
    found: dict[str, Stored] = {}
    for name, shard in places.items():
        stored = shards[shard].get(name)
        if stored is None:
            raise fault(path, "not_in_shard", name=printable(name), shard=printable(shard))
        # The name it shares its elements with may be one the index leaves out or takes from elsewhere.
        left_out = stored.shared_with is not None and places.get(stored.shared_with) != shard
        found[name] = replace(stored, shared_with=None) if left_out else stored
    if not found:
        raise fault(path, "no_arrays")
    return Weights(path, format, {MODEL: found}, others=others)


def _index(path: Path) -> tuple[dict[str, str], dict[str, object]]:
    """Which array lies in which shard, and what the index says about the whole."""
    with open_file(path) as file:
        if os.fstat(file.fileno()).st_size > _MAX_INDEX:
            raise fault(path, "bad_index")
        text = file.read(_MAX_INDEX)
    try:
        index = msgspec.json.decode(text)
    # Nesting beyond all reason ends in a RecursionError.
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise fault(path, "bad_json", reason=printable(str(error))) from None
    places = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(places, dict) or not all(isinstance(shard, str) for shard in places.values()):
        raise fault(path, "bad_index")
    about = index.get("metadata")
    held = about.items() if isinstance(about, dict) else ()
    return places, {key: one for key, one in held if isinstance(one, (str, int, float, bool))}


def _shard(index: Path, name: str) -> tuple[Path, tuple[int, int]]:
    """The file of a shard, and which file of the system it is."""
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts:
        raise fault(index, "shard_outside", shard=printable(name))
    path = index.parent / name
    try:
        found = path.stat()
    # A name that no file can have (too long, with a NUL) is that of no file.
    except (OSError, ValueError):
        raise fault(index, "no_shard", shard=printable(name)) from None
    return path, (found.st_dev, found.st_ino)
