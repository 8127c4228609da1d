"""What it can follow from, nearer causes before farther ones."""

from __future__ import annotations

from trueline.checks.engine.following import Rule, happened, same_line

FOLLOWS = (
    # Labels that are shifted, or stand for missing values, are wrong ones.
    Rule("tr.10", given=happened),
    Rule("ds.01", when=same_line),
)
