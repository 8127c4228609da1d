"""What it can follow from, nearer causes before farther ones."""

from __future__ import annotations

from trueline.checks.engine.following import Rule, shows_in_run

FOLLOWS = (
    # Layers that a network does not know keep their mode.
    Rule("tr.13", when=shows_in_run),
)
