"""The checklist, filled in: a row for every item with one of five conclusions and what it stands on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from trueline.checks.engine.check import Check
from trueline.checks.engine.deciding import decided_by
from trueline.checks.engine.listing import all_checks, codes
from trueline.checks.engine.placing import placed
from trueline.checks.engine.programs import new_in, not_read, of_each_program, run_in, script_in
from trueline.checks.engine.roots import with_roots
from trueline.checks.engine.running import Circumstances, EvidenceByKind, Limits, Progress, ask_all
from trueline.checks.engine.sources import Sources
from trueline.model.finding import MEASURING, READING, Conclusion, Evidence, Finding, roots, way_text
from trueline.model.message import Message, message
from trueline.model.trouble import BadUsage


@dataclass(frozen=True, slots=True)
class Row:
    """One item: its conclusion, and the finding that speaks for it."""

    code: str
    title: str
    conclusion: Conclusion
    speaks: Finding
    # Kinds of evidence, as script or run, with what each alone would have said.
    by: Mapping[str, Conclusion]

    @property
    def agree(self) -> bool:
        """Whether all that looked came to the same conclusion."""
        decided = {conclusion for conclusion in self.by.values() if conclusion in (Conclusion.FOUND, Conclusion.NONE)}
        return len(decided) < 2


@dataclass(frozen=True, slots=True)
class Checklist:
    """All rows in the order of codes, all findings, and those that comments in the source asked to leave out."""

    rows: Sequence[Row]
    findings: Sequence[Finding]
    ignored: Sequence[Finding] = ()
    looked_at: Mapping[str, str] = field(default_factory=dict)
    # What else is to be told: files that could not be read, comments that name no item.
    notes: Sequence[Message] = ()

    @property
    def problems(self) -> list[Finding]:
        """What counts: found, and not following from something else."""
        return roots(self.findings)


def chosen(select: Sequence[str], ignore: Sequence[str]) -> list[Check]:
    """The checks of the items or families that were asked for; a BadUsage for one that is not there."""
    known = codes()
    families = {code.partition(".")[0] for code in known}
    for name in (*select, *ignore):
        if name not in known and name not in families:
            raise BadUsage("check.no_such_item", item=name, known=", ".join(sorted(families)))
    wanted = [way for way in all_checks() if not select or way.code in select or way.family in select]
    left = [way for way in wanted if way.code not in ignore and way.family not in ignore]
    if not left:
        raise BadUsage("check.nothing_left")
    return left


def fill_in(
    checks: Sequence[Check],
    evidence: EvidenceByKind,
    limits: Limits | None = None,
    *,
    looked_at: Mapping[str, str] | None = None,
    notes: Sequence[Message] = (),
    progress: Progress | None = None,
) -> Checklist:
    """Ask all checks, name roots, and draw the conclusion of every item."""
    sources = Sources(script_in(evidence, "script"), run_in(evidence, "run"))
    programs: list[list[Finding]] = []
    findings: list[Finding] = []
    more = list(notes)
    at_hand = [name for name, given in evidence.items() if given is not None]
    deciding = {
        code: decided_by([way for way in checks if way.code == code], at_hand, looked_at or {})
        for code in dict.fromkeys(way.code for way in checks)
    }
    for number, part in enumerate(of_each_program(evidence)):
        # What does not ask the script is asked once.
        ways = [way for way in checks if number == 0 or "script" in way.evidence]
        unread = list(not_read(part))
        answers = ask_all(ways, part, limits, progress, Circumstances(unread, deciding))
        programs.append(with_roots(placed(answers, sources)))
        findings += new_in(programs[-1], findings)
        more += [sentence for sentence in unread if sentence not in more]
    # What follows from a fault that is left out still follows from it: roots are named before.
    ignored = [finding for finding in findings if finding.conclusion in _SPEAKING and sources.leaves_out(finding)]
    kept = [finding for finding in findings if finding not in ignored]
    beside = [finding for finding in programs[0] if not any(Evidence.SCRIPT in way for way in finding.seen_by)]
    trainings = [program if number == 0 else [*program, *beside] for number, program in enumerate(programs)]
    titles = {way.code: way.title for way in checks if way.title}
    rows = [
        _row(
            code,
            titles.get(code, ""),
            [
                [finding for finding in training if finding.code == code and finding not in ignored]
                for training in trainings
            ],
            ignored,
        )
        for code in deciding
    ]
    return Checklist(rows, kept, ignored, dict(looked_at or {}), [*more, *sources.notes()])


_SPEAKING = (Conclusion.FOUND, Conclusion.SUSPECT)


def _row(code: str, title: str, trainings: Sequence[Sequence[Finding]], ignored: Sequence[Finding]) -> Row:
    """The row of an item, from its findings in each training."""
    asked = [own for own in trainings if own]
    if not asked:
        # All that was found here is what a comment asks to leave out.
        said = next(finding for finding in ignored if finding.code == code)
        where = f"{said.where.file}:{said.where.line}"
        asked = [[Finding(code, Conclusion.NA, message("check.row_ignored", place=where), where=said.where)]]
    by: dict[str, Conclusion] = {}
    for finding in (finding for own in asked for finding in own):
        for kind in map(way_text, finding.seen_by):
            by[kind] = min(by.get(kind, finding.conclusion), finding.conclusion, key=_BY_WEIGHT.index)
    speaks = min(map(speaking, asked), key=lambda finding: _BY_GRAVITY.index(finding.conclusion))
    return Row(code, title, speaks.conclusion, speaks, by)


# Of several trainings the gravest speaks: one that is not decided is not cleared by another.
_BY_GRAVITY: Final = (Conclusion.FOUND, Conclusion.SUSPECT, Conclusion.OPEN, Conclusion.NONE, Conclusion.NA)
# Of several ways to look at one training: who has decided it, and of those the graver one.
_BY_WEIGHT: Final = (Conclusion.FOUND, Conclusion.SUSPECT, Conclusion.NONE, Conclusion.OPEN, Conclusion.NA)


def speaking(findings: Sequence[Finding]) -> Finding:
    """The finding that speaks for an item in one training.

    A problem before a suspicion, a suspicion before a cleared item, and all of them before what clears nothing.
    Between N/A and not decided the better informed way speaks: one that has seen the training run, or its data, knows
    more than reading; where both know as much, N/A has been decided and the other has not. Ways that crashed, had
    nothing to look at, or only place or compare what others find say nothing of whether an item applies.
    """
    return min(findings, key=_order_of_speaking)


def _order_of_speaking(finding: Finding) -> tuple[int, bool, int, bool]:
    undecided = finding.conclusion is Conclusion.OPEN
    if finding.conclusion in (Conclusion.OPEN, Conclusion.NA):
        return len(_BY_WEIGHT), False, -_informed(finding), undecided
    return _BY_WEIGHT.index(finding.conclusion), finding.because is not None, 0, False


def _informed(finding: Finding) -> int:
    """How well a finding knows whether the item applies."""
    if finding.error is not None or not finding.seen_by:
        return 0
    if finding.seen_by == (READING,):
        return 1
    if finding.conclusion is Conclusion.NA or finding.seen_by[0] in MEASURING:
        return 2
    return 0
