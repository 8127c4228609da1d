"""What one of the repeated runs fixes, and to what; it travels through the environment.

Nothing here imports NumPy or a framework: the script must find the same world as without TrueLine.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

VARIABLE = "TRUELINE_REPRO"
ONE = 1
OTHER = 2


@dataclass(frozen=True, slots=True)
class Plan:
    """Where a run leaves word of its randomness, and what is fixed in it: nothing, unless ``fixed``.

    ``hash`` is Python's hash seed, ``seeds`` those of the generators by stream, ``pins`` the values that seeds which
    the script computes itself get at a line, ``vary`` the line whose fresh generator is another one, ``clock`` the
    time that the script sees, ``threads`` how many threads an operator may use.
    """

    told: str = ""
    fixed: bool = False
    hash: int | None = None
    seeds: Mapping[str, int] = field(default_factory=dict)
    pins: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    vary: str | None = None
    clock: int | None = None
    threads: int | None = None
    deterministic: bool = True

    def environment(self) -> dict[str, str]:
        """What the process that is to run must find."""
        found = {VARIABLE: json.dumps(asdict(self))}
        if self.hash is not None:
            found["PYTHONHASHSEED"] = str(self.hash)
        if self.fixed:
            found["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
        if self.threads is not None:
            found |= dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(self.threads))
        return found

    @classmethod
    def in_environment(cls) -> Self | None:
        """What this process was started for; asked once, so that what it starts itself runs as usual."""
        found = os.environ.pop(VARIABLE, None)
        return cls(**json.loads(found)) if found is not None else None

    def seed(self, stream: str) -> int:
        """A generator's seed."""
        return self.seeds.get(stream, ONE)

    def drawn(self, site: str, number: int) -> int:
        """128 bits for the so many-th fresh generator of a line."""
        text = f"{OTHER if site == self.vary else ONE}:{site}:{number}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "little")
