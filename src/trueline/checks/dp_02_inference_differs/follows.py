"""What it can follow from, nearer causes before farther ones."""

from __future__ import annotations

from trueline.checks.engine.following import Rule, shows_in_run

FOLLOWS = (
    # Training data in evaluation comes with its augmentations.
    Rule("tr.07", when=shows_in_run),
    Rule("tr.07"),
)
