"""Parameters that no gradient reaches, and where it got lost: by the calls of the first training step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final

from trueline.apitable.functions import classes_of
from trueline.apitable.traits import Trait
from trueline.checks.evidence.looks import TRAIN, always, gradient_looks, module_of, modules_of, without_gradient
from trueline.formats.run_folder.reader import RankFolder
from trueline.model.location import Location
from trueline.model.run import CallInfo

# Never called as modules though they are in use, or mere lists of others.
_NOT_CALLED: Final = classes_of(Trait.UNCALLED)


class Lost(Enum):
    """What became of a gradient."""

    UNCALLED = auto()
    """The module is never called."""
    UNUSED = auto()
    """It is called, and nothing after it takes what it gives."""
    CUT = auto()
    """What it gives is used, and no gradient comes back."""
    ALONE = auto()
    """One parameter of a module whose others, or whose layers, are reached."""
    UNKNOWN = auto()
    """It belongs to a network whose calls were not written down."""


@dataclass(frozen=True, slots=True)
class Unreached:
    """A module's parameters that an optimizer holds and that never get a gradient."""

    module: str
    parameters: tuple[str, ...]
    lost: Lost
    look: dict[str, Any]
    line: Location | None = None
    before: str | None = None
    connected: bool = False


def unreached(rank: RankFolder, framework: str | None, min_looks: int = 2) -> list[Unreached]:
    """Parameters that are trained and never reached; none where nothing at all is, which is another fault."""
    found: list[Unreached] = []
    trainable = {one.name for one in rank.params if one.trainable and not one.buffer}
    calls = [one for one in rank.calls if one.phase == TRAIN]
    for looks in gradient_looks(rank).values():
        empty = without_gradient(looks) & trainable
        known = min(one["held"] - one["strangers"] for one in looks)
        if len(looks) < min_looks or not empty or len(without_gradient(looks)) >= known:
            continue
        # Only where a missing gradient is told as zeros may zeros stand for one.
        if framework != "mindspore":
            empty = always(looks, "none") & trainable
        held = {module_of(one.name) for one in rank.params if one.optimizer == looks[-1]["optimizer"]}
        # Calls are those of the first step; a network that comes later is not among them.
        seen = not calls or any(one.path in held for one in calls)
        by_module: dict[str, list[str]] = {}
        for name in sorted(empty):
            by_module.setdefault(module_of(name), []).append(name)
        for module, names in by_module.items():
            if not seen:
                found.append(Unreached(module, tuple(names), Lost.UNKNOWN, looks[-1]))
                continue
            one = _told(rank, module, tuple(names), trainable, empty, calls, looks[-1])
            # Zeros along a way that is there are what dead units give, not a way that is cut.
            if framework != "mindspore" or not (one.lost is Lost.CUT and one.connected):
                found.append(one)
    return found


def _told(
    rank: RankFolder,
    module: str,
    names: tuple[str, ...],
    trainable: set[str],
    empty: set[str],
    calls: Sequence[CallInfo],
    look: dict[str, Any],
) -> Unreached:
    own = {one for one in trainable if module_of(one) == module}
    # What a network does with a weight of its own, beside its layers, calls do not show.
    layers = {one for one in trainable if module_of(one) != module and one.startswith(f"{module}." if module else "")}
    if own - empty or layers - empty:
        return Unreached(module, names, Lost.ALONE, look)
    if not called(rank, module, calls):
        return Unreached(module, names, Lost.UNCALLED, look)
    line, before, connected = _cut(rank, module, empty)
    if before is not None:
        return Unreached(module, names, Lost.CUT, look, line, before, connected)
    return Unreached(
        module, names, Lost.UNUSED, look, next((one.called_at for one in calls if one.path == module), None)
    )


def called(rank: RankFolder, module: str, calls: Sequence[CallInfo]) -> bool:
    """Whether a module takes part in a step, by itself or through the one that it belongs to."""
    if not calls or any(one.path == module for one in calls):
        return True
    modules = modules_of(rank)
    above = modules.get(module_of(module)) if module else None
    own = modules.get(module)
    types = [one.type for one in (own, above) if one is not None]
    return any(known in kind for kind in types for known in _NOT_CALLED)


def downstream(rank: RankFolder, module: str) -> set[str]:
    """The modules that are fed by what a module gives, in the first training step."""
    fed: set[int] = set()
    found: set[str] = set()
    for place, one in enumerate(rank.calls):
        if one.phase == TRAIN and (one.path == module or fed & set(one.feeds_from)):
            fed.add(place)
            found |= {one.path} - {module}
    return found


def _cut(rank: RankFolder, module: str, empty: set[str]) -> tuple[Location | None, str | None, bool]:
    """The call after a module's that learns, and that takes what it gives: by the way there, or out of nowhere."""
    everything = list(rank.calls)
    places = {place for place, one in enumerate(everything) if one.phase == TRAIN and one.path == module}
    reached = set(places)
    learns = {module_of(one.name) for one in rank.params if one.trainable and one.name not in empty}
    for place, one in enumerate(everything):
        if one.phase != TRAIN or place in places or not places or place < min(places):
            continue
        if reached & set(one.feeds_from):
            reached.add(place)
            if one.path in learns:
                return one.called_at, one.path, True
    leaves = [
        (place, one)
        for place, one in enumerate(everything)
        if one.phase == TRAIN and one.path in learns and place > max(places)
    ]
    nowhere = [one for _, one in leaves if not one.feeds_from]
    return (nowhere[0].called_at, nowhere[0].path, False) if nowhere else (None, None, False)
