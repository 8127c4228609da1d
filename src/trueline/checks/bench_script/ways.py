"""Every item, decided by reading a script beside its benchmark's: what the one does otherwise and what that breaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.checks.bench_script.telling import against_bench
from trueline.checks.engine.check import Asking, check
from trueline.model.finding import Finding
from trueline.script.script import Script

# The families, and how many items each has.
_ITEMS: Final = {"api": 2, "cg": 4, "dp": 5, "ds": 4, "hp": 3, "mp": 4, "tr": 15, "wi": 2}


def _way(code: str) -> Asking:
    def from_both_scripts(script: Script, bench_script: Script) -> Iterator[Finding]:
        """Differences that break the item, at the lines of the script."""
        yield from against_bench(script, bench_script, code)

    return from_both_scripts


for _family, _count in _ITEMS.items():
    for _number in range(1, _count + 1):
        _code = f"{_family}.{_number:02}"
        check(_code)(_way(_code))
