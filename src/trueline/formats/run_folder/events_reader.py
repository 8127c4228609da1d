"""The events of a rank: what lies before the last ``end`` line, found without holding the file in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Final, TypeVar, overload

import msgspec
import numpy as np
import numpy.typing as npt

from trueline.formats.run_folder import layout
from trueline.formats.run_folder.event_shapes import SHAPES
from trueline.formats.run_folder.guard import bad, decode_typed, open_file, open_if_there
from trueline.model.events import KINDS, Event, EventName, UnknownEvent
from trueline.model.json_value import JsonObject


class _Head(msgspec.Struct):
    event: str
    step: int
    phase: str


_heads: Final = msgspec.json.Decoder(_Head)
# Of lines whose head was read, which are objects.
_objects: Final[msgspec.json.Decoder[JsonObject]] = msgspec.json.Decoder()
_NAMES: Final = {kind: name for name, kind in KINDS.items()}
Kind = TypeVar("Kind", bound=Event)
_GROUP = np.dtype([("step", "<i8"), ("phase", "<i8"), ("begin", "<i8"), ("end", "<i8"), ("line", "<i8")])


class EventLog:
    """events.jsonl, read step by step."""

    def __init__(self, root: Path, path: Path) -> None:
        self._root = root
        self.path = path

    @cached_property
    def _groups(self) -> npt.NDArray[np.void]:
        """Where the lines of every finished step begin and end."""
        groups: list[tuple[int, int, int, int, int]] = []
        begin = position = first_line = 0
        with open_if_there(self._root, self.path) as file:
            for number, line in enumerate(_lines(self.path, file) if file is not None else (), 1):
                position += len(line)
                head = decode_typed(self.path, line, _heads, number)
                if head.event != EventName.END:
                    continue
                if head.phase not in layout.PHASE_NUMBERS or not 0 <= head.step < 1 << 63:
                    raise bad(self.path, "bad_line", line=number, reason=f"{head.phase[:40]!r} {head.step}")
                groups.append((head.step, layout.PHASE_NUMBERS[head.phase], begin, position, first_line))
                begin, first_line = position, number
        return np.array(groups, _GROUP)

    def finished(self, phase: str) -> set[int]:
        """The numbers of a phase's finished steps."""
        groups = self._groups
        return set(groups["step"][groups["phase"] == layout.PHASE_NUMBERS[phase]].tolist())

    @overload
    def events(self, *, phase: str | None = None, step: int | None = None) -> Iterator[Event]: ...

    @overload
    def events(
        self, kind: type[Kind], /, *others: type[Kind], phase: str | None = None, step: int | None = None
    ) -> Iterator[Kind]: ...

    def events(self, *kinds: type[Event], phase: str | None = None, step: int | None = None) -> Iterator[Event]:
        """The events of finished steps in order, all or those of some kinds."""
        wanted = frozenset(_NAMES[kind] for kind in kinds) if kinds else None
        chosen = self._groups
        if phase is not None:
            chosen = chosen[chosen["phase"] == layout.PHASE_NUMBERS[phase]]
        if step is not None:
            chosen = chosen[chosen["step"] == step]
        if not len(chosen):
            return
        with open_file(self._root, self.path) as file:
            for _, _, begin, end, before in chosen.tolist():
                yield from self._group(file, wanted, begin, end, before)

    @property
    def steps(self) -> int:
        """How many steps of any phase are finished."""
        return len(self._groups)

    def stretch(self, first: int, last: int, *kinds: type[Event]) -> Iterator[Event]:
        """The events of some kinds from the ``first`` finished step of any phase on, before the ``last``, in order."""
        wanted = frozenset(_NAMES[kind] for kind in kinds)
        chosen = self._groups[first:last]
        if len(chosen):
            with open_file(self._root, self.path) as file:
                for _, _, begin, end, before in chosen.tolist():
                    yield from self._group(file, wanted, begin, end, before)

    def _group(
        self, file: BinaryIO, wanted: Collection[str] | None, begin: int, end: int, before: int
    ) -> Iterator[Event]:
        if file.tell() != begin:
            file.seek(begin)
        for number, line in enumerate(_lines(self.path, file), before + 1):
            begin += len(line)
            head = decode_typed(self.path, line, _heads, number)
            if wanted is None or head.event in wanted:
                yield self._event(head, line, number)
            if begin >= end:
                return

    def _event(self, head: _Head, line: bytes, number: int) -> Event:
        decoder = SHAPES.get(head.event)
        if decoder is None:
            return UnknownEvent(head.step, head.phase, None, None, decode_typed(self.path, line, _objects, number))
        shape = decode_typed(self.path, line, decoder, number)
        return shape.event(decode_typed(self.path, line, _objects, number))


def _lines(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """Whole lines; what a killed process left unfinished at the end is not one."""
    while line := file.readline(layout.MAX_LINE):
        if not line.endswith(b"\n"):
            if len(line) >= layout.MAX_LINE:
                raise bad(path, "long_line", most=layout.MAX_LINE)
            return
        yield line
