"""The checklist, filled in: a row for every item with one of the guide's three conclusions and what it stands on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trueline.checks.engine.check import Check
from trueline.checks.engine.listing import all_checks, codes
from trueline.checks.engine.merging import once
from trueline.checks.engine.programs import new_in, not_read, of_each_program, undecided
from trueline.checks.engine.roots import with_roots
from trueline.checks.engine.running import Evidence, Limits, Progress, ask_all
from trueline.checks.engine.sources import Sources
from trueline.model.finding import READING, Conclusion, Finding, roots, way_text
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
        decided = {one for one in self.by.values() if one in (Conclusion.FOUND, Conclusion.NONE)}
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
    families = {one.partition(".")[0] for one in known}
    for name in (*select, *ignore):
        if name not in known and name not in families:
            raise BadUsage("check.no_such_item", item=name, known=", ".join(sorted(families)))
    wanted = [one for one in all_checks() if not select or one.code in select or one.family in select]
    left = [one for one in wanted if one.code not in ignore and one.family not in ignore]
    if not left:
        raise BadUsage("check.nothing_left")
    return left


def fill_in(
    checks: Sequence[Check],
    evidence: Evidence,
    limits: Limits | None = None,
    *,
    looked_at: Mapping[str, str] | None = None,
    notes: Sequence[Message] = (),
    progress: Progress | None = None,
) -> Checklist:
    """Ask all checks, name roots, and draw the conclusion of every item."""
    sources = Sources(evidence.get("script"), evidence.get("run"))
    told: list[Finding] = []
    more = list(notes)
    for number, part in enumerate(of_each_program(evidence)):
        # What does not ask the script is asked once.
        some = [one for one in checks if number == 0 or "script" in one.evidence]
        unread = list(not_read(part))
        asked = [undecided(sources.placed(one), unread) for one in ask_all(some, part, limits, progress)]
        told += new_in(once(with_roots(asked)), told)
        more += [one for one in unread if one not in more]
    # What follows from a fault that is left out still follows from it: roots are named before.
    ignored = [one for one in told if one.conclusion in _SPEAKING and sources.leaves_out(one)]
    kept = [one for one in told if one not in ignored]
    titles = {one.code: one.title for one in checks if one.title}
    rows = [_row(code, titles.get(code, ""), kept, ignored) for code in dict.fromkeys(one.code for one in checks)]
    return Checklist(rows, kept, ignored, dict(looked_at or {}), [*more, *sources.notes()])


_SPEAKING = (Conclusion.FOUND, Conclusion.SUSPECT)


def _row(code: str, title: str, kept: Sequence[Finding], ignored: Sequence[Finding]) -> Row:
    own = [one for one in kept if one.code == code]
    if not own:
        # All that was found here is what a comment asks to leave out.
        said = next(one for one in ignored if one.code == code)
        where = f"{said.where.file}:{said.where.line}"
        own = [Finding(code, Conclusion.NA, message("check.row_ignored", place=where), where=said.where)]
    by: dict[str, Conclusion] = {}
    for one in own:
        for kind in map(way_text, one.seen_by):
            by[kind] = min(by.get(kind, one.conclusion), one.conclusion, key=_ORDER.index)
    speaks = min(own, key=_rank)
    conclusion = speaks.conclusion
    return Row(code, title, Conclusion.NA if conclusion is Conclusion.SUSPECT else conclusion, speaks, by)


def _rank(one: Finding) -> tuple[int, bool, bool]:
    """Who speaks first: the graver one, a root; of those who cannot tell, who has looked at more than the source."""
    unknown = one.conclusion is Conclusion.NA and one.seen_by == (READING,)
    return _ORDER.index(one.conclusion), one.because is not None, unknown


_ORDER = (Conclusion.FOUND, Conclusion.SUSPECT, Conclusion.NONE, Conclusion.NA)
