"""What it can follow from, nearer causes before farther ones."""

from __future__ import annotations

from trueline.checks.engine.following import Rule

FOLLOWS = (
    # A loss that takes the wrong numbers may have no gradient.
    Rule("tr.01"),
    Rule("cg.04"),
)
