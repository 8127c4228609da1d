"""Which states a recording is to keep."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trueline.model.json_value import Json, JsonObject
from trueline.model.steps import Steps
from trueline.record.companion import Companion

if TYPE_CHECKING:
    from trueline.record.observers import Observers
    from trueline.record.recorded import Recorded


@dataclass(frozen=True, slots=True)
class Keep:
    """The states before the last ``ring`` steps, and before named steps and the steps before those."""

    ring: int = 0
    steps: Steps = field(default_factory=Steps.none)

    def __bool__(self) -> bool:
        return self.ring > 0 or bool(self.steps)

    def named(self, step: int) -> bool:
        """Whether a step was asked for, or is the one from which the step asked for is reached."""
        return step in self.steps or step + 1 in self.steps

    def wants(self, step: int) -> bool:
        """Whether the state before a step is to be kept, for now."""
        return self.ring > 0 or self.named(step)

    def expired(self, kept: Iterable[int], newest: int) -> list[int]:
        """Those of the kept ones that are wanted no more."""
        return [step for step in kept if step <= newest - self.ring and not self.named(step)]

    def to_json(self) -> dict[str, Json]:
        """What run.json says of it."""
        return {"ring": self.ring, "steps": [list(part) for part in self.steps.parts]}


class StatesKept(Companion):
    """A recording whose states are kept, to be replayed."""

    def __init__(self, keep: Keep, command: JsonObject) -> None:
        self._keep, self._command = keep, command

    def observe(self, observers: Observers, recorded: Recorded) -> None:
        """Of each framework."""
        # NumPy comes with it: not before a framework is there.
        from trueline.record.keeping.observer import StateObserver
        from trueline.record.keeping.states import StateKeeper

        recorded.adapter.replaying.prepare()
        observers.put_last(StateObserver(recorded, StateKeeper(self._keep, recorded.adapter, self._command)))
