"""Event files, which TensorBoard and MindSpore write alike: framed records, each an event with a step and scalars."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from typing import Final, TypeAlias

from trueline.formats.checksums import all_fit, masked_crc
from trueline.formats.files import fault, map_file
from trueline.formats.wire import BadWire, Wire, fields, signed
from trueline.model.curve import Curve
from trueline.model.message import message
from trueline.model.trouble import BadFile

# Of longer records (images, whole graphs) only the frame is checked: summing them up takes long, and no scalar is in
# them as a rule.
_LONGEST_CHECKED: Final = 1 << 16
# So many records are held at once: what stands for one in memory is many times a small one.
_AT_ONCE: Final = 1 << 16
_HEAD: Final = Struct("<QI")
_SUM: Final = Struct("<I")
_FLOAT: Final = Struct("<f")

ValueReader: TypeAlias = Callable[[memoryview], "tuple[str, float] | None"]
Points: TypeAlias = "dict[str, dict[int, float]]"


@dataclass(frozen=True, slots=True)
class Tool:
    """Who writes event files: the version that its first event tells, and how it writes a value of a summary."""

    name: str
    version: str
    read_value: ValueReader


def event_version(head: bytes) -> str | None:
    """What an event file's first bytes say of its version (``brain.Event:2``); None where they are of no such file."""
    if len(head) < _HEAD.size:
        return None
    size, crc = _HEAD.unpack_from(head)
    if masked_crc(head[:8]) != crc:
        return None
    try:
        for number, kind, value, _ in fields(memoryview(head)[_HEAD.size : _HEAD.size + size]):
            if number == 3 and kind == Wire.BYTES and not isinstance(value, int):
                return str(value, "utf-8", "replace")[:100]
    except BadWire:
        pass
    return ""


def looks_like_events(head: bytes) -> bool:
    """Whether a file's first bytes are those of an event file."""
    return event_version(head) is not None


def curves(points: Points, prefix: str = "") -> list[Curve]:
    """The curve of each tag, its steps in rising order."""
    return [
        Curve(prefix + tag, steps := sorted(found), [found[step] for step in steps]) for tag, found in points.items()
    ]


def read_points(paths: Iterable[Path], tool: Tool) -> Points:
    """Every scalar of the files of one run, in their order; of a step that is told twice the last value is taken."""
    points: Points = {}
    for path in paths:
        try:
            for tag, step, value in _scalars(path, tool):
                points.setdefault(tag, {})[step] = value
        except BadWire:
            raise fault(path, "damaged") from None
    return points


def _scalars(path: Path, tool: Tool) -> Iterator[tuple[str, int, float]]:
    for record in _records(path, tool):
        step = 0
        summary: memoryview | None = None
        for number, _, value, _ in fields(record):
            if number == 2 and isinstance(value, int):
                step = signed(value)
            elif (
                number == 3
                and not isinstance(value, int)
                and not str(value, "utf-8", "replace").startswith(tool.version)
            ):
                raise BadFile(path, message("events.not_events", tool=tool.name).text())
            elif number == 5 and not isinstance(value, int):
                summary = value
        if summary is None:
            continue
        for number, _, value, _ in fields(summary):
            found = tool.read_value(value) if number == 1 and not isinstance(value, int) else None
            if found is not None:
                yield found[0], step, found[1]


def _records(path: Path, tool: Tool) -> Iterator[memoryview]:
    """The records that are whole, checked some at a time. One cut short at the end is what a killed writer leaves."""
    data = map_file(path)
    at: int | None = 0
    while at is not None:
        found, at = _checked(path, data, at, tool)
        yield from found


def _checked(path: Path, data: memoryview, at: int, tool: Tool) -> tuple[list[memoryview], int | None]:
    """The next records, and where those after them begin."""
    lengths: list[memoryview] = []
    found: list[memoryview] = []
    length_sums: list[int] = []
    sums: list[int] = []
    after: int | None = None
    while len(data) - at >= _HEAD.size:
        if len(found) == _AT_ONCE:
            after = at
            break
        size, crc = _HEAD.unpack_from(data, at)
        end = at + _HEAD.size + size
        # A length that leads beyond the end may be a wrong one: only a right one says that the file was cut.
        if end + _SUM.size > len(data) or not at:
            if masked_crc(data[at : at + 8]) != crc:
                raise BadFile(path, _wrong(tool, first=not at))
            if end + _SUM.size > len(data):
                break
        lengths.append(data[at : at + 8])
        length_sums.append(crc)
        found.append(data[at + _HEAD.size : end])
        sums.append(_SUM.unpack_from(data, end)[0])
        at = end + _SUM.size
    short = [n for n, record in enumerate(found) if len(record) <= _LONGEST_CHECKED]
    if not all_fit(lengths, length_sums) or not all_fit([found[n] for n in short], [sums[n] for n in short]):
        raise BadFile(path, _wrong(tool, first=False))
    return found, after


def _wrong(tool: Tool, *, first: bool) -> str:
    return message("events.not_events", tool=tool.name).text() if first else message("events.wrong_sum").text()


def float_of(value: memoryview) -> float:
    """A float of the wire format."""
    if len(value) != _FLOAT.size:
        raise BadWire("not a float")
    return float(_FLOAT.unpack(value)[0])
