"""Which finding follows from which: only roots are counted and shown on top."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from trueline.model.finding import Conclusion, Finding, Where


def _not_later(root: Where, other: Where) -> bool:
    """The root was there when the other one showed; what has no step was there from the beginning."""
    return other.step is None or (root.step or 0) <= other.step


def _shows_in_run(root: Where, other: Where) -> bool:
    """What a run has shown; what reading has found has a line of its own to answer for."""
    del root
    return other.step is not None


def _same_line(root: Where, other: Where) -> bool:
    return (root.file, root.line) == (other.file, other.line)


@dataclass(frozen=True, slots=True)
class Rule:
    """Findings of ``code`` follow from one of ``root`` where their places (root, other) allow it."""

    code: str
    root: str
    when: Callable[[Where, Where], bool] | None = None


# The first rule that fits names the root, so nearer causes stand before farther ones.
RULES: Final[Sequence[Rule]] = (
    # Numbers that are not finite in the data make everything after them so.
    Rule("mp.01", "ds.01", _not_later),
    Rule("hp.01", "ds.01", _not_later),
    # Weights that are zero, or lost on the way, give gradients that are zero.
    Rule("cg.02", "wi.01"),
    Rule("cg.03", "wi.01"),
    Rule("tr.13", "wi.01"),
    # Without a gradient to begin with, none arrives; a loss that takes the wrong numbers may have none.
    Rule("tr.02", "tr.01"),
    Rule("tr.02", "cg.04"),
    Rule("cg.02", "tr.06"),
    # Of what is cut off from the loss, the layers before it get no gradient, and lead nowhere.
    Rule("cg.02", "tr.02", _same_line),
    Rule("cg.02", "tr.02", _shows_in_run),
    Rule("cg.03", "tr.02", _shows_in_run),
    # Training data in evaluation comes with its augmentations; a seed that is set anew gives the same order again.
    Rule("dp.02", "tr.07", _shows_in_run),
    Rule("dp.03", "tr.14", _shows_in_run),
    # Inputs of thousands put units where they have no slope.
    Rule("cg.02", "dp.01", _not_later),
    Rule("tr.13", "dp.01", _not_later),
    # A loss scale that is too high, or inputs of thousands, overflow.
    Rule("mp.01", "mp.02", _not_later),
    Rule("mp.01", "dp.01", _not_later),
    Rule("mp.01", "hp.01"),
    # What is not finite cannot be computed again.
    Rule("cg.04", "mp.01", _not_later),
    Rule("cg.04", "ds.01", _not_later),
    Rule("hp.01", "dp.01", _not_later),
    # Gradients that were never cleared, or clipped while scaled, throw the training as a high rate does.
    Rule("hp.01", "tr.01"),
    Rule("hp.01", "mp.03"),
    Rule("hp.01", "mp.02"),
    # Weights that no gradient reaches, or that nobody updates, stay where they are as with a rate that is too low.
    Rule("hp.01", "tr.02"),
    Rule("hp.01", "tr.06"),
)


def with_roots(findings: Iterable[Finding], rules: Sequence[Rule] = RULES) -> list[Finding]:
    """The findings again, those that follow from another one with its code; what a check has said itself stays."""
    told = list(findings)
    found = [one for one in told if one.conclusion is Conclusion.FOUND]
    rooted = [_with_root(one, found, rules) if one.conclusion is Conclusion.FOUND else one for one in told]
    circling = _circling(rooted)
    return [replace(one, because=None) if one.code in circling else one for one in rooted]


def _with_root(one: Finding, found: Sequence[Finding], rules: Sequence[Rule]) -> Finding:
    if one.because is not None:
        # A root that nobody has found is none.
        return one if any(other.code == one.because for other in found) else replace(one, because=None)
    for rule in rules:
        if rule.code == one.code and any(_fits(rule, other, one) for other in found):
            return replace(one, because=rule.root)
    return one


def _circling(findings: Sequence[Finding]) -> set[str]:
    """Codes that follow only from each other: what nobody begins with is no root of anything."""
    because: dict[str, set[str | None]] = {}
    for one in findings:
        if one.conclusion is Conclusion.FOUND:
            because.setdefault(one.code, set()).add(one.because)
    led: set[str | None] = {None}
    while more := {code for code, roots in because.items() if code not in led and roots & led}:
        led |= more
    return set(because) - led


def _fits(rule: Rule, root: Finding, other: Finding) -> bool:
    return root.code == rule.root and (rule.when is None or rule.when(root.where, other.where))
