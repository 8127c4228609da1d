"""What a script does otherwise than its benchmark's: which weights are one."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.check import check
from trueline.checks.of_pair.telling import against_bench
from trueline.model.finding import Finding
from trueline.script.script import Script


@check("cg.01")
def from_both_scripts(script: Script, bench_script: Script) -> Iterator[Finding]:
    """Differences of this kind, at the lines of the script."""
    yield from against_bench(script, bench_script, "cg_01_against_bench.differs", "cg_01_against_bench.nothing")
