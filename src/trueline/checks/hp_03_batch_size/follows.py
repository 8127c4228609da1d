"""What it can follow from, nearer causes before farther ones."""

from __future__ import annotations

from trueline.checks.engine.following import Rule, beside_a_run

FOLLOWS = (
    # Layers that are shared, cut off, made anew or compared otherwise lead elsewhere than in the benchmark;
    # gradients that are added up make the batch of an update larger than there.
    Rule("tr.03", given=beside_a_run),
)
