"""The checklist, filled in: a row for every item with one of the guide's three conclusions and what it stands on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trueline.checks.check import Check
from trueline.checks.listing import all_checks, codes
from trueline.checks.roots import with_roots
from trueline.checks.running import Evidence, Limits, ask_all
from trueline.model.finding import Conclusion, Finding, roots
from trueline.model.trouble import BadUsage

_BY = "by"


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
    return [one for one in wanted if one.code not in ignore and one.family not in ignore]


def fill_in(
    checks: Sequence[Check],
    evidence: Evidence,
    limits: Limits | None = None,
    left_out: Callable[[Finding], bool] | None = None,
    looked_at: Mapping[str, str] | None = None,
) -> Checklist:
    """Ask all checks, name roots, and draw the conclusion of every item."""
    told = with_roots(ask_all(checks, evidence, limits))
    ignored = [one for one in told if left_out is not None and one.conclusion in _SPEAKING and left_out(one)]
    kept = _once([one for one in told if one not in ignored])
    titles = {one.code: one.title for one in checks if one.title}
    rows = [_row(code, titles.get(code, ""), kept, told) for code in dict.fromkeys(one.code for one in checks)]
    return Checklist(rows, kept, ignored, dict(looked_at or {}))


_SPEAKING = (Conclusion.FOUND, Conclusion.SUSPECT)


def _row(code: str, title: str, kept: Sequence[Finding], told: Sequence[Finding]) -> Row:
    own = [one for one in kept if one.code == code] or [one for one in told if one.code == code]
    by: dict[str, Conclusion] = {}
    for one in own:
        kind = str(one.extra.get(_BY, ""))
        if kind:
            by[kind] = min(by.get(kind, one.conclusion), one.conclusion, key=_ORDER.index)
    speaks = min(own, key=lambda one: (_ORDER.index(one.conclusion), one.because is not None))
    conclusion = speaks.conclusion
    return Row(code, title, Conclusion.NA if conclusion is Conclusion.SUSPECT else conclusion, speaks, by)


_ORDER = (Conclusion.FOUND, Conclusion.SUSPECT, Conclusion.NONE, Conclusion.NA)


def _once(findings: Iterable[Finding]) -> list[Finding]:
    """What several ways say of one place is said once, with all of its evidence."""
    held: dict[tuple[Any, ...], Finding] = {}
    for one in findings:
        where = one.where
        key: tuple[Any, ...] = (one.code, one.conclusion, where.file, where.line)
        if one.conclusion is not Conclusion.FOUND or where.line is None:
            key = (*key, id(one))
        if key in held:
            first = held[key]
            by = f"{first.extra.get(_BY, '')}, {one.extra.get(_BY, '')}"
            step = first.where.step if first.where.step is not None else where.step
            held[key] = replace(
                first,
                evidence=[*first.evidence, *one.evidence],
                where=replace(first.where, step=step, module=first.where.module or where.module),
                extra={**first.extra, _BY: by},
            )
        else:
            held[key] = one
    return list(held.values())
