"""What it can follow from, nearer causes before farther ones."""

from __future__ import annotations

from trueline.checks.engine.following import Rule, shows_in_run

FOLLOWS = (
    # A seed that is set anew, or one for every worker and pass, gives the same order again.
    Rule("tr.14", when=shows_in_run),
    Rule("tr.14"),
)
