"""How much of a training was looked at: what nobody has seen is never said to be fine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trueline.model.finding import Conclusion, Finding
from trueline.model.message import Message, message
from trueline.model.result import Exit
from trueline.record.recording import INTERNAL_ERROR

if TYPE_CHECKING:
    from trueline.record.recording import Recording


@dataclass(frozen=True, slots=True)
class Coverage:
    """Why watching ended early, if it did, what was out of sight, and the script's exit code."""

    off: Message | None = None
    unseen: Sequence[Message] = ()
    code: int = 0

    @classmethod
    def of(cls, recording: Recording | None, code: int = 0) -> Coverage:
        """Of a script or block that has ended."""
        if recording is None:
            return cls(code=code)
        return cls(recording.off, recording.unseen, code)

    def gap(self, steps: int) -> Message | None:
        """What was not watched beside so many training steps; None where that is nothing."""
        if self.off is not None:
            return message("watch.cut_off", steps=steps, reason=self.off)
        if not steps:
            return message("watch.no_steps_but", what=self.unseen[0]) if self.unseen else message("watch.no_steps")
        if self.unseen:
            return message("watch.in_part", steps=steps, what=self.unseen[0])
        return message("watch.script_failed", steps=steps, code=self.code) if self.code else None

    def exit(self, found: Sequence[Finding]) -> Exit:
        """A problem where one was found; fine only where all was watched."""
        if any(finding.conclusion is Conclusion.FOUND for finding in found):
            return Exit.PROBLEM
        if self.off is not None and self.off.id == INTERNAL_ERROR:
            return Exit.INTERNAL
        return Exit.FINE if all(finding.conclusion is Conclusion.NONE for finding in found) else Exit.BAD_INPUT

    def to_json(self) -> Mapping[str, object]:
        """What the answer says of it."""
        return {"off": self.off and self.off.text(), "unseen": [one.text() for one in self.unseen]}
