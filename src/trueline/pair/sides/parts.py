"""The file with parts, as both sides have loaded it."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from trueline.adapters.guest.trouble import SideTrouble
from trueline.model.location import Location
from trueline.model.message import message
from trueline.model.trouble import BadFile
from trueline.pair.blame import Stage, StageResult, StageVerdict
from trueline.pair.questions.parts import LoadedParts, LoadParts
from trueline.pair.sides.side import Side

# What a file may do in one process and not in another.
_IMPORTING: Final = ("side.raised_parts", "side.no_package", "side.no_framework", "side.exits_parts")


@dataclass(frozen=True, slots=True)
class Parts:
    """Which parts each side has (loss, optimizer, schedule, metric, dataset, …), and the line of each."""

    bench: frozenset[str] = frozenset()
    port: frozenset[str] = frozenset()
    bench_lines: Mapping[str, Location] = field(default_factory=dict)
    port_lines: Mapping[str, Location] = field(default_factory=dict)

    def both(self, name: str) -> bool:
        """Whether both sides have a part."""
        return name in self.bench and name in self.port

    def one_only(self, name: str) -> str | None:
        """The role, bench or port, that has a part which the other lacks."""
        if (name in self.bench) == (name in self.port):
            return None
        return "bench" if name in self.bench else "port"


def load_parts(bench: Side, port: Side, path: Path) -> Parts:
    """Let both sides load the file; a Trouble says what is wrong with it, and names a side that alone cannot."""
    if not path.is_file():
        raise BadFile(path, os.strerror(errno.EISDIR if path.is_dir() else errno.ENOENT))
    there, here = _loaded(bench, "bench", path), _loaded(port, "port", path)
    if isinstance(there, SideTrouble):
        raise there if isinstance(here, SideTrouble) else _only_here(bench, there)
    if isinstance(here, SideTrouble):
        raise _only_here(port, here)
    return Parts(frozenset(there.names), frozenset(here.names), there.lines, here.lines)


def _loaded(side: Side, role: str, path: Path) -> LoadedParts | SideTrouble:
    """The parts that a side has, or why it could not import the file."""
    try:
        return side.answer(LoadParts(role, str(path.absolute()), str(path)))
    except SideTrouble as trouble:
        if trouble.message.id not in _IMPORTING:
            raise
        return trouble


def _only_here(side: Side, trouble: SideTrouble) -> SideTrouble:
    """The other side could import it."""
    found = SideTrouble("pair_parts.only_here", side=side.name, problem=trouble.message)
    found.output = trouble.output
    return found


def skipped(stage: Stage, parts: Parts, name: str) -> StageResult:
    """A stage that has nothing to compare, and which function is missing for it."""
    has = parts.one_only(name)
    if has is None:
        text = message("pair_parts.none_given", bench=f"bench_{name}", port=f"port_{name}")
    else:
        other = "port" if has == "bench" else "bench"
        text = message("pair_parts.one_side_only", present=f"{has}_{name}", missing=f"{other}_{name}")
    return StageResult(stage, StageVerdict.SKIPPED, text)
