"""What it can follow from, nearer causes before farther ones."""

from __future__ import annotations

from trueline.checks.engine.following import Rule, began_before, not_later

_UNBOUNDED = ("cg_04.script.raw_logarithms", "cg_04.script.not_bounded", "cg_04.not_logarithms")
FOLLOWS = (
    # Numbers that are not finite in the data make everything after them so.
    Rule("ds.01", when=not_later),
    # A loss scale that is too high, or inputs of thousands, overflow.
    Rule("mp.02", when=not_later),
    Rule("dp.01", when=not_later),
    Rule("hp.01"),
    # A loss that falls without end ends in numbers that are not finite.
    Rule(
        "cg.04",
        when=began_before,
        said=_UNBOUNDED,
    ),
)
