"""All questions, put to the evidence of one pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from trueline.data.pipeline.evidence import Evidence
from trueline.data.pipeline.judging.batching import batching
from trueline.data.pipeline.judging.failing import failing
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


def judged(evidence: Evidence) -> list[Finding]:
    """What is wrong, in the order of the pipeline."""
    return [finding for question in _QUESTIONS for finding in question(evidence)]
