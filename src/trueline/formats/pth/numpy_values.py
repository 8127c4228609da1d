"""NumPy's scalars, as numbers, and arrays, as their description, out of a pickle."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from trueline.formats.pth.machine import Made
from trueline.formats.pth.trouble import BadPickle, Refused
from trueline.formats.pth.values import Plain, counts
from trueline.kernel.array import DType

_NUMBERS: Final = re.compile(r"[<>=|]?(?:b1|[iu][1248]|f[248]|c8|c16)")


class NumpyType(Made):
    """A dtype of numbers."""

    __slots__ = ("dtype",)

    def __init__(self, dtype: DType) -> None:
        self.dtype = dtype

    def build(self, state: object) -> None:
        """Take the byte order; nothing else of it matters for numbers."""
        order = state[1] if isinstance(state, tuple) and len(state) > 1 else None
        if order not in ("<", ">", "|", "="):
            raise BadPickle("numpy.dtype")
        if order in ("<", ">"):
            self.dtype = self.dtype.newbyteorder(order)


class NumpyArray(Made):
    """An array whose elements stay in the pickle."""

    __slots__ = ("dtype", "shape")

    def __init__(self) -> None:
        self.shape: tuple[int, ...] = ()
        self.dtype = ""

    def build(self, state: object) -> None:
        """Take shape and type."""
        if not isinstance(state, tuple) or len(state) != 5 or not isinstance(state[2], NumpyType):
            raise BadPickle("numpy.ndarray")
        self.shape, self.dtype = counts(state[1]), str(state[2].dtype)


@dataclass(frozen=True, slots=True)
class _Encoded(Made):
    """Bytes as protocol 2 writes them: a text of the characters 0 to 255; kept as it is, since copies add up."""

    text: str


class _ArrayType(Made):
    """numpy.ndarray as an argument."""

    __slots__ = ()
    name = "numpy.ndarray"


def _encode(text: object, encoding: object = "latin1") -> _Encoded:
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1", "utf-8"):
        raise BadPickle("_codecs.encode")
    return _Encoded(text)


def text_length(data: object) -> int:
    """How long a text is that has to be made into bytes; bytes are what they are."""
    text = data.text if isinstance(data, _Encoded) else data
    return len(text) if isinstance(text, str) else 0


def encoded_bytes(data: object, size: int) -> bytes | None:
    """The bytes that a pickle means where it has so many: plain, or as a text of Python 2; None for anything else."""
    text = data.text if isinstance(data, _Encoded) else data
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        return None
    try:
        latin = text.encode("latin-1")
    except UnicodeEncodeError:
        latin = b""
    # A string of Python 2 was taken for UTF-8 where it could be.
    return latin if len(latin) == size else text.encode("utf-8", "surrogatepass")


def _dtype(name: object, *_rest: object) -> NumpyType:
    if not isinstance(name, str) or _NUMBERS.fullmatch(name) is None:
        raise Refused(f"numpy.dtype {str(name)[:40] if isinstance(name, str) else ''}")
    return NumpyType(np.dtype(name))


def _scalar(kind: object, data: object) -> object:
    if isinstance(data, _Encoded) and len(data.text) <= 16:
        data = data.text.encode("latin-1")
    if not isinstance(kind, NumpyType) or not isinstance(data, bytes) or len(data) != kind.dtype.itemsize:
        raise BadPickle("numpy scalar")
    found = np.frombuffer(data, kind.dtype)[0].item()
    return Plain(str(found)) if isinstance(found, complex) else found


def _array(kind: object, _shape: object, _code: object) -> NumpyArray:
    if not isinstance(kind, _ArrayType):
        raise BadPickle("numpy array")
    return NumpyArray()


def _from_buffer(_data: object, kind: object, shape: object, _order: object) -> NumpyArray:
    made = NumpyArray()
    made.build((1, shape, kind, False, b""))
    return made


CALLS: Final[dict[tuple[str, str], Callable[..., object]]] = {
    ("_codecs", "encode"): _encode,
    ("numpy", "dtype"): _dtype,
    ("numpy.core.multiarray", "scalar"): _scalar,
    ("numpy._core.multiarray", "scalar"): _scalar,
    ("numpy.core.numeric", "_frombuffer"): _from_buffer,
    ("numpy._core.numeric", "_frombuffer"): _from_buffer,
    ("numpy.core.multiarray", "_reconstruct"): _array,
    ("numpy._core.multiarray", "_reconstruct"): _array,
}
TYPES: Final[dict[tuple[str, str], Made]] = {("numpy", "ndarray"): _ArrayType()}
