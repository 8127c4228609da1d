"""A free source: what it is called, what it drives, where it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.json_value import Json
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.record.project import shown_line
from trueline.repro.consumers import Consumer

# In the order in which the guide fixes them: network, dataset, initial weights, hyper-parameters, then the seeds.
CODES: Final = {
    "dropout": "tr.20",
    "random_op": "tr.20",
    "ending": "tr.20",
    "shuffle": "tr.21",
    "augmentation": "tr.21",
    "worker_seeds": "tr.21",
    "initial_weights": "tr.22",
    "hyper_parameters": "tr.23",
    "time_seed": "tr.24",
    "varying_seed": "tr.24",
    "unseeded_generator": "tr.24",
    "set_order": "tr.24",
    "clock": "tr.24",
    "nondeterministic_op": "tr.25",
    "threads": "tr.25",
    "unknown": "tr.26",
}


@dataclass(frozen=True, slots=True)
class Free:
    """One free source of a script."""

    source: str
    generator: str
    drives: str
    line: Location | None
    message: Message
    advice: Message
    consumer: Consumer | None = None
    certainty: Certainty = Certainty.CERTAIN

    @property
    def place(self) -> int:
        """In the guide's order."""
        return list(CODES).index(self.source)

    def to_json(self, root: Path) -> dict[str, Json]:
        """The JSON shape."""
        line = shown_line(self.line, root)
        return {
            "source": self.source,
            "generator": self.generator,
            "drives": self.drives,
            "message": self.message.text(),
            "file": line.file if line is not None else None,
            "line": line.line if line is not None else None,
        }

    def finding(self, root: Path) -> Finding:
        """As a Finding."""
        line = shown_line(self.line, root)
        first = self.consumer.difference if self.consumer is not None else None
        module = self.consumer.module if self.consumer is not None else None
        where = replace(
            line or Location(),
            module=(module.path if module is not None else first.module if first is not None else None) or None,
            step=first.step if first is not None else None,
        )
        extra = {"source": self.source, "generator": self.generator, "drives": self.drives}
        return Finding(
            CODES[self.source],
            Conclusion.FOUND if self.source != "unknown" else Conclusion.SUSPECT,
            self.message,
            self.certainty,
            self.advice,
            where=where,
            evidence=[first.to_json()] if first is not None else [],
            extra=extra,
        )


def drives_word(drives: str) -> Message:
    """What is driven, in words."""
    return message(f"repro.drives_{drives}")
