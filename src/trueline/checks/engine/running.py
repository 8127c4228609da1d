"""Asking every check that the evidence at hand is enough for; one that crashes is a row, not a crash."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from trueline.checks.engine.check import Check
from trueline.checks.engine.evidence_words import ways_in_words
from trueline.model.finding import Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import message
from trueline.model.trouble import Trouble

Evidence = Mapping[str, Any]
Limits = Mapping[str, Mapping[str, Any]]
Progress = Callable[[Check], None]


def ask_all(
    checks: Iterable[Check], evidence: Evidence, limits: Limits | None = None, progress: Progress | None = None
) -> list[Finding]:
    """The answers of all checks whose evidence is there; an item for which nothing is there is open and says so."""
    findings: list[Finding] = []
    waiting: dict[str, list[Check]] = {}
    for one in checks:
        waiting.setdefault(one.code, []).append(one)
    for code, ways in waiting.items():
        possible = [one for one in ways if all(evidence.get(name) is not None for name in one.evidence)]
        if not possible:
            findings.append(_without_evidence(code, ways))
        for one in possible:
            if progress is not None:
                progress(one)
            findings.extend(ask(one, evidence, (limits or {}).get(code, {})))
    return findings


def ask(one: Check, evidence: Evidence, limits: Mapping[str, Any]) -> Iterator[Finding]:
    """One check's answers; whatever it raises is one of them."""
    told = 0
    try:
        given = {name: value for name, value in limits.items() if name in one.limits}
        for finding in one.ask(*(evidence[name] for name in one.evidence), **given):
            told += 1
            yield replace(finding, seen_by=(frozenset(one.evidence),))
    except Trouble as trouble:
        yield _crashed(one, str(trouble))
    except Exception as error:  # noqa: BLE001
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
        yield _crashed(one, f"{type(error).__name__}: {error} ({place})")
    else:
        if not told:
            yield _crashed(one, "gave no answer")


def _crashed(one: Check, error: str) -> Finding:
    said = message("check.crashed", check=f"{one.code} ({one.name})")
    return Finding(one.code, Conclusion.OPEN, said, where=Location(), error=error)


def _without_evidence(code: str, ways: Sequence[Check]) -> Finding:
    needed = ways_in_words(one.evidence for one in ways)
    return Finding(code, Conclusion.OPEN, message("check.no_evidence", needed=needed))
