"""Every item is decided by reading a script beside its benchmark's, too: what differs and what that breaks."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.bench_script.telling import against_bench
from trueline.checks.engine.check import check
from trueline.model.finding import Finding
from trueline.script.script import Script


def beside_bench(code: str) -> None:
    """Register this way to decide an item."""

    def from_both_scripts(script: Script, bench_script: Script) -> Iterator[Finding]:
        """Differences that break the item, at the lines of the script."""
        yield from against_bench(script, bench_script, code)

    check(code, decides=False)(from_both_scripts)
