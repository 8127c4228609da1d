"""The entries of a checkpoint: where each named tensor lies in the file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from trueline.formats.files import fault
from trueline.formats.printable import printable
from trueline.formats.stored import MAX_DIMENSIONS
from trueline.formats.wire import BadWire, Wire, fields, signed, varint
from trueline.model.message import message
from trueline.model.trouble import BadFile


@dataclass(slots=True)
class Entry:
    """One tensor of the file; a big one is written in several slices, each with the whole shape."""

    shape: tuple[int, ...]
    type: str
    segments: list[tuple[int, int]] = field(default_factory=list)

    @property
    def size(self) -> int:
        """How many bytes it takes."""
        return sum(size for _, size in self.segments)


def is_cut(data: memoryview) -> bool:
    """Whether a part that runs past the end, and nothing before it, is the trouble."""
    at = 0
    try:
        while at < len(data):
            if data[at] != 0x0A:
                return False
            size, at = varint(data, at + 1)
            at += size
    except BadWire:
        return True
    return at > len(data)


def read_entries(data: memoryview, path: Path) -> dict[str, Entry]:
    """Each tensor by name; a BadWire or UnicodeDecodeError where it is not a list of them."""
    found: dict[str, Entry] = {}
    last: str | None = None
    for number, kind, value, at in fields(data):
        if number != 1 or kind != Wire.BYTES or isinstance(value, int):
            raise BadWire("not a value")
        name, entry = _value(value, at, path)
        if name == last:
            whole = found[name]
            if (entry.type, entry.shape) != (whole.type, whole.shape):
                raise fault(path, "bad_array", name=printable(name))
            whole.segments += entry.segments
        else:
            # As MindSpore reads it: of a name that comes again later, the last is taken.
            found[name] = entry
        last = name
    return found


def _value(data: memoryview, base: int, path: Path) -> tuple[str, Entry]:
    name: str | None = None
    tensor: tuple[memoryview, int] | None = None
    is_map = False
    for number, kind, value, at in fields(data):
        if kind != Wire.BYTES or isinstance(value, int):
            raise BadWire("not a value")
        if number == 1:
            name = str(value, "utf-8")
        elif number == 2:
            tensor = value, base + at
        is_map |= number == 3
    if name is None or (tensor is None and not is_map):
        raise BadWire("not a value")
    if tensor is None:
        raise BadFile(path, message("ckpt.map", name=printable(name)).text())
    return name, _tensor(*tensor)


def _tensor(data: memoryview, base: int) -> Entry:
    shape: list[int] = []
    type_name: str | None = None
    segments: list[tuple[int, int]] = []
    for number, _, value, at in fields(data):
        if number == 1:
            shape += [signed(value)] if isinstance(value, int) else _packed(value)
            if len(shape) > MAX_DIMENSIONS:
                raise BadWire("too many dimensions")
        elif isinstance(value, int):
            raise BadWire("not a tensor")
        elif number == 2:
            type_name = str(value, "utf-8")
        elif number == 3:
            segments = [(base + at, len(value))]
    if type_name is None or not segments or any(side < 0 for side in shape):
        raise BadWire("not a tensor")
    return Entry(tuple(shape), type_name, segments)


def _packed(data: memoryview) -> list[int]:
    found: list[int] = []
    at = 0
    while at < len(data) and len(found) <= MAX_DIMENSIONS:
        value, at = varint(data, at)
        found.append(signed(value))
    return found
