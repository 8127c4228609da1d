"""What it can follow from, nearer causes before farther ones."""

from __future__ import annotations

from trueline.checks.engine.following import Rule, shows_in_run

FOLLOWS = (
    # A gradient that was reduced with another one, or not at all, is another gradient.
    Rule("tr.32", when=shows_in_run),
    Rule("wi.01", when=shows_in_run),
)
