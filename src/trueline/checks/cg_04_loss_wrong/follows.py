"""What it can follow from, nearer causes before farther ones."""

from __future__ import annotations

from trueline.checks.engine.following import Rule, compared, seen_later, shows_in_run

FOLLOWS = (
    # Logarithms that add up over the samples are none of classes.
    Rule("tr.11", when=shows_in_run),
    # What is not finite cannot be computed again.
    Rule("mp.01", when=seen_later),
    Rule("ds.01", when=seen_later),
    # A penalty that is wrong makes the loss another one than the benchmark's.
    Rule("mp.04", given=compared),
)
