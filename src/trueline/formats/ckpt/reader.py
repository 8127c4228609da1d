"""MindSpore's .ckpt: a protobuf list of named tensors, found without reading them and without MindSpore."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from trueline.formats import ms_names
from trueline.formats.ckpt.entries import Entry, is_cut, read_entries
from trueline.formats.ckpt.types import TEXT, TYPES
from trueline.formats.files import fault, map_file, open_file
from trueline.formats.printable import printable
from trueline.formats.stored import Stored
from trueline.formats.weights import MODEL, Weights
from trueline.formats.wire import BadWire, varint
from trueline.model.message import message
from trueline.model.trouble import BadFile

OPTIMIZER: Final = "optimizer"
_MOST_TEXT: Final = 1 << 18
_HEAD: Final = 4096
_TRAILER: Final = b"crc_num"
_TRAILER_SIZE: Final = len(_TRAILER) + 10
_ENCRYPTED: Final = tuple(bytes((first, 0x5E, 0x3A, 0x7F)) for first in (0xD8, 0xD9, 0xDA))


def looks_like_ckpt(path: Path) -> bool:
    """Whether a file begins as a MindSpore checkpoint does, encrypted or not."""
    with open_file(path) as file:
        head = file.read(_HEAD)
    return head.startswith(_ENCRYPTED) or _begins_with_a_name(head)


def _begins_with_a_name(head: bytes) -> bool:
    view = memoryview(head)
    try:
        if not head.startswith(b"\x0a"):
            return False
        _, at = varint(view, 1)
        if head[at : at + 1] != b"\x0a":
            return False
        size, at = varint(view, at + 1)
    except BadWire:
        return False
    # After the name comes a tensor.
    return size > 0 and b"\0" not in head[at : at + size] and head[at + size : at + size + 1] in (b"\x12", b"\x1a", b"")


def read_ckpt(path: Path) -> Weights:
    """The checkpoint's tensors: the network's under "", an optimizer's under "optimizer", plain values as others."""
    data = map_file(path)
    if bytes(data[:4]).startswith(_ENCRYPTED):
        raise BadFile(path, message("ckpt.encrypted").text())
    if not _begins_with_a_name(bytes(data[:_HEAD])):
        raise BadFile(path, message("ckpt.not_ckpt").text())
    end = len(data)
    if end > _TRAILER_SIZE and bytes(data[end - _TRAILER_SIZE : end - 10]) == _TRAILER:
        end -= _TRAILER_SIZE
    try:
        entries = read_entries(data[:end], path)
    except (BadWire, UnicodeDecodeError):
        raise fault(path, "cut_short" if is_cut(data[:end]) else "damaged") from None
    texts = {name: _text(data, entry) for name, entry in entries.items() if entry.type == TEXT}
    return _sorted(
        path, {name: _stored(path, name, entry) for name, entry in entries.items() if name not in texts}, texts
    )


def _stored(path: Path, name: str, entry: Entry) -> Stored:
    dtype = TYPES.get(entry.type)
    if dtype is None:
        raise BadFile(path, message("ckpt.type", name=printable(name), type=printable(entry.type)).text())
    # Older versions write a number's shape so.
    shape = () if entry.shape == (0,) and entry.size else entry.shape
    stored = Stored(name, shape, dtype, path, tuple(entry.segments))
    stored.check()
    return stored


def _text(data: memoryview, entry: Entry) -> str:
    """A text is kept as NumPy does: four bytes a character, padded with zeros."""
    offset, size = entry.segments[0]
    return bytes(data[offset : offset + min(size, _MOST_TEXT)]).decode("utf-32-le", "replace").rstrip("\0")


def _sorted(path: Path, arrays: Mapping[str, Stored], texts: Mapping[str, str]) -> Weights:
    sections: dict[str, dict[str, Stored]] = {MODEL: {}}
    numbers: dict[str, Stored] = {}
    # A lone number is a weight, or one that the user appended: those come last, after what the optimizer keeps.
    unsure: dict[str, Stored] = {}
    beside = False
    for name, stored in arrays.items():
        section = _section(name, stored, arrays)
        if section is None:
            numbers[name] = stored
        elif section == MODEL and beside and not stored.shape and "." not in name:
            unsure[name] = stored
            continue
        else:
            sections[MODEL].update(unsure)
            unsure = {}
            own = name.removeprefix(f"{section}.") if section == ms_names.EMA else name
            sections.setdefault(section, {})[own] = stored
        beside = section != MODEL
    others = {name: stored.array().item() for name, stored in {**numbers, **unsure}.items()}
    return Weights(path, "ckpt", sections, others={**others, **texts})


def _section(name: str, stored: Stored, arrays: Mapping[str, Stored]) -> str | None:
    """Where a tensor belongs; None for the number of an epoch or a step."""
    if ms_names.slot_of(name, arrays) or (len(stored.shape) <= 1 and ms_names.is_training_state(name)):
        return OPTIMIZER
    if ms_names.is_second_order(name, arrays):
        return OPTIMIZER
    if name.startswith(f"{ms_names.EMA}.") and name.removeprefix(f"{ms_names.EMA}.") in arrays:
        return ms_names.EMA
    return None if not stored.shape and name in ms_names.PROGRESS else MODEL
