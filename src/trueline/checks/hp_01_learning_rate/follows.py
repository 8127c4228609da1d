"""What it can follow from, nearer causes before farther ones."""

from __future__ import annotations

from trueline.checks.engine.following import Rule, happened, not_later

FOLLOWS = (
    # Numbers that are not finite in the data make everything after them so.
    Rule("ds.01", when=not_later, given=happened),
    # Inputs of thousands throw it as a high rate does.
    Rule("dp.01", when=not_later, given=happened),
    # Gradients that were never cleared, or clipped while scaled, throw the training as a high rate does.
    Rule("tr.01", given=happened),
    Rule("mp.03", given=happened),
    Rule("mp.02", given=happened),
    # Weights that no gradient reaches, or that nobody updates, stay where they are as with a rate that is too low.
    Rule("tr.02", given=happened),
    Rule("tr.06", given=happened),
)
