"""The random rate of each line that calls for it, where it changes from step to step of a phase."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from trueline.model.json_value import Json
from trueline.model.key import Phase
from trueline.model.location import Location

_MAX_EVENTS: Final = 400  # a schedule that changes the rate in every step is no law's matter for long


class RateLook:
    """Tells of a line's rate where it is not as in the step before of its phase."""

    def __init__(self) -> None:
        self._told: dict[tuple[Location, Phase], tuple[float, bool]] = {}
        self._events = 0

    def changed(self, rates: Mapping[Location, tuple[float, bool]], phase: Phase) -> Iterator[dict[str, Json]]:
        """The fields of the events of a finished step."""
        for line, (rate, training) in rates.items():
            if self._told.get((line, phase)) == (rate, training) or self._events >= _MAX_EVENTS:
                continue
            self._told[line, phase] = rate, training
            self._events += 1
            yield {"rate": rate, "training": training, "line": line.line_json()}
