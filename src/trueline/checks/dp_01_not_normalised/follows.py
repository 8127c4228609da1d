"""What it can follow from, nearer causes before farther ones."""

from __future__ import annotations

from trueline.checks.engine.following import Rule, happened, not_later

FOLLOWS = (
    # So do markers such as 999, which no normalisation was meant for.
    Rule("ds.01", when=not_later, given=happened),
)
