"""The file with parts, as both sides have loaded it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from trueline.model.message import message
from trueline.model.run import Line
from trueline.pair.blame import Stage, StageResult, StageVerdict
from trueline.pair.sides.side import Side


@dataclass(frozen=True, slots=True)
class Parts:
    """Which parts each side has (loss, optimizer, schedule, metric, dataset, …), and the line of each."""

    bench: frozenset[str] = frozenset()
    port: frozenset[str] = frozenset()
    bench_lines: Mapping[str, Line] = field(default_factory=dict)
    port_lines: Mapping[str, Line] = field(default_factory=dict)

    def both(self, name: str) -> bool:
        """Whether both sides have a part."""
        return name in self.bench and name in self.port

    def one_only(self, name: str) -> str | None:
        """The role, bench or port, that has a part which the other lacks."""
        if (name in self.bench) == (name in self.port):
            return None
        return "bench" if name in self.bench else "port"


def load_parts(bench: Side, port: Side, path: Path) -> Parts:
    """Let both sides load the file; a SideTrouble says what is wrong with it."""
    names: list[frozenset[str]] = []
    lines: list[dict[str, Line]] = []
    for role, side in (("bench", bench), ("port", port)):
        content, _ = side.ask({"do": "parts", "role": role, "path": str(path.absolute())})
        names.append(frozenset(content["names"]))
        lines.append({name: Line.from_json(one) for name, one in content["lines"].items()})
    return Parts(names[0], names[1], lines[0], lines[1])


def skipped(stage: Stage, parts: Parts, name: str) -> StageResult:
    """A stage that has nothing to compare, and which function is missing for it."""
    has = parts.one_only(name)
    if has is None:
        text = message("pair_parts.none_given", bench=f"bench_{name}", port=f"port_{name}")
    else:
        other = "port" if has == "bench" else "bench"
        text = message("pair_parts.one_side_only", present=f"{has}_{name}", missing=f"{other}_{name}")
    return StageResult(stage, StageVerdict.SKIPPED, text)
