"""What it can follow from, nearer causes before farther ones."""

from __future__ import annotations

from trueline.checks.engine.following import Rule, not_later, same_line, written

FOLLOWS = (
    # Weights that are zero, or lost on the way, give gradients that are zero.
    Rule("wi.01"),
    # What the optimizer does not hold is never updated.
    Rule("tr.06"),
    # A term of the loss that is only a number: the layers behind it get nothing.
    Rule("tr.02", when=same_line),
    # Inputs of thousands put units where they have no slope.
    Rule("dp.01", when=not_later),
    # A rate that throws the weights far away leaves units without a slope.
    Rule("hp.01", given=written, said=("hp_01.script.high",)),
)
