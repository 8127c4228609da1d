"""``trueline run --noise``: the run repeated with other rounding, and how far that leads."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trueline.compare.noise_floor import PROBE_ULPS, Tried, furthest, measure_try, with_switches
from trueline.compare.repeated import why_not_repeated
from trueline.formats.run_folder.noise import room_for_tries, write_noise
from trueline.formats.run_folder.reader import Run, open_run
from trueline.model.message import Message, message
from trueline.model.noise import Noise
from trueline.model.trouble import Trouble
from trueline.record.again import Command
from trueline.record.perturb import Perturbation, read_told
from trueline.record.wanted import Wanted

Say = Callable[[Message], None]


class _NotMeasured(Trouble):
    """Why there is no noise; the run itself is whole."""


@dataclass(frozen=True, slots=True)
class Measured:
    """How it went: the noise, or None and why."""

    said: Message
    noise: Noise | None = None
    interrupted: bool = False

    @property
    def done(self) -> bool:
        """Whether the noise is in the run folder."""
        return self.noise is not None

    def to_json(self) -> dict[str, object]:
        """What the verb's answer says of it."""
        tries = self.noise.tries if self.noise is not None else 0
        return {"measured": self.done, "tries": tries, "message": self.said.text()}


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is measured: the tensors of these steps, and the losses of the first ``length``."""

    first: Run
    steps: Sequence[int]
    length: int


def measure_noise(command: Command, wanted: Wanted, code: int, runs: int, losses: int, say: Say) -> Measured:
    """Repeat a run that ended with ``code`` and keep its noise; whatever goes wrong, the run itself stays as it is."""
    if code:
        return Measured(message("noise.script_failed", code=code))
    try:
        plan = _plan(wanted, losses)
        with room_for_tries(wanted.folder) as room:
            noise = _measure(command, replace(wanted, folder=room / "run"), plan, runs, say)
            write_noise(wanted.folder, noise)
    except KeyboardInterrupt:
        return Measured(message("noise.interrupted"), interrupted=True)
    except _NotMeasured as error:
        return Measured(error.message)
    except (Trouble, OSError, ValueError) as error:
        return Measured(message("noise.bad", reason=str(error)))
    counts = {"tries": noise.tries, "tensors": len(noise.drifts), "losses": len(noise.losses)}
    if noise.how["layers"]:
        return Measured(message("noise.measured", **counts), noise)
    return Measured(message("noise.measured_inputs_only", **counts), noise)


def _plan(wanted: Wanted, losses: int) -> _Plan:
    first = open_run(wanted.folder)
    rank = first.rank()
    if not rank.finished:
        raise _NotMeasured("noise.no_steps")
    open_ended = any(stop is None for _, stop, _ in wanted.steps.parts)
    steps = [step for step in rank.tensor_steps if step < rank.finished and (step < losses or not open_ended)]
    return _Plan(first, steps, min(max(losses, *(step + 1 for step in steps), 1), rank.finished))


def _measure(command: Command, wanted: Wanted, plan: _Plan, runs: int, say: Say) -> Noise:
    say(message("noise.control", steps=plan.length))
    control, _ = _try(command, wanted, plan, None)
    tries = [control]
    told: list[Mapping[str, Any]] = []
    for number in range(1, runs + 1):
        say(message("noise.try", steps=plan.length, number=number, count=runs))
        tried, moved = _try(command, wanted, plan, number)
        tries.append(tried)
        told.append(moved)
    say(message("noise.probe", steps=plan.length))
    probe, _ = _try(command, wanted, plan, runs + 1, PROBE_ULPS)
    found = with_switches(furthest(tries), probe)
    return Noise(runs, _how(plan, control, told), found.drifts, found.losses)


def _try(
    command: Command, wanted: Wanted, plan: _Plan, seed: int | None, ulps: int = 1
) -> tuple[Tried, Mapping[str, object]]:
    ended = command.run(wanted, Perturbation(seed, plan.length, ulps))
    again = _opened(wanted.folder)
    rank = again.rank() if again is not None else None
    found = rank.finished if rank is not None else 0
    if rank is None or found < plan.length:
        raise _NotMeasured("noise.failed", code=ended.code, found=found, wanted=plan.length, line=ended.last_line[:300])
    first = plan.first.rank()
    tried = measure_try(first, rank, plan.steps, plan.length)
    if seed is None:
        why = why_not_repeated(first, rank, tried, plan.length)
        if why is not None:
            raise _NotMeasured(why.id, **why.params)
    told = read_told(wanted.folder)
    shutil.rmtree(wanted.folder)
    return tried, told


def _opened(folder: Path) -> Run | None:
    try:
        run = open_run(folder)
        return run if run.ranks else None
    except Trouble:
        return None


def _how(plan: _Plan, control: Tried, told: Sequence[Mapping[str, object]]) -> dict[str, object]:
    moved = [framework for one in told for framework in one.values() if isinstance(framework, dict)]
    return {
        "inputs": sum(one.get("inputs", 0) for one in moved),
        "layers": sum(one.get("layers", 0) for one in moved),
        "kernels": sorted({kernel for one in moved for kernel in one.get("kernels", [])}),
        "probe_ulps": PROBE_ULPS,
        "steps": plan.length,
        "tensor_steps": list(plan.steps),
        "repeats": all(drift.level == 0 for drift in control.drifts.values()),
        "framework": plan.first.info.framework,
        "versions": dict(plan.first.info.versions),
    }
