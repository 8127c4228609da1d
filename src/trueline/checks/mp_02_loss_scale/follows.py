"""What it can follow from, nearer causes before farther ones."""

from __future__ import annotations

from trueline.checks.engine.following import Rule, written

FOLLOWS = (
    # A rate that throws the weights far away overflows at every loss scale.
    Rule("hp.01", given=written),
)
