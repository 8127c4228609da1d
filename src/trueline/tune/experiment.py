"""What a process with an experiment in it is told: JSON in an environment variable.

Nothing here imports NumPy or a framework: the script must find the same world as without TrueLine.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from trueline.record.perturb import end_with_parent

VARIABLE = "TRUELINE_TUNE"


@dataclass(frozen=True, slots=True)
class Experiment:
    """Its kind, the updates after which the script ends, its own settings (JSON), and the file for what is told."""

    kind: str
    updates: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    told: str = ""

    def environment(self, told: str) -> dict[str, str]:
        """What the process that is to run must find."""
        return {VARIABLE: json.dumps(asdict(replace(self, told=told)))}

    @classmethod
    def in_environment(cls) -> Self | None:
        """What this process was started for; asked once, so that what it starts itself runs as usual."""
        found = os.environ.pop(VARIABLE, None)
        if found is None:
            return None
        end_with_parent()
        return cls(**json.loads(found))
