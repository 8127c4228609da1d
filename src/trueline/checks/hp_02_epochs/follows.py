"""What it can follow from, nearer causes before farther ones."""

from __future__ import annotations

from trueline.checks.engine.following import Rule

FOLLOWS = (
    # Weights that nobody updates, or no gradient reaches, learn nothing in any number of epochs.
    Rule("tr.06"),
    Rule("tr.02"),
    # What runs away, or does not move, is past its best or still falling whatever the number of epochs.
    Rule("hp.01"),
    Rule("mp.01"),
)
