"""What it can follow from, nearer causes before farther ones."""

from __future__ import annotations

from trueline.checks.engine.following import Rule, happened, same_line

FOLLOWS = (
    # What is wrong with a dataset makes it another one than the benchmark's.
    Rule("tr.10", given=happened),
    Rule("ds.01", when=same_line),
)
