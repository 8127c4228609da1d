"""What it can follow from, nearer causes before farther ones."""

from __future__ import annotations

from trueline.checks.engine.following import Rule, beside_a_run, same_line

FOLLOWS = (
    # Weights that are zero, or lost on the way, give gradients that are zero.
    Rule("wi.01"),
    # A term of the loss that is only a number: the layers behind it get nothing, and lead nowhere.
    Rule("tr.02", when=same_line),
    # A layer that stands in another one's place leaves that one out.
    Rule("cg.01", when=same_line),
    # Layers that are shared, cut off, made anew or compared otherwise lead elsewhere than in the benchmark.
    Rule("cg.01", given=beside_a_run),
    Rule("cg.02", given=beside_a_run),
    Rule("cg.04", given=beside_a_run),
    Rule("tr.02", given=beside_a_run),
    Rule("tr.13", given=beside_a_run),
)
