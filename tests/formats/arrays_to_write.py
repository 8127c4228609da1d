"""Arrays as they come to a writer: of any type and shape, from memory and from files, straight and not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from trueline.formats.npz import read_npz
from trueline.formats.outgoing import Outgoing
from trueline.formats.stored import Stored

Array = npt.NDArray[Any]
SOURCES = ("plain", "strided", "backwards", "big-endian", "transposed", "compressed", "fortran file")


@dataclass(frozen=True)
class Wanted:
    """An array and how it comes to the writer."""

    array: Array
    source: str

    @property
    def bytes(self) -> bytes:
        """What has to be read back."""
        return self.array.tobytes()


def outgoing(name: str, array: Array) -> Outgoing:
    """An array in memory, as it is."""
    return Outgoing(name, array.shape, array.dtype.newbyteorder("<"), array)


def arrays(dtypes: Iterable[np.dtype[Any]]) -> st.SearchStrategy[Wanted]:
    """Any of them: every bit pattern, 0-d and empty ones too."""
    return st.builds(_wanted, st.sampled_from(list(dtypes)), _SHAPES, st.sampled_from(SOURCES), st.integers(0, 2**32))


_SHAPES = st.lists(st.integers(0, 4), max_size=4).map(tuple)


def _wanted(dtype: np.dtype[Any], shape: tuple[int, ...], source: str, seed: int) -> Wanted:
    count = int(np.prod(shape))
    raw = np.random.default_rng(seed).integers(0, 256, count * dtype.itemsize, np.uint8)
    array = (raw % 2 if dtype.kind == "b" else raw).view(dtype).reshape(shape)
    # NumPy's own archives give no float8 back.
    lost = dtype.name.startswith("float8") and source in ("compressed", "fortran file")
    return Wanted(array, "plain" if lost else source)


def prepared(folder: Path, wanted: Mapping[str, Wanted]) -> list[Outgoing]:
    """All of them on their way; those that come from a file are in one in the folder."""
    return [_prepared(folder / f"{number}.npz", name, one) for number, (name, one) in enumerate(wanted.items())]


def _prepared(path: Path, name: str, wanted: Wanted) -> Outgoing:
    array = wanted.array
    source: Array | Stored = array
    if wanted.source == "strided":
        source = np.repeat(array[..., None], 3, -1)[..., 1]
    elif wanted.source == "backwards" and array.ndim:
        source = np.ascontiguousarray(array[::-1])[::-1]
    elif wanted.source == "big-endian":
        source = array.astype(array.dtype.newbyteorder(">"))
    elif wanted.source == "transposed":
        return Outgoing(name, array.shape, array.dtype, np.ascontiguousarray(array.T), transposed=True)
    elif wanted.source == "compressed":
        np.savez_compressed(path, x=array)
        source = read_npz(path).model["x"]
    elif wanted.source == "fortran file":
        np.savez(path, x=array.copy(order="F"))
        source = read_npz(path).model["x"]
    if isinstance(source, Stored):
        return Outgoing.of(source, name)
    return Outgoing(name, array.shape, array.dtype, source)
