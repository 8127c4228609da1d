"""The generators that are not a framework's own: Python's, NumPy's, the system's, and the clock."""

from __future__ import annotations

import functools
import os
import random
import sys
import time
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

from trueline.model.location import Location
from trueline.record.run_mode import RandomnessPlan
from trueline.repro.frames import is_users
from trueline.repro.tap import Tap

_TICK = 1_000_000


def tap_python(tap: Tap) -> None:
    """Python's random, what is made without a seed, and os.urandom."""
    plan = tap.plan
    if plan.fixed:
        random.seed(plan.seed("python"))
    tap.arrived("python", lambda: hash(random.getstate()))
    seed, seed_own, urandom = random.seed, random.Random.seed, os.urandom

    def seeded(a: Any = None, *args: Any, **kwargs: Any) -> None:
        seed(tap.seeding("python", a), *args, **kwargs)

    def seeded_own(self: random.Random, a: Any = None, *args: Any, **kwargs: Any) -> None:
        seed_own(self, tap.fresh("random.Random") if a is None else a, *args, **kwargs)

    def bits(size: int, /) -> bytes:
        drawn = tap.fresh("os.urandom")
        return urandom(size) if drawn is None else random.Random(drawn).randbytes(size)

    random.seed = functools.wraps(seed)(seeded)
    random.Random.seed = functools.wraps(seed_own)(seeded_own)  # type: ignore[method-assign]
    os.urandom = random._urandom = bits  # type: ignore[attr-defined]
    _tap_draws(tap, random, "python", random._inst)


def tap_numpy(tap: Tap) -> None:
    """NumPy's global generator, and generators made without a seed."""
    numpy_random = sys.modules["numpy"].random
    bit_generator = sys.modules["numpy.random.bit_generator"]
    if tap.plan.fixed:
        numpy_random.seed(tap.plan.seed("numpy"))
    tap.arrived("numpy", lambda: _numpy_state(numpy_random))
    seed, randbits = numpy_random.seed, vars(bit_generator)["randbits"]

    def seeded(given: object = None) -> None:
        seed(tap.seeding("numpy", given))

    def bits(count: int) -> int:
        drawn = tap.fresh("numpy")
        return int(randbits(count)) if drawn is None else drawn & ((1 << count) - 1)

    vars(bit_generator)["randbits"] = bits
    numpy_random.seed = functools.wraps(seed)(seeded)
    _tap_draws(tap, numpy_random, "numpy", sys.modules["numpy.random.mtrand"]._rand)


def _numpy_state(numpy_random: ModuleType) -> tuple[bytes, int, int]:
    _, keys, place, has_normal, _ = numpy_random.get_state()
    return keys.tobytes(), int(place), int(has_normal)


def _tap_draws(tap: Tap, module: ModuleType, stream: str, owner: object) -> None:
    for name, function in list(vars(module).items()):
        setting = "state" in name or name == "seed"
        if not setting and callable(function) and getattr(function, "__self__", None) is owner:
            setattr(module, name, _drawing(tap, stream, function))


def _drawing(tap: Tap, stream: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def draw(*args: Any, **kwargs: Any) -> Any:
        tap.drew(stream)
        return function(*args, **kwargs)

    return draw


def tap_clock(tap: Tap) -> None:
    """The time, as the user's own lines see it: what waits for something keeps its clock."""
    for name in ("time", "perf_counter", "monotonic"):
        _tap_clock(tap, name, 1e-9)
        _tap_clock(tap, f"{name}_ns", 1)


def _tap_clock(tap: Tap, name: str, unit: float) -> None:
    original: Callable[[], float] = getattr(time, name)
    clock = _Clock(tap.plan)

    @functools.wraps(original)
    def now() -> float:
        frame = sys._getframe(1)
        if not is_users(frame.f_code.co_filename):
            return original()
        tap.looked_at_clock(Location(frame.f_code.co_filename, frame.f_lineno))
        return original() if tap.plan.clock is None else clock.next() * unit

    setattr(time, name, now)


class _Clock:
    """A thousandth of a second passes with every look at it."""

    def __init__(self, plan: RandomnessPlan) -> None:
        self._now = (plan.clock or 0) * 1_000_000_000

    def next(self) -> int:
        self._now += _TICK
        return self._now


def tap_warnings(tap: Tap) -> None:
    """What has no deterministic implementation is warned of by its name."""
    shown = warnings._showwarnmsg  # type: ignore[attr-defined]

    def show(said: warnings.WarningMessage) -> None:
        text = str(said.message)
        if "deterministic" in text:
            tap.warned(text)
        shown(said)

    warnings._showwarnmsg = show  # type: ignore[attr-defined]
