"""Weights into a file that torch.load reads, written without torch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trueline.formats.files import fault
from trueline.formats.making import Sink
from trueline.formats.outgoing import Outgoing
from trueline.formats.printable import printable
from trueline.formats.pth.pickling import HugeNumber, Pickling
from trueline.formats.pth.trouble import pth_fault
from trueline.formats.pth.values import DTYPES, STORAGES
from trueline.formats.zip_writer import ZipWriter
from trueline.model.message import Message, message
from trueline.model.trouble import BadFile

_ALIGNED: Final = 64
_MAX_DEPTH: Final = 100
_TYPED: Final = {dtype: storage for storage, dtype in STORAGES.items()}
_SAFE: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+ -]*")


def cannot_hold(array: Outgoing) -> Message | None:
    """Why torch has no tensor for an array; None where it has."""
    if DTYPES.get(array.dtype.name) == array.dtype:
        return None
    return message("pth.cannot_hold", name=printable(array.name), dtype=str(array.dtype))


def write_pth(sink: Sink, tree: Mapping[str, object]) -> None:
    """A tree of dictionaries, lists, tuples, plain values and arrays, as torch.save would write it.

    Arrays of one dictionary that are said to be shared are one storage, as are those that are one and the same.
    """
    writing = _Tree(sink)
    try:
        writing.put(tree, {}, "", 0)
    except HugeNumber:
        raise pth_fault(sink.path, "huge_number", name=printable(writing.at)) from None
    root = sink.path.stem if _SAFE.fullmatch(sink.path.stem) else "archive"
    archive = ZipWriter(sink)
    archive.add(f"{root}/data.pkl", writing.pickle.done(), align=_ALIGNED)
    archive.add(f"{root}/byteorder", b"little", align=_ALIGNED)
    for key, array in enumerate(writing.storages):
        archive.add_array(f"{root}/data/{key}", array, align=_ALIGNED)
    archive.add(f"{root}/version", b"3\n", align=_ALIGNED)
    archive.finish()


class _Tree:
    """A tree on its way into a pickle; ``storages`` are the arrays to be written, each once, in order."""

    def __init__(self, sink: Sink) -> None:
        self.pickle = Pickling()
        self.storages: list[Outgoing] = []
        self.at = ""
        self._sink = sink
        # The arrays of a tree live as long as it does, so that no two have one id.
        self._keys: dict[int, int] = {}

    def put(self, value: object, beside: Mapping[str, Outgoing], name: str, depth: int) -> None:
        """One value; ``beside`` are the arrays it may share its elements with, ``name`` says where it lies."""
        if depth > _MAX_DEPTH:
            raise fault(self._sink.path, "too_nested")
        self.at = name
        if isinstance(value, Outgoing):
            self._array(value, beside)
        elif isinstance(value, Mapping):
            near = _by_name(value)
            self.pickle.open_dict(value)
            for key, one in value.items():
                self.at = f"{name}.{key}" if name else str(key)
                self.pickle.plain(key)
                self.put(one, near, self.at, depth + 1)
            self.pickle.close_dict(value)
        elif isinstance(value, (list, tuple)):
            is_list = isinstance(value, list)
            (self.pickle.open_list if is_list else self.pickle.open_tuple)(value)
            for place, one in enumerate(value):
                self.put(one, {}, f"{name}.{place}", depth + 1)
            (self.pickle.close_list if is_list else self.pickle.close_tuple)(value)
        else:
            self.pickle.plain(value)

    def _array(self, array: Outgoing, beside: Mapping[str, Outgoing]) -> None:
        refused = cannot_hold(array)
        if refused is not None:
            raise BadFile(self._sink.path, refused.text())
        first = _first(array, beside)
        key = self._keys.setdefault(id(first), len(self.storages))
        if key == len(self.storages):
            self.storages.append(first)
        dtype = array.dtype.name
        typed = _TYPED.get(dtype)
        size = array.count if typed else array.nbytes
        self.pickle.tensor(typed=typed, dtype=dtype, key=str(key), size=size, shape=array.shape)


def _by_name(held: Mapping[object, object]) -> dict[str, Outgoing]:
    """The arrays of a dictionary by their own names and, where those lie deeper, by their keys."""
    arrays = {str(key): outgoing for key, outgoing in held.items() if isinstance(outgoing, Outgoing)}
    return arrays | {outgoing.name: outgoing for outgoing in arrays.values()}


def _first(array: Outgoing, beside: Mapping[str, Outgoing]) -> Outgoing:
    """The array whose elements are written for this one: itself, or the one it is said to be."""
    first, seen = array, {array.name}
    while first.shared_with is not None and first.shared_with not in seen:
        other = beside.get(first.shared_with)
        if other is None or not _alike(array, other):
            break
        seen.add(first.shared_with)
        first = other
    return first


def _alike(outgoing: Outgoing, other: Outgoing) -> bool:
    """Whether the elements of one can be those of the other."""
    return outgoing.count == other.count and outgoing.dtype == other.dtype and outgoing.transposed == other.transposed
