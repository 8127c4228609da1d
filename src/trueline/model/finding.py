"""What was found, where, how sure, and the numbers behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from trueline.model.location import Location
from trueline.model.message import Message
from trueline.model.numbers import plain


class Conclusion(StrEnum):
    """How a question ended."""

    FOUND = "found"
    SUSPECT = "suspect"
    NONE = "none"
    # Not decided: with what would decide it.
    OPEN = "open"
    # The item does not apply to this training.
    NA = "na"

    @property
    def word(self) -> Message:
        """As a report says it: the guide's three conclusions, and two for what is left to a person."""
        return Message(f"conclusion.{self.value}")


class Evidence(StrEnum):
    """What a question is asked of."""

    SCRIPT = "script"
    RUN = "run"
    DATA = "data"
    WEIGHTS = "weights"
    BENCH_SCRIPT = "bench_script"
    BENCH_RUN = "bench_run"
    BENCH_DATA = "bench_data"


# One way to see a fault: all the evidence that it takes.
Way = frozenset[Evidence]
READING: Final[Way] = frozenset({Evidence.SCRIPT})
READING_BOTH: Final[Way] = frozenset({Evidence.SCRIPT, Evidence.BENCH_SCRIPT})
PLACING: Final[Way] = frozenset({Evidence.SCRIPT, Evidence.RUN})
# What has happened, or is there, and not what is written.
MEASURING: Final[tuple[Way, ...]] = (frozenset({Evidence.RUN}), frozenset({Evidence.DATA}))
MEASURING_BOTH: Final[Way] = frozenset({Evidence.RUN, Evidence.BENCH_RUN})


def way_text(way: Way) -> str:
    """A way as the JSON shows it, ``script + run``."""
    return " + ".join(kind.value for kind in Evidence if kind in way)


class Certainty(StrEnum):
    """How sure a finding is."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"


@dataclass(frozen=True, slots=True)
class Finding:
    """One conclusion with its evidence."""

    code: str
    conclusion: Conclusion
    message: Message
    certainty: Certainty = Certainty.CERTAIN
    advice: Message | None = None
    because: str | None = None
    where: Location = field(default_factory=Location)
    measured: Any = None
    limit: Any = None
    evidence: Sequence[Any] = ()
    error: str | None = None
    # The ways that came to it, the first one first.
    seen_by: tuple[Way, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self, lang: str | None = None) -> dict[str, object]:
        """The JSON shape of the contract; ``extra`` holds what a verb adds."""
        shape: dict[str, Any] = {
            "code": self.code,
            "conclusion": self.conclusion.value,
            "certainty": self.certainty.value,
            "because": self.because,
            "message_id": self.message.id,
            "params": plain(self.message.params),
            "message": self.message.text(lang),
            "advice": self.advice.text(lang) if self.advice is not None else None,
            "where": self.where.to_json(),
            "measured": plain(self.measured),
            "limit": plain(self.limit),
            "evidence": plain(list(self.evidence)),
            "error": self.error,
        }
        if self.seen_by:
            shape["by"] = ", ".join(way_text(way) for way in self.seen_by)
        return with_more(shape, self.extra)


def with_more(shape: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """A shape of the contract with what a verb adds; a ValueError where that would overwrite a field."""
    if taken := shape.keys() & more.keys():
        raise ValueError(f"already in the contract: {', '.join(sorted(taken))}")
    return {**shape, **plain(more)}


def roots(findings: Iterable[Finding]) -> list[Finding]:
    """The problems that count: found, and not following from another one."""
    return [finding for finding in findings if finding.conclusion is Conclusion.FOUND and finding.because is None]
