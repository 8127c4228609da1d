"""All questions, put to the evidence of one pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from trueline.data.pipeline.evidence import Evidence, read_line
from trueline.data.pipeline.judging.batching import batching
from trueline.data.pipeline.judging.failing import failing
from trueline.data.pipeline.judging.fault import short
from trueline.data.pipeline.judging.length import lengths
from trueline.data.pipeline.judging.order import order
from trueline.data.pipeline.judging.speed import speed
from trueline.data.pipeline.judging.values import values
from trueline.model.finding import Finding

_QUESTIONS: Final[tuple[Callable[[Evidence], Iterator[Finding]], ...]] = (
    failing,
    lengths,
    batching,
    values,
    order,
    speed,
)

# What is found by its values, and how its line is looked for: ``child/tracing.py`` knows these ways.
TRACED: Final = {
    "nonfinite": "nonfinite",
    "dtype": "origin",
    "cannot_batch": "origin",
    "labels": "kept",
    "wrapped": "origin",
    "apart": "returned",
    "structure": "returned",
    "no_sample": "returned",
    "columns": "returned",
    "changes_data": "stored",
    "reseeded": "seeds",
    "slow": "slow",
}


def judged(evidence: Evidence) -> list[Finding]:
    """What is wrong, in the order of the pipeline, with the lines that were looked for."""
    found = [finding for question in _QUESTIONS for finding in question(evidence)]
    return [_located(evidence, finding) for finding in found]


def traced_as(finding: Finding) -> str:
    """The name that a finding's line is kept under."""
    return f"{finding.extra['kind']} {finding.extra['place']} {finding.where.sample}"


def _located(evidence: Evidence, finding: Finding) -> Finding:
    line = read_line(evidence.parts.get("lines", {}).get(traced_as(finding)))
    if line is None:
        return finding
    return replace(finding, where=replace(finding.where, file=short(line.file), line=line.line))
