"""What it can follow from, nearer causes before farther ones."""

from __future__ import annotations

from trueline.checks.engine.following import Rule, shows_in_run

FOLLOWS = (
    # What a loss is given, where the source or the loss function itself says it.
    Rule(
        "cg.04", when=shows_in_run, said=("cg_04.stretched", "cg_04.script.stretched", "cg_04.script.stretched_by_hand")
    ),
)
