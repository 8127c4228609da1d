"""Fixing all randomness that can be fixed, and saying what stays free."""

from __future__ import annotations

import os
import random
import sys
from dataclasses import dataclass

from trueline.model.message import Message, message
from trueline.record.arrival import on_import
from trueline.record.recording import FRAMEWORKS

_PACKAGES = ("numpy", *FRAMEWORKS)


@dataclass(frozen=True, slots=True)
class Randomness:
    """What was fixed to which seed, and what stays free and why."""

    seed: int
    fixed: list[str]
    free: list[Message]

    def __str__(self) -> str:
        said = [message("random.fixed", seed=self.seed, fixed=", ".join(self.fixed))]
        later = [name for name in _PACKAGES if name not in self.fixed]
        if later:
            said.append(message("random.later", names=", ".join(later)))
        return "\n".join(part.text() for part in (*said, *self.free))


def environment(seed: int) -> dict[str, str]:
    """What must be in the environment before Python starts."""
    return {"PYTHONHASHSEED": str(seed % 2**32), "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}


def fix_random(seed: int, *, deterministic: bool = True) -> Randomness:
    """Fix Python, NumPy, torch and MindSpore to one seed; those imported later are fixed when they arrive.

    Deterministic algorithms are asked for as well. Data workers draw their seeds from the frameworks'.
    """
    fixed: list[str] = ["python"]
    free: list[Message] = []
    random.seed(seed)
    if os.environ.get("PYTHONHASHSEED", "random") == "random" and sys.flags.hash_randomization:
        free.append(message("random.free_hash", seed=seed))
    else:
        fixed.append("hash")

    def arrived(name: str) -> None:
        fixed.append(name)
        if name == "numpy":
            sys.modules["numpy"].random.seed(seed % 2**32)
        else:
            from trueline.adapters import adapter_of

            free.extend(
                Message(message_id) for message_id in adapter_of(name).state.seed(seed, deterministic=deterministic)
            )

    on_import(_PACKAGES, arrived)
    return Randomness(seed, fixed, free)
