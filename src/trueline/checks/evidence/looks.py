"""What was looked at for checks while a run was recorded, put together for them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar
from weakref import WeakKeyDictionary

from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import KINDS, LOOKS, Event, GradientsEvent, LoaderEvent, LossEvent, StepEvent
from trueline.model.key import Phase
from trueline.model.location import Location
from trueline.model.run import ModuleInfo, ParamInfo

Look = TypeVar("Look", bound=Event)
_read: WeakKeyDictionary[RankFolder, list[Event]] = WeakKeyDictionary()

TRAIN = Phase.TRAIN.value
EVAL = Phase.EVAL.value


def looked(rank: RankFolder, kind: type[Look], phase: str | None = None) -> list[Look]:
    """The events of a kind that only checks read: they are few, and read once for all checks."""
    looks = _read.get(rank)
    if looks is None:
        looks = _read[rank] = list(rank.events(*(KINDS[name] for name in LOOKS)))
    return [look for look in looks if isinstance(look, kind) and phase in (None, look.phase)]


def trained_rank(run: Run) -> RankFolder | None:
    """The first process of a run that has finished a training step."""
    return next((rank for number in run.ranks if (rank := run.rank(number)).finished), None)


def is_recorded_whole(run: Run) -> bool:
    """Whether training was recorded from its beginning to its end, so that what was not seen did not happen."""
    ended = run.info.ended is not None and run.info.exit_code in (None, 0)
    return ended and run.info.off is None and not run.unseen()


def where(event: Event | None) -> Location:
    """The place of an event: its step and, where it is known, the user's line."""
    if event is None:
        return Location()
    return replace(event.line or Location(), step=event.step)


def loop_where(loader: LoaderEvent | None) -> Location:
    """The line of the loop over a loader, else the line that begins it."""
    if loader is None:
        return Location()
    return replace(loader.at or loader.line or Location(), step=loader.step)


def came_before(event: Event, later: Event) -> bool:
    """Whether it came first by their times, where both are known."""
    return event.t is not None and later.t is not None and event.t < later.t


def built_where(module: ModuleInfo | None, *, step: int | None = None, path: str | None = None) -> Location:
    """The line that built a module."""
    line = module.built_at if module is not None else None
    name = module.path if module is not None else path
    return replace(line or Location(), module=name, step=step)


def optimizer_where(run: Run, number: int, step: int | None = None) -> Location:
    """The line that built an optimizer."""
    optimizers = run.info.optimizers
    line = optimizers[number].line if 0 <= number < len(optimizers) else None
    return replace(line or Location(), step=step)


def gradient_looks(rank: RankFolder) -> dict[int, list[GradientsEvent]]:
    """The looks at gradients of each optimizer, in order."""
    looks: dict[int, list[GradientsEvent]] = {}
    for event in looked(rank, GradientsEvent):
        looks.setdefault(event.optimizer, []).append(event)
    return looks


def without_gradient(looks: Sequence[GradientsEvent]) -> set[str]:
    """The parameters that had no gradient, or one of zeros, in every look."""
    return _always([{*look.none, *look.zero} for look in looks])


def always_none(looks: Sequence[GradientsEvent]) -> set[str]:
    """The parameters that had no gradient in any look."""
    return _always([set(look.none) for look in looks])


def _always(names: Sequence[set[str]]) -> set[str]:
    return set.intersection(*names) if names else set()


def module_of(parameter: str) -> str:
    """The path of the module that a parameter belongs to."""
    return parameter.rpartition(".")[0]


def modules_of(rank: RankFolder) -> dict[str, ModuleInfo]:
    """The modules by path."""
    return {module.path: module for module in rank.modules}


def weights_of(rank: RankFolder) -> list[ParamInfo]:
    """The parameters, each under its first name."""
    return [param for param in rank.params if not param.buffer and param.shared_with is None]


@dataclass(frozen=True, slots=True)
class Broken:
    """A loss, or the norm of an update's gradients, that is NaN or Inf."""

    event: LossEvent | StepEvent
    value: float


def first_non_finite(rank: RankFolder, skipped: frozenset[int] = frozenset()) -> Broken | None:
    """The first loss or gradient norm of training that is NaN or Inf, but for steps that a scaler has skipped."""
    for event in rank.events(LossEvent, StepEvent, phase=TRAIN):
        if event.step in skipped:
            continue
        if isinstance(event, LossEvent) and not math.isfinite(event.value):
            return Broken(event, event.value)
        if isinstance(event, StepEvent) and event.grad_norm is not None and not math.isfinite(event.grad_norm):
            return Broken(event, event.grad_norm)
    return None


def few(names: Iterable[str], most: int = 4) -> str:
    """Names for a sentence: the first few, and how many more."""
    listed = sorted(names)
    shown = ", ".join(listed[:most])
    return shown if len(listed) <= most else f"{shown} … (+{len(listed) - most})"


def first_with_line(rank: RankFolder, kind: type[Look], phase: str = TRAIN) -> Look | None:
    """The first event of a kind that has a line, else the first."""
    first = None
    for event in rank.events(kind, phase=phase):
        if event.line is not None:
            return event
        first = first or event
    return first
