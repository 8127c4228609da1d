"""The filled-in checklist as SARIF 2.1.0, which code hosts and editors show beside the lines it speaks of."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.parse import quote

from trueline.checks.engine.checklist import Checklist
from trueline.locale import language
from trueline.model.finding import Certainty, Conclusion, Finding, way_text
from trueline.model.message import Message, message
from trueline.model.numbers import dump_json, plain
from trueline.report.codes import page
from trueline.report.explaining import HEADINGS
from trueline.version import __version__

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_TAGS: Final = {"en": "en-US", "zh": "zh-CN"}
_LEVELS: Final = {Certainty.CERTAIN: "error", Certainty.LIKELY: "warning", Certainty.POSSIBLE: "note"}
_TOLD: Final = (Conclusion.FOUND, Conclusion.SUSPECT)


def render_sarif(checklist: Checklist) -> str:
    """One run: a rule for every item that was asked, a result for everything found, suspected or left out."""
    codes = [row.code for row in checklist.rows]
    results = [_result(one, codes) for one in checklist.findings if one.conclusion in _TOLD]
    results += [_result(one, codes) | {"suppressions": [{"kind": "inSource"}]} for one in checklist.ignored]
    driver = {"name": "TrueLine", "version": __version__, "rules": [_rule(code) for code in codes]}
    run = {
        "tool": {"driver": driver},
        "language": _TAGS.get(language(), language()),
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": list(_notifications(checklist))}],
        "results": results,
    }
    return dump_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str) -> dict[str, Any]:
    told = page(code)
    sections = [" ".join(text.split()) for text in told.sections]
    headed = [(message(heading).text(), text) for heading, text in zip(HEADINGS, sections, strict=True) if text]
    said = [f"{heading}: {text}" for heading, text in headed]
    marked = [f"**{heading}.** {text}" for heading, text in headed]
    rule = {"id": code, "shortDescription": {"text": told.title}, "defaultConfiguration": {"level": "error"}}
    if said:
        rule["fullDescription"] = {"text": sections[0] or told.title}
        rule["help"] = {"text": "\n\n".join(said), "markdown": "\n\n".join(marked)}
    return rule


def _result(one: Finding, codes: Sequence[str]) -> dict[str, Any]:
    found = one.conclusion is Conclusion.FOUND
    # What follows from something else is to be known, not to be mended.
    level = ("note" if one.because is not None else _LEVELS[one.certainty]) if found else "none"
    text = one.message.text() if one.advice is None else f"{one.message.text()}\n{one.advice.text()}"
    result: dict[str, Any] = {
        "ruleId": one.code,
        "ruleIndex": codes.index(one.code),
        "kind": "fail" if found else "review",
        "level": level,
        "message": {"text": text},
        "partialFingerprints": {"trueline/v1": _fingerprint(one)},
    }
    if location := _location(one):
        result["locations"] = [location]
    more = {
        "certainty": one.certainty.value,
        "because": one.because,
        "by": ", ".join(map(way_text, one.seen_by)) or None,
        "step": one.where.step,
        "rank": one.where.rank,
        "side": one.where.side,
        "sample": one.where.sample,
        "measured": one.measured,
        "limit": one.limit,
    }
    result["properties"] = plain({name: value for name, value in more.items() if value is not None})
    return result


def _location(one: Finding) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if one.where.file:
        physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(one.where.file)}}
        if one.where.line > 0:
            physical["region"] = {"startLine": one.where.line}
        location["physicalLocation"] = physical
    if one.where.module:
        location["logicalLocations"] = [{"fullyQualifiedName": one.where.module, "kind": "module"}]
    return location


def _uri(file: str) -> str:
    """Relative to where the command was given, as code hosts want it, or else whole."""
    path = Path(file)
    if path.is_absolute():
        try:
            path = path.relative_to(Path.cwd())
        except ValueError:
            return path.as_uri()
    return quote(PurePosixPath(path).as_posix())


def _fingerprint(one: Finding) -> str:
    """The same for the same fault when lines above it have moved."""
    same = (one.code, one.message.id, one.where.file, one.where.module, one.where.side)
    return hashlib.sha256(repr(same).encode()).hexdigest()[:32]


def _notifications(checklist: Checklist) -> Iterator[dict[str, Any]]:
    for one in checklist.findings:
        if one.error is not None:
            yield _notification("error", message("check.row_crashed", said=one.message, error=one.error))
    for told in checklist.notes:
        yield _notification("warning", told)


def _notification(level: str, said: Message) -> dict[str, Any]:
    return {"level": level, "message": {"text": said.text()}}
