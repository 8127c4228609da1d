"""What it can follow from, nearer causes before farther ones."""

from __future__ import annotations

from trueline.checks.engine.following import Rule, compared

FOLLOWS = (
    # Weights that go into another network make two networks of the benchmark's one.
    Rule("wi.02", given=compared),
)
