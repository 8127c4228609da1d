"""What was looked at for checks while a run was recorded, put together for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.key import Phase
from trueline.model.location import Location
from trueline.model.run import LOOKS, EventName, ModuleInfo, ParamInfo

_RARE = frozenset(one.value for one in LOOKS)
_read: WeakKeyDictionary[RankFolder, dict[str, list[dict[str, Any]]]] = WeakKeyDictionary()

TRAIN = Phase.TRAIN.value
EVAL = Phase.EVAL.value


def looked(rank: RankFolder, name: EventName, phase: str | None = None) -> list[dict[str, Any]]:
    """The events of a kind that only checks read: they are few, and read once for all checks."""
    found = _read.get(rank)
    if found is None:
        found = _read[rank] = {}
        for event in rank.events(_RARE):
            found.setdefault(event["event"], []).append(event)
    return [one for one in found.get(name.value, []) if phase is None or one["phase"] == phase]


def trained_rank(run: Run) -> RankFolder | None:
    """The first process of a run that has finished a training step."""
    return next((rank for one in run.ranks if (rank := run.rank(one)).finished), None)


def is_recorded_whole(run: Run) -> bool:
    """Whether training was recorded from its beginning to its end, so that what was not seen did not happen."""
    ended = run.info.ended is not None and run.info.exit_code in (None, 0)
    return ended and not isinstance(run.info.recorded.get("off"), dict) and not run.unseen()


def where(event: Mapping[str, Any] | None, *, module: str | None = None, rank: int | None = None) -> Location:
    """The place of an event: its step and, where it is known, the user's line."""
    if event is None:
        return Location(module=module, rank=rank)
    line = event.get("line") or {}
    file, number = line.get("file") or "", line.get("line") or 0
    return Location(file, number, step=event.get("step"), module=module, rank=rank)


def built_where(module: ModuleInfo | None, *, step: int | None = None, path: str | None = None) -> Location:
    """The line that built a module."""
    line = module.built_at if module is not None else None
    name = module.path if module is not None else path
    return replace(line or Location(), module=name, step=step)


def optimizer_where(run: Run, number: int, step: int | None = None) -> Location:
    """The line that built an optimizer."""
    known = run.info.hyper.get("optimizers") or []
    line = known[number].get("line") if number < len(known) else None
    return Location(file=line["file"], line=line["line"], step=step) if line else Location(step=step)


def gradient_looks(rank: RankFolder) -> dict[int, list[dict[str, Any]]]:
    """The looks at gradients of each optimizer, in order."""
    found: dict[int, list[dict[str, Any]]] = {}
    for event in looked(rank, EventName.GRADIENTS):
        found.setdefault(int(event["optimizer"]), []).append(event)
    return found


def always(looks: Sequence[Mapping[str, Any]], field: str) -> set[str]:
    """The names that stand in a field of every look."""
    if not looks:
        return set()
    return set.intersection(*(set(one[field]) for one in looks))


def without_gradient(looks: Sequence[Mapping[str, Any]]) -> set[str]:
    """The parameters that had no gradient, or one of zeros, in every look."""
    if not looks:
        return set()
    return set.intersection(*({*one["none"], *one["zero"]} for one in looks))


def module_of(parameter: str) -> str:
    """The path of the module that a parameter belongs to."""
    return parameter.rpartition(".")[0]


def modules_of(rank: RankFolder) -> dict[str, ModuleInfo]:
    """The modules by path."""
    return {one.path: one for one in rank.modules}


def weights_of(rank: RankFolder) -> list[ParamInfo]:
    """The parameters, each under its first name."""
    return [one for one in rank.params if not one.buffer and one.shared_with is None]


def few(names: Iterable[str], most: int = 4) -> str:
    """Names for a sentence: the first few, and how many more."""
    listed = sorted(names)
    shown = ", ".join(listed[:most])
    return shown if len(listed) <= most else f"{shown} … (+{len(listed) - most})"


def first_line(rank: RankFolder, name: EventName, phase: str = TRAIN) -> dict[str, Any] | None:
    """The first event of a kind that has a line, else the first."""
    first = None
    for event in rank.events(name, phase=phase):
        if event.get("line"):
            return event
        first = first or event
    return first
