"""What every verb answers: one JSON object of one shape, and an exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from trueline.model.finding import Finding, with_more
from trueline.model.message import Message
from trueline.model.numbers import dump_json

SCHEMA = "trueline/1"


class Exit(IntEnum):
    """The exit codes of every verb."""

    FINE = 0
    PROBLEM = 1
    BAD_INPUT = 2
    INTERNAL = 3


@dataclass(frozen=True, slots=True)
class Result:
    """A verb's answer; ``fields`` holds what the verb adds to the common shape."""

    verb: str
    conclusion: Message
    exit: Exit = Exit.FINE
    findings: Sequence[Finding] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self, lang: str | None = None) -> dict[str, object]:
        """The JSON shape of the contract."""
        shape = {
            "schema": SCHEMA,
            "verb": self.verb,
            "conclusion": self.conclusion.text(lang),
            "exit": int(self.exit),
            "findings": [finding.to_json(lang) for finding in self.findings],
        }
        return with_more(shape, self.fields)

    def dump(self, lang: str | None = None) -> str:
        """The JSON text."""
        return dump_json(self.to_json(lang), indent=2)
