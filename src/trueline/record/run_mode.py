"""What a process was started for by another TrueLine: one RunMode, parsed once, before the script runs.

Nothing here imports NumPy or a framework: the script must find the same world as without TrueLine.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Self

from trueline.model.json_value import Json

VARIABLE: Final = "TRUELINE_MODE"
# The two values that a source of randomness is fixed to, to see whether it has an effect.
FIRST_SEED: Final = 1
SECOND_SEED: Final = 2


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A run repeated for its noise: which perturbation (None: a control), its training steps, how far values move."""

    seed: int | None
    steps: int
    ulps: int = 1


@dataclass(frozen=True, slots=True)
class RandomnessPlan:
    """The file in which a repeated run logs its randomness, and what is fixed in it: nothing, unless ``fixed``.

    ``hash`` is Python's hash seed, ``seeds`` those of the generators by stream, ``pins`` the values that seeds which
    the script computes itself get at a line, ``vary`` the line whose fresh generator is another one, ``clock`` the
    time that the script sees, ``threads`` how many threads an operator may use.
    """

    log: str = ""
    fixed: bool = False
    hash: int | None = None
    seeds: Mapping[str, int] = field(default_factory=dict)
    pins: Mapping[str, Sequence[Json]] = field(default_factory=dict)
    vary: str | None = None
    clock: int | None = None
    threads: int | None = None
    deterministic: bool = True

    def environment(self) -> dict[str, str]:
        """Variables that count only when Python starts."""
        found = {}
        if self.hash is not None:
            found["PYTHONHASHSEED"] = str(self.hash)
        if self.fixed:
            found["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
        if self.threads is not None:
            found |= dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(self.threads))
        return found

    def seed(self, stream: str) -> int:
        """A generator's seed."""
        return self.seeds.get(stream, FIRST_SEED)

    def drawn(self, site: str, number: int) -> int:
        """128 bits for the so many-th fresh generator of a line."""
        text = f"{SECOND_SEED if site == self.vary else FIRST_SEED}:{site}:{number}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "little")


@dataclass(frozen=True, slots=True)
class Experiment:
    """A tuning experiment: its kind, the updates after which the script ends, its settings, and its report's file."""

    kind: str
    updates: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    told: str = ""


@dataclass(frozen=True, slots=True)
class WatchedStep:
    """A run watched operator by operator: from which step on, where the answer goes, and which loss counts.

    ``thrown_away``: one that no update came after.
    """

    at: int
    answer: str
    thrown_away: bool = False


@dataclass(frozen=True, slots=True)
class RunMode:
    """All None for a process that a user has started; ``replayed_state`` is the state that a bisection replays."""

    perturbation: Perturbation | None = None
    randomness: RandomnessPlan | None = None
    experiment: Experiment | None = None
    watched: WatchedStep | None = None
    replayed_state: int | None = None

    def environment(self) -> dict[str, str]:
        """What the process that is to run must find."""
        asked = {name: value for name, value in asdict(self).items() if value is not None}
        return {VARIABLE: json.dumps(asked), **(self.randomness.environment() if self.randomness is not None else {})}

    @classmethod
    def of_process(cls) -> Self:
        """What this process was started for; asked once, so that what it starts itself runs as usual."""
        packed = os.environ.pop(VARIABLE, None)
        if packed is None:
            return cls()
        asked = json.loads(packed)
        kinds = {
            "perturbation": Perturbation,
            "randomness": RandomnessPlan,
            "experiment": Experiment,
            "watched": WatchedStep,
        }
        parsed = {name: kinds[name](**value) if name in kinds else value for name, value in asked.items()}
        mode = cls(**parsed)
        if mode.perturbation is not None or mode.experiment is not None:
            end_with_parent()
        return mode


def end_with_parent() -> None:
    """A process that nobody waits for any more would train on to its end."""
    import ctypes

    set_parent_death_signal = 1
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(set_parent_death_signal, signal.SIGKILL)
