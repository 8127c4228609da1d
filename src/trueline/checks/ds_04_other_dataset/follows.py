"""What it can follow from, nearer causes before farther ones."""

from __future__ import annotations

from trueline.checks.engine.following import Rule

FOLLOWS = (
    # What is wrong with a dataset makes it another one than the benchmark's.
    Rule("ds.01"),
    Rule("ds.02"),
    Rule("ds.03"),
    Rule("tr.10"),
    Rule("tr.07"),
    Rule("dp.01"),
    Rule("dp.02"),
    Rule("dp.04"),
    Rule("dp.05"),
)
