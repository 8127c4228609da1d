"""How tensors lie in a safetensors file: its header, and the order of what follows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trueline.formats.run_folder.json_text import json_bytes
from trueline.formats.safetensors.types import METADATA, TYPES


@dataclass(frozen=True, slots=True)
class Entry:
    """One tensor as the header speaks of it; ``kind`` is the format's name of its type."""

    name: str
    kind: str
    shape: tuple[int, ...]

    @property
    def width(self) -> int:
        """How many bytes an element takes."""
        return TYPES[self.kind].itemsize

    @property
    def nbytes(self) -> int:
        """How many bytes its elements take."""
        return math.prod(self.shape) * self.width


def wide_first(entries: Sequence[Entry]) -> list[int]:
    """The order of data (by place) that keeps every view aligned without the holes that readers refuse."""
    return sorted(range(len(entries)), key=lambda place: -entries[place].width)


def aligned_order(entries: Sequence[Entry]) -> list[int]:
    """The order as given where that keeps every view aligned, else the wide ones first."""
    end = 0
    for entry in entries:
        if end % entry.width:
            return wide_first(entries)
        end += entry.nbytes
    return list(range(len(entries)))


def beginning(entries: Sequence[Entry], order: Sequence[int], metadata: Mapping[str, str]) -> bytes:
    """The file up to its data, which has to follow in this order of places; the header keeps the order of entries."""
    offsets = [(0, 0)] * len(entries)
    end = 0
    for place in order:
        begin, end = end, end + entries[place].nbytes
        offsets[place] = (begin, end)
    header: dict[str, object] = {METADATA: metadata} if metadata else {}
    for entry, where in zip(entries, offsets, strict=True):
        header[entry.name] = {"dtype": entry.kind, "shape": entry.shape, "data_offsets": where}
    text = json_bytes(header)
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text
