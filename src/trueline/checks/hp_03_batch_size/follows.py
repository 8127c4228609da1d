"""What it can follow from, nearer causes before farther ones."""

from __future__ import annotations

from trueline.checks.engine.following import Rule, beside_a_run

FOLLOWS = (
    # Gradients that are added up make the batch of an update larger than in the benchmark.
    Rule("tr.03", given=beside_a_run),
)
