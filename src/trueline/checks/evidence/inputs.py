"""What entered the network, its first layers and its losses, in the first steps of training and of evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from trueline.apitable.functions import classes_of, stems_of
from trueline.apitable.traits import Trait
from trueline.checks.evidence.streams import Once
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import InputEvent, InputField
from trueline.model.location import Location
from trueline.model.run import ModuleInfo

_WHOLE: Final = stems_of(Trait.TO_INTEGER, Trait.TO_TRUTH)
NORMALISING: Final = ("norm",)
LOOKING_UP: Final = ("embed",)
CLASSIFYING: Final = classes_of(Trait.CLASSIFIES)


@dataclass(frozen=True, slots=True)
class Entered:
    """A module's call: what it was called with."""

    step: int
    phase: str
    module: str
    kind: str
    fields: Sequence[InputField]

    @property
    def is_loss(self) -> bool:
        """Whether it is a loss, by its class."""
        return "Loss" in self.kind or self.kind in CLASSIFYING


def entered(run: Run, rank: int | None = None) -> list[Entered]:
    """All such calls of one rank, the first where none is named."""
    if not run.ranks:
        return []
    return _entered_of.of(run.rank(run.ranks[0] if rank is None else rank))


def _entered(folder: RankFolder) -> list[Entered]:
    return [
        Entered(event.step, event.phase, event.module, event.kind, event.fields)
        for event in folder.events(InputEvent)
        if event.kind is not None
    ]


_entered_of: Final = Once(_entered)


def is_whole(field: InputField) -> bool:
    """Whether it holds whole numbers: ids, labels, masks."""
    return field.dtype.startswith(_WHOLE)


def into_network(run: Run, phase: str) -> list[Entered]:
    """The calls of the network itself in a phase's first steps."""
    calls = _calls(run, phase)
    outermost = {call.module for call in calls if call.step > 0} or {call.module for call in calls[:1]}
    return [call for call in calls if call.module in outermost]


def _calls(run: Run, phase: str) -> list[Entered]:
    return [call for call in entered(run) if call.phase == phase and not call.is_loss]


def into_first_layer(run: Run, phase: str) -> Entered | None:
    """The first call of a module with weights of its own: what came before it may have scaled its input."""
    if not run.ranks:
        return None
    folder = run.rank(run.ranks[0])
    owners = {param.name.rpartition(".")[0] for param in folder.params}
    return next((call for call in _calls(run, phase) if call.module in owners), None)


def module_at(run: Run, path: str) -> ModuleInfo | None:
    """A module by its path."""
    return next((module for module in run.rank(run.ranks[0]).modules if module.path == path), None)


def place_of(run: Run, path: str, phase: str = "train", *, step: int | None = None) -> Location:
    """Where a module was called in a phase's first step, else where it was built."""
    folder = run.rank(run.ranks[0])
    called = next((call.called_at for call in folder.calls if call.path == path and call.phase == phase), None)
    module = module_at(run, path)
    line = called or (module.built_at if module is not None else None)
    if line is None:
        return Location(module=path, step=step)
    return Location(file=line.file, line=line.line, module=path, step=step)


def losses(run: Run) -> list[Entered]:
    """The calls of losses in training."""
    return [call for call in entered(run) if call.is_loss and call.phase == "train"]
