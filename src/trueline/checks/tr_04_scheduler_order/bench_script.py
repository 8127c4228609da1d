"""Another schedule of the learning rate."""

from __future__ import annotations

from typing import Final

from trueline.checks.bench_script.claim import Claim
from trueline.script.diff.subject import Subject

_OTHER_LENGTH: Final = frozenset(
    {Subject.EPOCHS, Subject.BATCH_SIZE, Subject.FULL_BATCH, Subject.SAMPLES, Subject.DRAWN_SAMPLES}
)
CLAIMS = (
    Claim(Subject.SCHEDULE),
    # A training of another length, or of other samples, has another number of steps to schedule.
    Claim(Subject.SCHEDULE_LENGTH, unless=_OTHER_LENGTH),
)
