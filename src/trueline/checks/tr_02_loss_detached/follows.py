"""What it can follow from, nearer causes before farther ones."""

from __future__ import annotations

from trueline.checks.engine.following import Rule

FOLLOWS = (
    # Without a gradient to begin with, none arrives; a loss that takes the wrong numbers may have none.
    Rule("tr.01"),
    Rule("cg.04"),
)
