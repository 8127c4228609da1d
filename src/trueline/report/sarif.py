"""A report as SARIF 2.1.0, which code hosts and editors show beside the lines it speaks of."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.parse import quote

from trueline.locale import language
from trueline.model.finding import Certainty, Conclusion, Finding, way_text
from trueline.model.message import Message, message
from trueline.model.numbers import dump_json, plain
from trueline.model.report import Report
from trueline.report.codes import page
from trueline.report.explaining import HEADINGS
from trueline.version import __version__

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_TAGS: Final = {"en": "en-US", "zh": "zh-CN"}
_LEVELS: Final = {Certainty.CERTAIN: "error", Certainty.LIKELY: "warning", Certainty.POSSIBLE: "note"}
_REPORTED: Final = (Conclusion.FOUND, Conclusion.SUSPECT)


def render_sarif(report: Report) -> str:
    """One run: a rule for every item that was asked, a result for everything found, suspected or left out."""
    codes = report.asked or list(dict.fromkeys(finding.code for finding in report.findings))
    results = [_result(finding, codes) for finding in report.findings if finding.conclusion in _REPORTED]
    results += [_result(finding, codes) | {"suppressions": [{"kind": "inSource"}]} for finding in report.ignored]
    driver = {"name": "TrueLine", "version": __version__, "rules": [_rule(code) for code in codes]}
    run = {
        "tool": {"driver": driver},
        "language": _TAGS.get(language(), language()),
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": list(_notifications(report))}],
        "results": results,
    }
    return dump_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str) -> dict[str, Any]:
    about = page(code)
    sections = [" ".join(text.split()) for text in about.sections]
    headed = [(message(heading).text(), text) for heading, text in zip(HEADINGS, sections, strict=True) if text]
    said = [f"{heading}: {text}" for heading, text in headed]
    marked = [f"**{heading}.** {text}" for heading, text in headed]
    rule = {"id": code, "shortDescription": {"text": about.title}, "defaultConfiguration": {"level": "error"}}
    if said:
        rule["fullDescription"] = {"text": sections[0] or about.title}
        rule["help"] = {"text": "\n\n".join(said), "markdown": "\n\n".join(marked)}
    return rule


def _result(finding: Finding, codes: Sequence[str]) -> dict[str, object]:
    found = finding.conclusion is Conclusion.FOUND
    # What follows from something else is to be known, not to be mended.
    level = ("note" if finding.because is not None else _LEVELS[finding.certainty]) if found else "none"
    text = finding.message.text() if finding.advice is None else f"{finding.message.text()}\n{finding.advice.text()}"
    result: dict[str, object] = {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "kind": "fail" if found else "review",
        "level": level,
        "message": {"text": text},
        "partialFingerprints": {"trueline/v1": _fingerprint(finding)},
    }
    if location := _location(finding):
        result["locations"] = [location]
    more = {
        "certainty": finding.certainty.value,
        "because": finding.because,
        "by": ", ".join(map(way_text, finding.seen_by)) or None,
        "step": finding.where.step,
        "rank": finding.where.rank,
        "side": finding.where.side,
        "sample": finding.where.sample,
        "measured": finding.measured,
        "limit": finding.limit,
    }
    result["properties"] = plain({name: value for name, value in more.items() if value is not None})
    return result


def _location(finding: Finding) -> dict[str, object]:
    location: dict[str, object] = {}
    if finding.where.file:
        physical: dict[str, object] = {"artifactLocation": {"uri": _uri(finding.where.file)}}
        if finding.where.line > 0:
            physical["region"] = {"startLine": finding.where.line}
        location["physicalLocation"] = physical
    if finding.where.module:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.where.module, "kind": "module"}]
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


def _fingerprint(finding: Finding) -> str:
    """The same for the same fault when lines above it have moved."""
    same = (finding.code, finding.message.id, finding.where.file, finding.where.module, finding.where.side)
    return hashlib.sha256(repr(same).encode()).hexdigest()[:32]


def _notifications(report: Report) -> Iterator[dict[str, object]]:
    yield from (_notification("error", said) for said in report.errors)
    yield from (_notification("warning", said) for said in report.warnings)


def _notification(level: str, said: Message) -> dict[str, object]:
    return {"level": level, "message": {"text": said.text()}}
