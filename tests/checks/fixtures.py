"""Small scripts with a fault of one item, or with none, and what they say about themselves.

``tests/checks/dp_03/bad_torch_NAME.py``. Marks, in comments:

- ``# expect: dp.03`` at the end of a line: reading the script finds it on exactly that line.
- ``# run: dp.03 --tensors --steps 0:3`` in the first lines: a run that is recorded with these options shows it, and
  nothing else; ``# run:`` alone shows nothing.
- ``# together: mp.01`` at the end of a line: script and run together name this line, where neither does alone.
- ``# ranks: 2`` in the first lines: so many processes record one run at once, each with its rank and what it needs to
  meet the others in its environment (torch: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT; MindSpore: RANK_ID, RANK_SIZE,
  and a scheduler for scripts that call ``init()``).
- ``# launched: 2`` in the first lines: so many processes are started by torchrun or msrun, and may fail.
- ``# port-of: bench_torch_NAME.py`` in the first lines: the script that reading compares this one with.
- ``# bench: bench_torch_NAME.py`` in the first lines: that script's run, recorded alike, is the benchmark's.
"""

from __future__ import annotations

import os
import re
import shlex
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
# Of all fixtures these run with the tests: one in so many, chosen by name, so that new ones do not change the choice.
_ONE_IN: Final = 8
_HEAD: Final = 12
_NAME: Final = re.compile(r"(good|bad)_(torch|mindspore)_\w+\.py")
_EXPECTED: Final = re.compile(r"#\s*expect:\s*([a-z]+\.\d\d(?:[,\s]+[a-z]+\.\d\d)*)\s*$")
_TOGETHER: Final = re.compile(_EXPECTED.pattern.replace("expect", "together"))
_CODE: Final = re.compile(r"[a-z]+\.\d\d")


@dataclass(frozen=True, slots=True)
class RunMark:
    """What a recorded run is to show: these codes and no others; and how it is recorded."""

    codes: frozenset[str]
    options: tuple[str, ...] = ()
    ranks: int = 1
    launched: bool = False
    bench: Path | None = None


@dataclass(frozen=True, slots=True)
class Fixture:
    """One script: the item it was written for, and its marks; ``expected`` are (code, line)."""

    path: Path
    code: str
    good: bool
    framework: str
    expected: tuple[tuple[str, int], ...]
    run: RunMark | None
    port_of: Path | None = None
    # What script and run together are to show: (code, line).
    together: tuple[tuple[str, int], ...] = ()

    @property
    def name(self) -> str:
        """``dp_03/bad_torch_NAME``."""
        return f"{self.path.parent.name}/{self.path.stem}"


def all_fixtures() -> list[Fixture]:
    """Every script in the folders of items, by name."""
    paths = sorted(FOLDER.glob("*/*.py"))
    return [_read(path, found[1], found[2]) for path in paths if (found := _NAME.fullmatch(path.name))]


def chosen(fixtures: list[Fixture]) -> list[Fixture]:
    """One in eight of them; all where TRUELINE_WHOLE (or TRUELINE_FIXTURES, which still forks) is set."""
    if os.environ.get("TRUELINE_WHOLE") or os.environ.get("TRUELINE_FIXTURES"):
        return fixtures
    return [one for one in fixtures if zlib.crc32(one.name.encode()) % _ONE_IN == 0]


def _read(path: Path, kind: str, framework: str) -> Fixture:
    lines = path.read_text("utf-8").splitlines()
    expected, together = _marked(lines, _EXPECTED), _marked(lines, _TOGETHER)
    said = _said(lines)
    bench = path.with_name(said["port-of"]) if "port-of" in said else None
    code = path.parent.name.replace("_", ".")
    return Fixture(path, code, kind == "good", framework, expected, _run_mark(path, said), bench, together)


def _marked(lines: list[str], mark: re.Pattern[str]) -> tuple[tuple[str, int], ...]:
    """(code, line) of every mark."""
    return tuple(
        (code, number)
        for number, line in enumerate(lines, 1)
        if (found := mark.search(line))
        for code in _CODE.findall(found[1])
    )


def _said(lines: list[str]) -> dict[str, str]:
    return {
        name: text.strip()
        for line in lines[:_HEAD]
        for name, colon, text in [line.removeprefix("# ").partition(":")]
        if colon and line.startswith("# ")
    }


def _run_mark(path: Path, said: dict[str, str]) -> RunMark | None:
    if "run" not in said:
        return None
    words = shlex.split(said["run"])
    codes = [word for word in words if _CODE.fullmatch(word)]
    bench = path.with_name(said["bench"]) if "bench" in said else None
    ranks = int(said.get("ranks", said.get("launched", "1")))
    return RunMark(frozenset(codes), tuple(words[len(codes) :]), ranks, "launched" in said, bench)
