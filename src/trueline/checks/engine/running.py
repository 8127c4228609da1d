"""Asking every check that the evidence at hand is enough for; one that crashes is a row, not a crash."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from trueline.checks.engine.check import Check
from trueline.checks.engine.evidence_words import ways_in_words
from trueline.model.finding import READING_BOTH, Conclusion, Finding, Way
from trueline.model.message import Message, message
from trueline.model.trouble import Trouble

EvidenceByKind = Mapping[str, object]
Limits = Mapping[str, Mapping[str, object]]
Progress = Callable[[Check], None]


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What an answer depends on beside its evidence: what could not be read, and what would decide each item."""

    unread: Sequence[Message] = ()
    decided_by: Mapping[str, Message] = field(default_factory=dict)


def ask_all(
    ways: Iterable[Check],
    evidence: EvidenceByKind,
    limits: Limits | None = None,
    progress: Progress | None = None,
    circumstances: Circumstances | None = None,
) -> list[Finding]:
    """The answers of all checks whose evidence is there; an item for which nothing is there is open and says so."""
    circumstances = circumstances or Circumstances()
    findings: list[Finding] = []
    of_items: dict[str, list[Check]] = {}
    for way in ways:
        of_items.setdefault(way.code, []).append(way)
    for code, own in of_items.items():
        possible = [way for way in own if all(evidence.get(name) is not None for name in way.evidence)]
        if not possible:
            needed = ways_in_words(way.evidence for way in own)
            findings.append(_open(code, message("check.no_evidence", needed=needed), circumstances))
        for way in possible:
            if progress is not None:
                progress(way)
            findings.extend(ask(way, evidence, (limits or {}).get(code, {}), circumstances))
    return findings


def ask(
    way: Check,
    evidence: EvidenceByKind,
    limits: Mapping[str, object],
    circumstances: Circumstances | None = None,
) -> Iterator[Finding]:
    """One check's answers; whatever it raises is one of them."""
    circumstances = circumstances or Circumstances()
    answers = 0
    try:
        given = {name: value for name, value in limits.items() if name in way.limits}
        for finding in way.ask(*(evidence[name] for name in way.evidence), **given):
            answers += 1
            yield _stated(finding, frozenset(way.evidence), circumstances)
    except Trouble as trouble:
        yield _crashed(way, str(trouble), circumstances)
    except Exception as error:  # noqa: BLE001
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
        yield _crashed(way, f"{type(error).__name__}: {error} ({place})", circumstances)
    else:
        if not answers:
            yield _crashed(way, "gave no answer", circumstances)


def _stated(finding: Finding, way: Way, circumstances: Circumstances) -> Finding:
    """An item's answer with what the item does not know: the way it came by, and what would decide it."""
    conclusion, said = finding.conclusion, finding.message
    if circumstances.unread and conclusion in (Conclusion.NONE, Conclusion.NA) and READING_BOTH & way:
        # No fault in what was read of a script, or nothing to ask about, clears nothing of the rest.
        conclusion = Conclusion.OPEN
        said = message("check.not_decided_unread", reason=circumstances.unread[0].text())
    is_open = conclusion is Conclusion.OPEN and finding.advice is None
    advice = circumstances.decided_by.get(finding.code) if is_open else finding.advice
    return replace(finding, conclusion=conclusion, message=said, advice=advice, seen_by=(way,))


def _crashed(way: Check, error: str, circumstances: Circumstances) -> Finding:
    return _open(way.code, message("check.crashed", check=f"{way.code} ({way.name})"), circumstances, error)


def _open(code: str, said: Message, circumstances: Circumstances, error: str | None = None) -> Finding:
    return Finding(code, Conclusion.OPEN, said, advice=circumstances.decided_by.get(code), error=error)
