"""Is a script the same each time, is it when its randomness is fixed, and which source is free."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from trueline.model.finding import Certainty
from trueline.model.json_value import Json
from trueline.model.message import Message, message
from trueline.model.trouble import BadScript
from trueline.record.run_mode import FIRST_SEED, SECOND_SEED, RandomnessPlan
from trueline.repro import naming
from trueline.repro.consumers import Consumer, consumers
from trueline.repro.differences import Difference, first_difference
from trueline.repro.free import Free
from trueline.repro.problem import Problem, find_problem
from trueline.repro.randomness_log import LogEntry, RandomnessLog
from trueline.repro.trials import Trial, Trials

# From what uses a source of randomness to what is said of it.
Name = Callable[[Sequence[Consumer]], list[Free]]

AS_IT_IS: Final = "as_it_is"
WHEN_FIXED: Final = "when_fixed"
NO: Final = "no"
_MAX_FRESH_LINES: Final = 4
_CLOCK: Final = 1_700_000_000
_HASHES: Final = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Reproduced:
    """The answer: the verdict, where the runs part, what is free, and how a problem shows."""

    reproducible: str
    steps: int
    runs: int
    parts_at: Difference | None = None
    free: Sequence[Free] = field(default_factory=tuple)
    problem: Problem | None = None
    first: Trial | None = None
    fixed_problem: Problem | None = None
    fixed_parts_at: Difference | None = None


@dataclass(frozen=True, slots=True)
class _Base:
    """The run in which all is fixed, and where a second such run parts from it (None: nowhere)."""

    plan: RandomnessPlan
    trial: Trial
    parts_at: Difference | None
    again: Trial | None = None


def reproduce(trials: Trials, runs: int) -> Reproduced:
    """Run the script ``runs`` times as it is, and where it differs as often as it takes to find out why."""
    hashes = _hashes(trials.command.environment, runs)
    free = [
        trials.run(f"run-{number + 1}", RandomnessPlan(hash=seed), message("repro.run", number=number + 1, count=runs))
        for number, seed in enumerate(hashes)
    ]
    if not any(trial.steps for trial in free):
        line = free[0].ended.last_line[:300]
        raise BadScript(f"repro.never_trains{'' if line else '_silent'}", code=free[0].ended.code, line=line)
    parted = [found for trial in free[1:] if (found := first_difference(free[0], trial)) is not None]
    answer = Reproduced(AS_IT_IS, min(trial.steps for trial in free), runs, problem=find_problem(free), first=free[0])
    if not parted:
        return answer
    return _Search(trials, free, hashes).finished(
        replace(answer, parts_at=min(parted, key=lambda difference: difference.place))
    )


def _hashes(environment: Mapping[str, str], runs: int) -> list[int | None]:
    """Hash seeds as random as Python's own, but known; the user's where there is one."""
    if environment.get("PYTHONHASHSEED", "random") != "random":
        return [None] * runs
    return [1 + int.from_bytes(os.urandom(4), "little") % _HASHES for _ in range(runs)]


class _Search:
    """From runs that differ to what is free."""

    def __init__(self, trials: Trials, free: Sequence[Trial], hashes: Sequence[int | None]) -> None:
        self._trials = trials
        self._free = free
        self._hashes = hashes
        self._found: list[Free] = []

    def finished(self, answer: Reproduced) -> Reproduced:
        """The whole answer."""
        base = self._base()
        for name, plan, naming_of in self._experiments(base):
            self._found.extend(naming_of(self._freed(name, plan, base)))
        if not self._found and base.parts_at is None:
            self._found.extend(self._operators(base))
        if not self._found:
            self._found.append(_unknown(answer.parts_at, base))
        return replace(
            answer,
            reproducible=WHEN_FIXED if base.parts_at is None else NO,
            free=sorted(self._found, key=lambda free: free.place),
            fixed_problem=find_problem([base.trial]),
            fixed_parts_at=base.parts_at,
        )

    # ---- all fixed

    def _base(self) -> _Base:
        plan = RandomnessPlan(fixed=True, hash=self._hashes[0], pins=_varying(self._free))
        trial = self._trials.run("fixed-1", plan, message("repro.fixed"))
        other_hash = self._other_hash()
        hashed = None
        if other_hash is not None:
            hashed = self._trials.run("free-hash", replace(plan, hash=other_hash), _freeing("hash"))
            if first_difference(trial, hashed) is None:
                return _Base(plan, trial, None)
        again = self._trials.run("fixed-2", plan, message("repro.fixed"))
        base = _Base(plan, trial, first_difference(trial, again), again)
        if base.parts_at is not None:
            base = self._widened(base)
            if hashed is not None and base.plan != plan:
                # Beside what is fixed only now, another hash seed may have meant nothing.
                hashed = self._trials.run("free-hash-again", replace(base.plan, hash=other_hash), _freeing("hash"))
        if hashed is not None and (found := _significant(base, hashed)):
            self._found.append(naming.of_hash(base.trial, found[0]))
        return base

    def _other_hash(self) -> int | None:
        """That of the first run that differs."""
        for trial, seed in zip(self._free[1:], self._hashes[1:], strict=True):
            if first_difference(self._free[0], trial) is not None:
                return seed
        return None

    def _widened(self, base: _Base) -> _Base:
        """Fixing the clock and the threads too."""
        if base.trial.log.first("clock") is not None:
            wider = self._wider(base, "clock", replace(base.plan, clock=_CLOCK))
            if wider is not None:
                self._found.append(naming.of_clock(base.trial, self._parting(base)))
                return wider
        if base.plan.threads is None and self._threads() != 1:
            wider = self._wider(base, "threads", replace(base.plan, threads=1))
            if wider is not None:
                self._found.append(naming.of_threads(self._parting(base)))
                return wider
        return base

    def _wider(self, base: _Base, name: str, plan: RandomnessPlan) -> _Base | None:
        """A base that lasts longer, or None."""
        say = message("repro.fixing", what=message(f"repro.generator_{name}"))
        first, second = (self._trials.run(f"fixed-{name}-{number}", plan, say) for number in (1, 2))
        parts_at = first_difference(first, second)
        if parts_at is None or (base.parts_at is not None and parts_at.place > base.parts_at.place):
            return _Base(plan, first, parts_at, second)
        return None

    def _parting(self, base: _Base) -> Consumer:
        assert base.again is not None
        return consumers(base.trial, base.again)[0]

    def _threads(self) -> int:
        given = self._trials.command.environment.get("OMP_NUM_THREADS", "")
        return int(given) if given.isdigit() else os.cpu_count() or 1

    # ---- one freed

    def _experiments(self, base: _Base) -> Iterator[tuple[str, RandomnessPlan, Name]]:
        log = base.trial.log
        for number, entry in enumerate(_seed_entries(log, base.plan.pins)):
            pins = {**base.plan.pins, entry["site"]: [_another(value) for value in base.plan.pins[entry["site"]]]}
            values = [value for trial in self._free for value in trial.log.seeds().get(entry["site"], ())[:1]]
            yield f"seed-{number + 1}", replace(base.plan, pins=pins), _seeds(entry, values)
        for number, entry in enumerate(_fresh_entries(log)):
            yield f"generator-{number + 1}", replace(base.plan, vary=entry["site"]), _fresh(entry)
        for stream in _streams(base.trial):
            yield stream, replace(base.plan, seeds={stream: SECOND_SEED}), _stream(stream, base.trial)

    def _freed(self, name: str, plan: RandomnessPlan, base: _Base) -> list[Consumer]:
        what = name.rstrip("-0123456789").replace(".", "_")
        return _significant(base, self._trials.run(f"free-{name}", plan, _freeing(what)))

    def _operators(self, base: _Base) -> Iterator[Free]:
        """Nothing random is free: is it what deterministic algorithms have fixed?"""
        plan = replace(base.plan, deterministic=False)
        say = message("repro.fixing", what=message("repro.generator_operators"))
        trial = self._trials.run("free-operators", plan, say)
        found = _significant(base, trial)
        if found:
            yield naming.of_operator(base.trial, found[0])


def _significant(base: _Base, trial: Trial) -> list[Consumer]:
    """What differs from the base, and not only as a second base does."""
    floor = base.parts_at
    if floor is None:
        return consumers(base.trial, trial)
    if floor.rounding:
        return consumers(base.trial, trial, beyond_rounding=True)
    found = consumers(base.trial, trial)
    return found if found and found[0].difference.place < floor.place else []


def _freeing(what: str) -> Message:
    return message("repro.freeing", what=message(f"repro.generator_{what}"))


def _varying(free: Sequence[Trial]) -> dict[str, Sequence[Json]]:
    """The seeds that a line of the script chooses anew in every run, as the first run chose them."""
    first = free[0].log.seeds()
    later = [trial.log.seeds() for trial in free[1:]]
    return {
        site: values
        for site, values in first.items()
        if None not in values and any(seeds.get(site, values) != values for seeds in later)
    }


def _another(value: Json) -> Json:
    return value + FIRST_SEED if isinstance(value, int | float) else f"{value}{FIRST_SEED}"


def _seed_entries(log: RandomnessLog, pins: Mapping[str, Sequence[Json]]) -> list[LogEntry]:
    """One for each line."""
    found: dict[str, LogEntry] = {}
    for entry in log.of("seed"):
        if entry["site"] in pins:
            found.setdefault(entry["site"], entry)
    return list(found.values())


def _fresh_entries(log: RandomnessLog) -> list[LogEntry]:
    found: dict[str, LogEntry] = {}
    for entry in log.of("fresh"):
        found.setdefault(entry["site"], entry)
    return list(found.values())[:_MAX_FRESH_LINES]


def _streams(base: Trial) -> list[str]:
    """The generators that may have been used without having been seeded."""
    log = base.log
    present = list(dict.fromkeys(str(entry["stream"]) for entry in log.of("stream")))
    return [
        stream
        for stream in present
        if stream not in ("python", "numpy") or log.first("moved", stream=stream) is not None
    ]


def _seeds(entry: LogEntry, values: Sequence[Json]) -> Name:
    return lambda found: [naming.of_seed(entry, values, found[0])] if found else []


def _fresh(entry: LogEntry) -> Name:
    return lambda found: [naming.of_fresh(entry, found[0])] if found else []


def _stream(stream: str, base: Trial) -> Name:
    return lambda found: list(naming.of_stream(stream, base, found)) if found else []


def _unknown(parts_at: Difference | None, base: _Base) -> Free:
    first = base.parts_at or parts_at
    assert first is not None
    consumer = Consumer("unknown", first)
    if base.parts_at is not None and base.parts_at.rounding:
        said = message("repro.free_rounding", key=first.key, step=first.step)
    else:
        said = message("repro.free_unknown", key=first.key, step=first.step)
    return Free("unknown", "", "unknown", None, said, message("repro.advice_unknown"), consumer, Certainty.POSSIBLE)
