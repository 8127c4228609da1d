"""Pickles of plain values and NumPy's arrays, read without running them: what else they name is refused."""

from __future__ import annotations

import math
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np

from trueline.formats.files import map_file
from trueline.formats.printable import printable
from trueline.formats.pth.allowed import Call
from trueline.formats.pth.machine import Made
from trueline.formats.pth.numpy_values import CALLS, TYPES, NumpyType, encoded_bytes, text_length
from trueline.formats.pth.opcodes import unpickled
from trueline.formats.pth.trouble import BadPickle, Refused
from trueline.formats.pth.values import counts
from trueline.kernel.array import Array, DType
from trueline.model.budget import READ_PER_UNIT, Budget
from trueline.model.message import message
from trueline.model.trouble import BadFile

_MOST_BYTES: Final = 1 << 30


class _HeldArray(Made):
    """An array in the making; its copy of the elements is taken from the file's budget."""

    __slots__ = ("_budget", "array")

    def __init__(self, budget: Budget) -> None:
        self.array: Array | None = None
        self._budget = budget

    def build(self, state: object) -> None:
        """Take shape, type and elements."""
        if not isinstance(state, tuple) or len(state) != 5 or not isinstance(state[2], NumpyType):
            raise BadPickle("numpy.ndarray")
        # A text is made into bytes, in one encoding or the other.
        self._budget.hold(3 * text_length(state[4]))
        self.array = _filled(counts(state[1]), state[2].dtype, state[4], by_columns=bool(state[3]))


def _filled(shape: tuple[int, ...], dtype: DType, data: object, *, by_columns: bool) -> Array:
    size = math.prod(shape) * dtype.itemsize
    held = encoded_bytes(data, size)
    if held is None or len(held) != size:
        raise BadPickle("numpy.ndarray")
    return np.frombuffer(held, dtype).reshape(shape, order="F" if by_columns else "C")


class _Allowed:
    """The table for one file: what is copied while it is read is taken from its budget."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._calls: dict[tuple[str, str], Callable[..., object]] = {
            **CALLS,
            ("_codecs", "encode"): self._encoded,
            ("numpy.core.multiarray", "_reconstruct"): self._empty,
            ("numpy._core.multiarray", "_reconstruct"): self._empty,
            ("numpy.core.numeric", "_frombuffer"): self._from_buffer,
            ("numpy._core.numeric", "_frombuffer"): self._from_buffer,
        }

    def find(self, module: str, name: str) -> object:
        """What a name stands for; everything that is not on the list is refused by its full name."""
        # Older protocols use the names of Python 2.
        where = NAME_MAPPING.get((module, name), (IMPORT_MAPPING.get(module, module), name))
        if where in self._calls:
            return Call(".".join(where), self._calls[where])
        if where in TYPES:
            return TYPES[where]
        raise Refused(".".join(where))

    def _encoded(self, text: object, encoding: object = "latin1") -> bytes:
        """Bytes as protocol 2 writes them."""
        if not isinstance(text, str) or encoding not in ("latin1", "latin-1", "utf-8"):
            raise BadPickle("_codecs.encode")
        self._budget.hold(4 * len(text))
        self._budget.spend(len(text) // READ_PER_UNIT)
        return bytes(text, encoding)

    def _empty(self, _kind: object, _shape: object, _code: object) -> _HeldArray:
        return _HeldArray(self._budget)

    def _from_buffer(self, data: object, kind: object, shape: object, order: object) -> _HeldArray:
        made = _HeldArray(self._budget)
        made.build((1, shape, kind, order == "F", data))
        return made


def _persistent(_id: object) -> object:
    raise Refused("persistent id")


def read_pickle(path: Path) -> object:
    """The value of a pickle: dictionaries and lists of plain values and arrays; a BadFile where it is anything else."""
    data = map_file(path)
    if len(data) > _MOST_BYTES:
        raise _bad(path, "too long")
    budget = Budget(path, len(data))
    try:
        value, _ = unpickled(data, 0, _Allowed(budget).find, _persistent, budget)
    except Refused as refused:
        raise BadFile(path, message("sources.refused_pickle", name=refused.name).text()) from None
    except BadPickle as error:
        raise _bad(path, printable(str(error)) or "?") from None
    if isinstance(value, dict):
        return {name: array.array if isinstance(array, _HeldArray) else array for name, array in value.items()}
    return value.array if isinstance(value, _HeldArray) else value


def _bad(path: Path, reason: str) -> BadFile:
    return BadFile(path, message("sources.bad_pickle", reason=reason).text())
