"""Parameters that no gradient reaches, and where it got lost: by the calls of the first training step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from trueline.apitable.functions import classes_of
from trueline.apitable.traits import Trait
from trueline.checks.evidence.looks import TRAIN, always_none, gradient_looks, module_of, modules_of, without_gradient
from trueline.formats.run_folder.reader import RankFolder
from trueline.model.events import GradientsEvent
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
    look: GradientsEvent
    line: Location | None = None
    before: str | None = None
    connected: bool = False


def unreached(rank: RankFolder, framework: str | None, min_looks: int = 2) -> list[Unreached]:
    """Parameters that are trained and never reached; none where nothing at all is, which is another fault."""
    modules: list[Unreached] = []
    trainable = {param.name for param in rank.params if param.trainable and not param.buffer}
    calls = [call for call in rank.calls if call.phase == TRAIN]
    for looks in gradient_looks(rank).values():
        empty = without_gradient(looks) & trainable
        known = min(look.held - look.strangers for look in looks)
        if len(looks) < min_looks or not empty or len(without_gradient(looks)) >= known:
            continue
        # Only where a missing gradient is told as zeros may zeros stand for one.
        if framework != "mindspore":
            empty = always_none(looks) & trainable
        held = {module_of(param.name) for param in rank.params if param.optimizer == looks[-1].optimizer}
        # Calls are those of the first step; a network that comes later is not among them.
        seen = not calls or any(call.path in held for call in calls)
        by_module: dict[str, list[str]] = {}
        for name in sorted(empty):
            by_module.setdefault(module_of(name), []).append(name)
        for module, names in by_module.items():
            if not seen:
                modules.append(Unreached(module, tuple(names), Lost.UNKNOWN, looks[-1]))
                continue
            lost = _lost(rank, module, tuple(names), trainable, empty, calls, looks[-1])
            # Zeros along a way that is there are what dead units give, not a way that is cut.
            if framework != "mindspore" or not (lost.lost is Lost.CUT and lost.connected):
                modules.append(lost)
    return modules


def _lost(
    rank: RankFolder,
    module: str,
    names: tuple[str, ...],
    trainable: set[str],
    empty: set[str],
    calls: Sequence[CallInfo],
    look: GradientsEvent,
) -> Unreached:
    own = {name for name in trainable if module_of(name) == module}
    # What a network does with a weight of its own, beside its layers, calls do not show.
    prefix = f"{module}." if module else ""
    layers = {name for name in trainable if module_of(name) != module and name.startswith(prefix)}
    if own - empty or layers - empty:
        return Unreached(module, names, Lost.ALONE, look)
    if not called(rank, module, calls):
        return Unreached(module, names, Lost.UNCALLED, look)
    line, before, connected = _cut(rank, module, empty)
    if before is not None:
        return Unreached(module, names, Lost.CUT, look, line, before, connected)
    return Unreached(
        module, names, Lost.UNUSED, look, next((call.called_at for call in calls if call.path == module), None)
    )


def called(rank: RankFolder, module: str, calls: Sequence[CallInfo]) -> bool:
    """Whether a module takes part in a step, by itself or through the one that it belongs to."""
    if not calls or any(call.path == module for call in calls):
        return True
    modules = modules_of(rank)
    above = modules.get(module_of(module)) if module else None
    own = modules.get(module)
    types = [known.type for known in (own, above) if known is not None]
    return any(uncalled in kind for kind in types for uncalled in _NOT_CALLED)


def downstream(rank: RankFolder, module: str) -> set[str]:
    """The modules that are fed by what a module gives, in the first training step."""
    fed: set[int] = set()
    modules: set[str] = set()
    for place, call in enumerate(rank.calls):
        if call.phase == TRAIN and (call.path == module or fed & set(call.feeds_from)):
            fed.add(place)
            modules |= {call.path} - {module}
    return modules


def _cut(rank: RankFolder, module: str, empty: set[str]) -> tuple[Location | None, str | None, bool]:
    """The call after a module's that learns, and that takes what it gives: by the way there, or out of nowhere."""
    everything = list(rank.calls)
    places = {place for place, call in enumerate(everything) if call.phase == TRAIN and call.path == module}
    reached = set(places)
    learns = {module_of(param.name) for param in rank.params if param.trainable and param.name not in empty}
    for place, call in enumerate(everything):
        if call.phase != TRAIN or place in places or not places or place < min(places):
            continue
        if reached & set(call.feeds_from):
            reached.add(place)
            if call.path in learns:
                return call.called_at, call.path, True
    nowhere = [
        call
        for place, call in enumerate(everything)
        if call.phase == TRAIN and call.path in learns and place > max(places) and not call.feeds_from
    ]
    return (nowhere[0].called_at, nowhere[0].path, False) if nowhere else (None, None, False)
