"""Which finding follows from which: only roots are counted and shown on top."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from trueline.checks.engine.following import Rule, is_beside_a_script, is_read
from trueline.checks.engine.listing import all_rules
from trueline.model.finding import PLACING, READING, READING_BOTH, Conclusion, Finding

Rules = Mapping[str, Sequence[Rule]]


def with_roots(findings: Iterable[Finding], rules: Rules | None = None) -> list[Finding]:
    """The findings again, those that follow from another one with its code; what a check has said itself stays."""
    rules = all_rules() if rules is None else rules
    told = list(findings)
    found = [one for one in told if one.conclusion is Conclusion.FOUND]
    rooted = [_with_root(one, found, rules) if one.conclusion is Conclusion.FOUND else one for one in told]
    circling = _circling(rooted)
    return [replace(one, because=None) if one.code in circling else one for one in rooted]


def _with_root(one: Finding, found: Sequence[Finding], rules: Rules) -> Finding:
    if one.because is not None:
        # A root that nobody has found is none.
        return one if any(other.code == one.because for other in found) else replace(one, because=None)
    known = next((other for other in found if _tells_it_itself(other, one)), None)
    if known is not None:
        return replace(one, because=known.code)
    for rule in rules.get(one.code, ()):
        if any(_fits(rule, other, one) for other in found):
            return replace(one, because=rule.root)
    return one


def _tells_it_itself(root: Finding, other: Finding) -> bool:
    """What a script shows by itself to be wrong on a line is why it differs there from the benchmark's."""
    if root.seen_by not in ((READING,), (PLACING,)) or other.seen_by != (READING_BOTH,) or root.because is not None:
        return False
    same = (root.where.file, root.where.line) == (other.where.file, other.where.line)
    return same and root.where.line > 0 and root.code != other.code


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
    # What says itself that it follows from the other is not its root.
    if root.code != rule.root or root.because == other.code:
        return False
    # What the source itself shows does not follow from its being unlike the benchmark's.
    if is_beside_a_script(root) and is_read(other):
        return False
    if (rule.said and root.message.id not in rule.said) or (rule.given is not None and not rule.given(root, other)):
        return False
    return rule.when is None or rule.when(root.where, other.where)
