"""What it can follow from, nearer causes before farther ones."""

from __future__ import annotations

from trueline.checks.engine.following import Rule, shows_in_run

FOLLOWS = (
    # Training data in evaluation comes with its augmentations; a seed that is set anew gives the same order again.
    Rule("tr.14", when=shows_in_run),
    # One seed for every worker and every pass draws the same order each time; what is evaluated as it is
    # trained on is augmented as well.
    Rule("tr.14"),
)
