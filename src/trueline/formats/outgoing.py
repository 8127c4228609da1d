"""An array on its way into a file: its elements in C order and little-endian, a piece at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from trueline.formats.stored import Stored
from trueline.kernel import Parts, pieces
from trueline.kernel.array import Array, DType

# Small enough for a processor's cache, where a checksum finds it again.
_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One array to be written under ``name`` with ``shape``.

    ``source`` has as many elements, in the same C order once ``transposed`` where that is said; what has to be
    computed first is a function. ``shared_with`` is the name of an array of the same file that is the very same one.
    """

    name: str
    shape: tuple[int, ...]
    dtype: DType
    source: Stored | Array | Callable[[], Array]
    shared_with: str | None = None
    transposed: bool = False

    @classmethod
    def of(cls, stored: Stored, name: str | None = None, shape: tuple[int, ...] | None = None) -> Outgoing:
        """A stored array as it is, under another name or shape where given."""
        dtype = stored.dtype.newbyteorder("<")
        return cls(name or stored.name, stored.shape if shape is None else shape, dtype, stored, stored.shared_with)

    @property
    def count(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """How many bytes its elements take."""
        return self.count * self.dtype.itemsize

    def _elements(self) -> Array | Parts:
        if isinstance(self.source, Stored):
            return self.source.elements()
        return self.source() if callable(self.source) else self.source

    def pieces(self) -> Iterator[npt.NDArray[np.uint8]]:
        """The bytes, in order; no piece is large, and what lies in a file in that order already is not copied."""
        if not self.nbytes:
            return
        if not self.transposed and isinstance(self.source, Stored) and self.source.lies_plainly:
            yield from self.source.read(_PIECE)
            return
        source = self._elements()
        if self.transposed:
            source = _whole(source).T
        if not isinstance(source, Parts) and source.flags.c_contiguous and source.dtype.byteorder != ">":
            # Bytes need no alignment, which elements in the middle of a file may lack.
            flat = source.reshape(-1).view(np.uint8)
            for at in range(0, flat.size, _PIECE):
                yield flat[at : at + _PIECE]
            return
        for piece in pieces(source, max(1, _PIECE // self.dtype.itemsize)):
            yield piece.astype(self.dtype, copy=False).view(np.uint8)


def whole(outgoing: Outgoing) -> Array:
    """All elements in memory, in one array of its shape."""
    data = np.concatenate([piece.copy() for piece in outgoing.pieces()]) if outgoing.nbytes else np.zeros(0, np.uint8)
    return data.view(outgoing.dtype).reshape(outgoing.shape)


def _whole(source: Array | Parts) -> Array:
    return np.concatenate(list(source.open())).reshape(source.shape) if isinstance(source, Parts) else source
