"""Which finding follows from which: only roots are counted and shown on top."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from trueline.checks.engine.following import Rule, is_beside_a_script, is_read
from trueline.checks.engine.listing import all_rules
from trueline.checks.engine.placing import Placed
from trueline.model.finding import PLACING, READING, READING_BOTH, Conclusion, Finding

Rules = Mapping[str, Sequence[Rule]]


def with_roots(faults: Sequence[Placed], rules: Rules | None = None) -> list[Finding]:
    """The findings, those that follow from another one with its code; what a check has said itself stays.

    Each sighting of a fault has a root or none; the fault follows from another one only where all of them do.
    """
    rules = all_rules() if rules is None else rules
    found = [sighting for fault in faults for sighting in fault.sightings if sighting.conclusion is Conclusion.FOUND]
    causes = {id(sighting): _root_of(sighting, found, rules) for sighting in found}
    circling = _circling([(sighting.code, causes[id(sighting)]) for sighting in found])
    rooted: list[Finding] = []
    for finding, sightings in faults:
        because = [None if finding.code in circling else causes.get(id(sighting)) for sighting in sightings]
        root = because[0] if None not in because else None
        rooted.append(finding if finding.because == root else replace(finding, because=root))
    return rooted


def _root_of(finding: Finding, found: Sequence[Finding], rules: Rules) -> str | None:
    if finding.because is not None:
        # A root that nobody has found is none.
        return finding.because if any(other_finding.code == finding.because for other_finding in found) else None
    itself = [other_finding.code for other_finding in found if _tells_it_itself(other_finding, finding)]
    if itself:
        return min(itself)
    return next(
        (
            rule.root
            for rule in rules.get(finding.code, ())
            if any(_fits(rule, other_finding, finding) for other_finding in found)
        ),
        None,
    )


def _tells_it_itself(root: Finding, finding: Finding) -> bool:
    """What a script shows by itself to be wrong on a line is why it differs there from the benchmark's."""
    if root.seen_by not in ((READING,), (PLACING,)) or finding.seen_by != (READING_BOTH,) or root.because is not None:
        return False
    same = (root.where.file, root.where.line) == (finding.where.file, finding.where.line)
    return same and root.where.line > 0 and root.code != finding.code


def _circling(causes: Iterable[tuple[str, str | None]]) -> set[str]:
    """Codes that follow only from each other: what nobody begins with is no root of anything."""
    because: dict[str, set[str | None]] = {}
    for code, root in causes:
        because.setdefault(code, set()).add(root)
    led: set[str | None] = {None}
    while more := {code for code, roots in because.items() if code not in led and roots & led}:
        led |= more
    return set(because) - led


def _fits(rule: Rule, root: Finding, finding: Finding) -> bool:
    # What says itself that it follows from the other is not its root.
    if root.code != rule.root or root.because == finding.code:
        return False
    # What the source itself shows does not follow from its being unlike the benchmark's.
    if is_beside_a_script(root) and is_read(finding):
        return False
    if (rule.said and root.message.id not in rule.said) or (rule.given is not None and not rule.given(root, finding)):
        return False
    return rule.when is None or rule.when(root.where, finding.where)
